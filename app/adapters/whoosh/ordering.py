"""The order of a listing and one page of it. Equal documents keep the order of the index, on every page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.name_order import name_keys
from app.adapters.whoosh.signals import in_stock
from app.adapters.whoosh.view import View
from app.domain.search.engine import SearchRequest, Sort

Keys = npt.NDArray[np.floating]

# A featured product comes before every product that is merely new.
_FEATURED_WORTH = 1e12


def slice_of(docs: Docs, keys: Keys, start: int, end: int) -> Docs:
    """Return the documents at the places from `start` to before `end`, by falling key. It is cut by place and not by
    key, so that pages never overlap where keys are equal."""
    return docs[_top(keys, min(end, len(docs)))[start:]]


def _top(keys: Keys, count: int) -> npt.NDArray[np.intp]:
    if not count:
        return np.zeros(0, np.intp)
    if count < len(keys):
        threshold = np.partition(keys, len(keys) - count)[len(keys) - count]
        above = np.flatnonzero(keys > threshold)
        level = np.flatnonzero(keys == threshold)[: count - len(above)]
        places = np.concatenate((above, level))
    else:
        places = np.arange(len(keys))
    return places[(-keys[places]).argsort(kind="stable")]


def sort_keys(view: View, docs: Docs, request: SearchRequest) -> Keys:
    """Return the key of each document; the highest comes first. Documents without a price or a date come last."""
    sort = request.sort
    if sort is Sort.PRICE_ASC:
        return _last_if_missing(-view.numbers("price")[docs])
    if sort is Sort.PRICE_DESC:
        return _last_if_missing(view.numbers("price")[docs])
    if sort is Sort.NEWEST:
        return _last_if_missing(view.numbers("createdAt")[docs])
    if sort is Sort.NAME:
        return -name_keys(view)[docs]
    return _featured_keys(view, request.first, request.ranking.sold_out_last)[docs]


def _last_if_missing(keys: Keys) -> Keys:
    return np.where(np.isnan(keys), -np.inf, keys)


def sold_out_last(view: View, docs: Docs, keys: Keys, full: Mask | None) -> Keys:
    """Return the keys with those of sold-out documents below the others, in their order: what has all the words, which
    `full` marks, stays before what lacks some."""
    if not len(keys):
        return keys
    tiers = (~in_stock(view)[docs]).astype(np.float64)
    if full is not None:
        tiers += 2 * ~full
    wide = keys.astype(np.float64)
    span = float(wide.max() - wide.min()) + 1
    return np.asarray(wide - tiers * span)


def _featured_keys(view: View, first: tuple[str, ...], sold_out_behind: bool) -> Keys:
    """Return the key of every document of the view: the `first` ones in their order, then featured ones, then the
    others, the newest of each before the older. With `sold_out_behind` sold-out ones come last, but for `first`."""
    keys = view.cached(("featured order", sold_out_behind), lambda: _by_feature_and_age(view, sold_out_behind))
    if not first:
        return keys
    key = "first", first, sold_out_behind
    return view.recent(key, lambda: _with_first(view, keys, first), lambda led: led.nbytes)


def _by_feature_and_age(view: View, sold_out_behind: bool) -> Keys:
    featured = view.facet("featured").mask(("true",))
    keys = featured * _FEATURED_WORTH + np.nan_to_num(view.numbers("createdAt"), nan=0.0)
    return keys - ~in_stock(view) * 2 * _FEATURED_WORTH if sold_out_behind else keys


def _with_first(view: View, keys: Keys, first: tuple[str, ...]) -> Keys:
    led = keys.copy()
    for place, document_id in enumerate(first):
        doc = view.document_of(document_id)
        if doc is not None:
            led[doc] = 10 * _FEATURED_WORTH + len(first) - place
    return led
