"""The order of a listing and one page of it: by the keys of a sort, with pinned, boosted and buried documents
(app/domain/search/ranking/scoring.py) in their places. Equal documents keep the order of the index, on every page."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facets import facet_of, group_mask
from app.adapters.whoosh.files import SORT_NAME_COLUMN
from app.adapters.whoosh.scoring import in_stock, place_of
from app.adapters.whoosh.segment import LARGE, Segment
from app.adapters.whoosh.view import Docs, Mask, View
from app.domain.search.engine import PlacedGroup, SearchRequest, Sort
from app.domain.search.ranking.scoring import PlacedDocuments, group_tiers

Keys = npt.NDArray[np.floating]

# A featured product comes before every product that is merely new.
_FEATURED_WORTH = 1e12


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
        return -view.cached("name order", lambda: _name_keys(view))[docs]
    return _featured_keys(view, request.first, request.last, request.ranking.sold_out_last)[docs]


def _last_if_missing(keys: Keys) -> Keys:
    return np.where(np.isnan(keys), -np.inf, keys)


def _featured_keys(view: View, first: tuple[str, ...], last: tuple[str, ...], sold_out_behind: bool) -> Keys:
    """Return the key of every document of the view: the `first` ones in their order, then featured ones, then the
    others, the newest of each before the older, then the `last` ones. With `sold_out_behind` sold-out ones come behind
    the others, but for `first`."""
    keys = view.cached(("featured order", sold_out_behind), lambda: _by_feature_and_age(view, sold_out_behind))
    if not first and not last:
        return keys
    key = "placed", first, last, sold_out_behind
    return view.recent(key, lambda: _put_in_place(view, keys, first, last), lambda placed: placed.nbytes)


def _by_feature_and_age(view: View, sold_out_behind: bool) -> Keys:
    featured = facet_of(view, "featured").mask(("true",))
    keys = featured * _FEATURED_WORTH + np.nan_to_num(view.numbers("createdAt"), nan=0.0)
    return keys - ~in_stock(view) * 2 * _FEATURED_WORTH if sold_out_behind else keys


def _put_in_place(view: View, keys: Keys, first: tuple[str, ...], last: tuple[str, ...]) -> Keys:
    """Return the keys with those of the `first` documents above all others, and those of the `last` ones below."""
    placed = keys.copy()
    for place, document_id in enumerate(first):
        doc = view.document_of(document_id)
        if doc is not None:
            placed[doc] = 10 * _FEATURED_WORTH + len(first) - place
    for document_id in last:
        doc = view.document_of(document_id)
        if doc is not None:
            placed[doc] = keys[doc] - 10 * _FEATURED_WORTH
    return placed


def _name_keys(view: View) -> npt.NDArray[np.float64]:
    """Return a number for each document that rises with the name. The names of large segments are sorted once and kept
    for later commits; those of small segments are placed between them."""
    large = [segment for segment in view.segments if segment.count >= LARGE]
    names, ranks = view.lasting("names", tuple(segment.id for segment in large), lambda: _sort_names(large))
    keys = np.empty(view.size)
    position = 0
    small: list[tuple[bytes, int]] = []
    for base, segment in zip(view.bases.tolist(), view.segments, strict=False):
        if segment.count >= LARGE:
            keys[base : base + segment.count] = ranks[position : position + segment.count]
            position += segment.count
        else:
            column = segment.text(SORT_NAME_COLUMN)
            small.extend((column[doc], base + doc) for doc in range(segment.count))
    for place, (name, doc) in enumerate(sorted(small)):
        keys[doc] = bisect_left(names, name) - 0.5 + place / (2 * len(small) + 2)
    return keys


def _sort_names(segments: Sequence[Segment]) -> tuple[list[bytes], npt.NDArray[np.float64]]:
    """Return (the names of all documents, sorted, the place of each document's name among them)."""
    columns = [segment.text(SORT_NAME_COLUMN) for segment in segments]
    names = [column[doc] for column in columns for doc in range(len(column))]
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names))
    ranks[order] = np.arange(len(names))
    return [names[doc] for doc in order], ranks


def sold_out_last(view: View, docs: Docs, keys: Keys, full: Mask | None) -> Keys:
    """Return the keys with those of sold-out documents below the others, in their order: what has all the words, which
    `full` marks, stays before what lacks some."""
    tiers = (~in_stock(view)[docs]).astype(np.intp)
    return by_tier(keys, tiers if full is None else tiers + 2 * ~full)


def tiers_of_groups(
    view: View, docs: Docs, groups: Sequence[PlacedGroup], alone: Mask | None = None
) -> npt.NDArray[np.intp]:
    """Return the tier of each document by the first group that holds it, the lowest first in the order. Those that
    `alone` marks, which are found by their meaning alone, belong to no boosted group."""
    of_groups, ordinary = group_tiers(groups)
    tiers = np.full(len(docs), ordinary, np.intp)
    for group, tier in zip(reversed(groups), reversed(of_groups), strict=True):
        held = group_mask(view, group)[docs]
        tiers[held if alone is None or not group.is_boosted else held & ~alone] = tier
    return tiers


def by_tier(keys: Keys, tiers: npt.NDArray[np.intp]) -> Keys:
    """Return the keys with those of each tier below those of the tiers before it, in their order."""
    if not len(keys):
        return keys
    wide = keys.astype(np.float64)
    return np.asarray(wide - tiers * (float(wide.max() - wide.min()) + 1))


def slice_of(docs: Docs, keys: Keys, start: int, end: int) -> Docs:
    """Return the documents at the places from `start` to before `end`, by falling key. It is cut by place and not by
    key, so that pages never overlap where keys are equal."""
    return docs[_top(keys, min(end, len(docs)))[start:]]


def _top(keys: Keys, count: int) -> npt.NDArray[np.intp]:
    """Return the places of the `count` highest keys, the highest first."""
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


def pinned_docs(view: View, request: SearchRequest, allowed: Mask | None) -> Docs:
    """Return the pinned documents in the scope, rising, each once: they belong to the results in any order."""
    docs = [doc for pin in request.pins if (doc := view.document_of(pin.id)) is not None]
    return np.unique(np.array([doc for doc in docs if allowed is None or allowed[doc]], np.intp))


@dataclass(frozen=True, slots=True)
class PlacedOrder:
    """The order of `docs` (rising) by `keys`, highest first, where `placement` puts none elsewhere. `numbers` has those
    of `docs` that the request names, by their ids."""

    docs: Docs
    keys: Keys
    placement: PlacedDocuments
    numbers: dict[str, int]

    @classmethod
    def of(cls, view: View, request: SearchRequest, docs: Docs, keys: Keys, alone: Mask | None) -> PlacedOrder:
        """`alone` marks those of `docs` that are found by their meaning alone, None for none."""
        numbers, unlifted = {}, set()
        for document_id in (*(pin.id for pin in request.pins), *request.boosts, *request.buries):
            doc = view.document_of(document_id)
            at = None if doc is None else place_of(docs, doc)
            if doc is None or at is None:
                continue
            numbers[document_id] = doc
            if alone is not None and alone[at]:
                unlifted.add(document_id)
        return cls(docs, keys, PlacedDocuments.of(request, numbers, len(docs), unlifted), numbers)

    def between(self, start: int, end: int) -> Docs:
        """Return the documents at the places from `start` to before `end`."""
        if not self.placement:
            return slice_of(self.docs, self.keys, start, end)
        before, slots = self.placement.slots(start, end)
        docs, keys = self._unpinned()
        others = iter(slice_of(docs, keys, before, before + slots.count(None)).tolist())
        return np.array([next(others) if pinned is None else self.numbers[pinned] for pinned in slots], np.intp)

    def rank(self, document_id: str, doc: int) -> int:
        """Return the rank, 1-based, of a document that is among `docs`."""
        pinned = self.placement.pin_rank(document_id)
        if pinned is not None:
            return pinned
        docs, keys = self._unpinned()
        at = int(docs.searchsorted(doc))
        return self.placement.rank(int(np.count_nonzero(keys > keys[at]) + np.count_nonzero(keys[:at] == keys[at])))

    def _unpinned(self) -> tuple[Docs, Keys]:
        """Return the documents without the pinned, and their keys; boosted ones have keys above all others, buried ones
        below."""
        keys = self.keys.astype(np.float64)
        boosts, buries = (self._places(ids) for ids in (self.placement.boosts, self.placement.buries))
        if len(boosts) or len(buries):
            highest, span = keys.max(), keys.max() - keys.min() + 1
            keys[buries] -= span
            keys[boosts] = highest + np.arange(len(boosts), 0, -1)
        free = np.ones(len(self.docs), np.bool_)
        free[self._places(tuple(self.placement.pins.values()))] = False
        return self.docs[free], keys[free]

    def _places(self, ids: tuple[str, ...]) -> Docs:
        return self.docs.searchsorted(np.array([self.numbers[document_id] for document_id in ids], np.intp))
