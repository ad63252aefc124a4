"""The lifts by sales, newness and stock (app/domain/search/ranking/scoring.py), over arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking import scoring
from app.domain.search.ranking_settings import Weight

Shares = npt.NDArray[np.float64]


def factors(view: View, request: SearchRequest, docs: Docs) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    """Yield (kind of score part, factor of each document), without signals that make no difference."""
    for kind, weight in request.ranking.weights.items():
        if weight is not Weight.NONE:
            shares = _SHARES[kind](view, request)
            if shares is not None:
                yield kind, np.asarray(scoring.lift(weight, shares[docs]), np.float32)


def in_stock(view: View) -> Mask:
    return view.cached("in stock", lambda: view.facet(scoring.IN_STOCK).mask((scoring.YES,)))


def _sales(view: View, _request: SearchRequest) -> Shares | None:
    """Return the share of each document by its sales; None for an index without sales."""

    def shares() -> Shares | None:
        logarithms = np.log1p(np.nan_to_num(view.numbers(scoring.SALES)))
        if view.live is not None:
            logarithms = logarithms * view.live
        largest = float(logarithms.max(initial=0.0))
        return np.asarray(scoring.sales_share(logarithms, largest), np.float64) if largest else None

    return view.cached("sales", shares)


def _newness(view: View, request: SearchRequest) -> Shares:
    def shares() -> Shares:
        created = view.numbers(scoring.CREATED)
        return np.nan_to_num(np.asarray(scoring.newness_share(created, request.day), np.float64))

    return view.recent(("newness", request.day), shares, lambda made: made.nbytes)


def _stock(view: View, _request: SearchRequest) -> Shares:
    def shares() -> Shares:
        has_few = ~np.isnan(view.numbers(scoring.LOW_STOCK))
        return np.asarray(scoring.stock_share(in_stock(view).astype(np.float64), has_few), np.float64)

    return view.cached("stock", shares)


_SHARES: Mapping[str, Callable[[View, SearchRequest], Shares | None]] = {
    "sales": _sales,
    "newness": _newness,
    "stock": _stock,
}
