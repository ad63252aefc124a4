"""Check golden searches: after each change that can affect results, and against a new index before it is swapped in."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.relevance.golden.models import GoldenSearch
from app.domain.relevance.golden.searches import FURTHEST, wanted
from app.domain.search.engine import (
    EngineState,
    Generation,
    IndexName,
    SearchContext,
    Searching,
    SearchRequest,
    SearchUnavailable,
)
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import search_many_products
from app.domain.sites.settings import settings_of
from app.domain.work.context import read_afresh
from app.extensions import db

HOLD = "search-golden-hold"
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Golden:
    """The data of a golden search that a check needs."""

    id: int
    query: str
    sku: str
    within: int
    revision: int

    def passes(self, rank: int | None) -> bool:
        return rank is not None and rank <= self.within


def check(context: SearchContext, site_id: int, only: int | None = None) -> int:
    """Check all golden searches of a site, or the one whose id is `only`, and store the places of their products;
    return how many were checked. One that is changed meanwhile is left to the next check. Raises SearchUnavailable; the
    stored results then stay."""
    read_afresh()
    now = context.clock.now()  # Before anything is read: what changes from here on is not yet checked.
    goldens = [golden for golden in _goldens(site_id) if only in (None, golden.id)]
    served = served_now(site_id)
    ranks = ranks_of(context.engine, site_id, goldens, served, now)
    if goldens:
        context.commit(lambda: _note(site_id, goldens, ranks, now))
    return len(goldens)


def ranks_of(
    engine: Searching, site_id: int, goldens: Sequence[Golden], served: Served, now: datetime
) -> dict[int, int | None]:
    """Return the place of each product by the id of its golden search; None past the first 50 places, and where a rule
    redirects the search. Raises SearchUnavailable."""
    plans = {query: plan(query, served, now) for query in dict.fromkeys(golden.query for golden in goldens)}
    searches = [
        (SearchRequest(words=query, per_page=FURTHEST, patient=True), planned)
        for query, planned in plans.items()
        if not planned.redirect
    ]
    found: dict[str, list[str]] = {query: [] for query in plans}
    answers = search_many_products(engine, site_id, searches, served.stop_words) if searches else []
    for (request, _), answer in zip(searches, answers, strict=True):
        found[request.words] = [str(hit.card.get("sku")) for hit in answer.result.hits]
    return {golden.id: _place(found[golden.query], golden.sku) for golden in goldens}


def _place(skus: Sequence[str], sku: str) -> int | None:
    return skus.index(sku) + 1 if sku in skus else None


def _goldens(site_id: int) -> list[Golden]:
    columns = GoldenSearch.id, GoldenSearch.query, GoldenSearch.sku, GoldenSearch.within, GoldenSearch.revision
    rows = db.session.execute(select(*columns).where(GoldenSearch.site_id == site_id).order_by(GoldenSearch.id))
    return [Golden(*row) for row in rows]


def _note(site_id: int, goldens: Sequence[Golden], ranks: Mapping[int, int | None], now: datetime) -> None:
    by_id = {golden.id: golden for golden in goldens}
    rows = select(GoldenSearch).where(GoldenSearch.site_id == site_id).order_by(GoldenSearch.id).with_for_update()
    for row in db.session.scalars(rows.execution_options(populate_existing=True)):
        golden = by_id.get(row.id)
        if golden is not None and golden.revision == row.revision:
            row.rank, row.passes, row.checked_at = ranks[row.id], golden.passes(ranks[row.id]), now
            row.failing_since = None if row.passes else row.failing_since or now


def hold_back(context: SearchContext, site_id: int, generation: Generation, undecided: Collection[int]) -> str | None:
    """Return the reason why a sealed generation must not become the live index: a sentence that names the golden
    searches which pass on the live index and would fail on it. None where none would, or the setting HOLD is off.
    Products whose ids are `undecided` change with the swap, so their golden searches are left out."""
    if not settings_of(site_id)[HOLD]:
        return None
    goldens = _without(site_id, _goldens(site_id), undecided)
    served, now = served_now(site_id), context.clock.now()
    try:
        live = ranks_of(context.engine, site_id, goldens, served, now)
    except SearchUnavailable:
        return None  # Nothing is live, so nothing can get worse.
    new = ranks_of(generation.preview(), site_id, goldens, served, now)
    broken = [golden for golden in goldens if golden.passes(live[golden.id]) and not golden.passes(new[golden.id])]
    return _sentence(broken, new) if broken else None


def _without(site_id: int, goldens: list[Golden], undecided: Collection[int]) -> list[Golden]:
    skus = {golden.sku for golden in goldens}
    rows = db.session.execute(select(Product.sku, Product.id).where(Product.site_id == site_id, Product.sku.in_(skus)))
    ids = {row.sku: row.id for row in rows}
    return [golden for golden in goldens if golden.sku in ids and ids[golden.sku] not in undecided]


def _sentence(broken: Sequence[Golden], ranks: Mapping[int, int | None]) -> str:
    named = [
        f"“{golden.query}” ({golden.sku} "
        + (f"at place {ranks[golden.id]}, not {wanted(golden.within)})" if ranks[golden.id] else "not found)")
        for golden in broken[:MOST_NAMED]
    ]
    more = f" and {len(broken) - MOST_NAMED} more" if len(broken) > MOST_NAMED else ""
    searches = "a golden search that passes" if len(broken) == 1 else f"{len(broken)} golden searches that pass"
    return (
        f"The new index was blocked, since it would break {searches} today: {', '.join(named)}{more}. "
        "Change what broke them, or switch “Block a rebuild that breaks a golden search” off in the search "
        "settings, then rebuild again."
    )


@dataclass(frozen=True, slots=True)
class CheckState:
    """The state of a site's golden searches. `depends_on` is a text that changes whenever their results may: with the
    index, the served configuration and the golden searches themselves. `checked_at` is the time of the oldest check;
    None where one was never checked."""

    depends_on: str
    checked_at: datetime | None


def states_of_sites(context: SearchContext) -> dict[int, CheckState]:
    """Return the state of each site by its id, without sites that have no golden searches or whose index does not
    answer."""
    live_versions = select(ServedConfiguration.site_id, ServedConfiguration.live_version)
    versions = {row.site_id: row.live_version for row in db.session.execute(live_versions)}
    found = {}
    for row in db.session.execute(_summaries()):
        status = context.engine.status(row.site_id, IndexName.PRODUCTS)
        if status.state is EngineState.HEALTHY:
            own = f"{row.number} {row.newest} {row.updated_at} {row.revisions}"
            depends_on = f"{status.version} {versions.get(row.site_id, 0)} {own}"
            found[row.site_id] = CheckState(depends_on, row.checked_at if row.checked == row.number else None)
    return found


def _summaries() -> Select[*tuple[Any, ...]]:
    """Return the summary of each site's golden searches, which differs after any change. Undo can remove one, bring one
    back under its old id, or change one: no count alone shows all of it."""
    return select(
        GoldenSearch.site_id,
        func.count().label("number"),
        func.max(GoldenSearch.id).label("newest"),
        func.max(GoldenSearch.updated_at).label("updated_at"),
        func.sum(GoldenSearch.revision).label("revisions"),
        func.min(GoldenSearch.checked_at).label("checked_at"),
        func.count(GoldenSearch.passes).label("checked"),
    ).group_by(GoldenSearch.site_id)
