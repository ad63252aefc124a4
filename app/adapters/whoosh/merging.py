"""Merging of small segments, so that a word never has to be looked up in many places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from whoosh.codec.whoosh3 import W3Segment

from app.adapters.whoosh.inverted import Ints, Inverted, InvertedField, ValueColumn
from app.adapters.whoosh.schema import BYTES_COLUMNS, INDEXED_FIELDS
from app.adapters.whoosh.segment import Segment
from app.adapters.whoosh.vectors import merged_rows
from app.domain.search.ranking.scoring import TEXT_FIELDS

SMALL = 10_000
SEGMENTS_A_TIER = 5
TIER = 8


def segments_to_merge(entries: Iterable[W3Segment]) -> list[W3Segment]:
    """Return the segments of the lowest size class with more than SEGMENTS_A_TIER, and of those below it; none without
    such a class. Each class is eight times the one below, so that a document is rewritten only a few times."""
    tiers: dict[int, list[W3Segment]] = defaultdict(list)
    for entry in entries:
        live = entry.doc_count_all() - entry.deleted_count()
        if live < SMALL:
            tiers[(max(live, 1).bit_length() - 1) // (TIER.bit_length() - 1)].append(entry)
    crowded = [tier for tier, members in sorted(tiers.items()) if len(members) > SEGMENTS_A_TIER]
    return [entry for tier in tiers if crowded and tier <= crowded[0] for entry in tiers[tier]]


def merged(segments: Sequence[Segment], deleted: Sequence[Iterable[int]]) -> Inverted:
    """Return the live documents of the segments, in their order, as one inverted segment."""
    live = [np.delete(np.arange(s.count), list(gone)) for s, gone in zip(segments, deleted, strict=True)]
    inverted = Inverted(sum(map(len, live)), min(segment.analysis for segment in segments))
    places = _places(segments, live)
    for name in INDEXED_FIELDS:
        inverted.fields[name] = _merged_field(name, segments, live, places)
    for name in sorted({name for segment in segments for name in segment.value_names()}):
        inverted.values[name] = _merged_values(name, segments, live)
    for name in sorted({name for segment in segments for name in segment.number_names()}):
        inverted.numbers[name] = _merged_numbers(name, segments, live)
    for name in BYTES_COLUMNS:
        columns = [segment.text(name) for segment in segments]
        inverted.texts[name] = [
            column[doc] for column, docs in zip(columns, live, strict=True) for doc in docs.tolist()
        ]
    vectors = [
        None if segment.vectors is None else segment.vectors.at(docs)
        for segment, docs in zip(segments, live, strict=True)
    ]
    inverted.vectors = merged_rows(list(zip(vectors, map(len, live), strict=True)))
    return inverted


def _places(segments: Sequence[Segment], live: Sequence[Ints]) -> list[Ints]:
    """Return the new place of each document of each segment; -1 for deleted ones."""
    places, base = [], 0
    for segment, docs in zip(segments, live, strict=True):
        place = np.full(segment.count, -1)
        place[docs] = np.arange(base, base + len(docs))
        places.append(place)
        base += len(docs)
    return places


def _merged_field(
    name: str, segments: Sequence[Segment], live: Sequence[Ints], places: Sequence[Ints]
) -> InvertedField:
    postings: dict[bytes, list[tuple[Ints, Ints]]] = defaultdict(list)
    for segment, place in zip(segments, places, strict=True):
        for term, (docs, weights) in segment.all_postings(name):
            targets = place[docs]
            kept = targets >= 0
            if kept.any():
                postings[term].append((targets[kept], weights[kept].astype(np.int64)))
    field = _laid_out(postings)
    if name in TEXT_FIELDS:
        field.lengths = np.concatenate([s.lengths(name)[docs] for s, docs in zip(segments, live, strict=True)])
        field.total_length = int(field.weights.sum())
    return field


def _laid_out(postings: Mapping[bytes, list[tuple[Ints, Ints]]]) -> InvertedField:
    terms = sorted(postings)
    runs = [run for term in terms for run in postings[term]]
    counts = [sum(len(docs) for docs, _ in postings[term]) for term in terms]
    none = np.zeros(0, np.int64)
    return InvertedField(
        terms,
        np.concatenate(([0], np.cumsum(counts, dtype=np.int64))),
        np.concatenate([none, *(docs for docs, _ in runs)]),
        np.concatenate([none, *(weights for _, weights in runs)]),
    )


def _merged_values(name: str, segments: Sequence[Segment], live: Sequence[Ints]) -> ValueColumn:
    numbers: dict[bytes, int] = {b"": 0}
    codes = []
    for segment, docs in zip(segments, live, strict=True):
        column = segment.values(name)
        if column is None:
            codes.append(np.zeros(len(docs), np.int64))
            continue
        targets = np.array([numbers.setdefault(entry, len(numbers)) for entry in column.uniques], np.int64)
        codes.append(targets[column.codes[docs]])
    return ValueColumn(np.concatenate(codes), list(numbers))


def _merged_numbers(name: str, segments: Sequence[Segment], live: Sequence[Ints]) -> npt.NDArray[np.float64]:
    return np.concatenate([segment.numbers(name)[docs] for segment, docs in zip(segments, live, strict=True)])
