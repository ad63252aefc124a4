"""The content of one segment in memory: what documents turn into and what a segment file is written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.vectors import RowVectors
from app.domain.search.ranking.analysis import ANALYSIS

Ints = npt.NDArray[np.int64]


@dataclass(slots=True)
class InvertedField:
    """The postings of a field: term i is in documents `docs[starts[i]:starts[i + 1]]`, as often as `weights` says.

    `terms` are sorted bytes. `lengths` are Whoosh's one-byte field lengths by document, None where a field
    is not scored by length; `total_length` counts the words of all documents.
    """

    terms: Sequence[bytes]
    starts: Ints
    docs: Ints
    weights: Ints
    lengths: npt.NDArray[np.uint8] | None = None
    total_length: int = 0


@dataclass(slots=True)
class ValueColumn:
    """One code by document into `uniques`; code 0 is the empty entry of documents without a value."""

    codes: Ints
    uniques: list[bytes]


@dataclass(slots=True)
class Inverted:
    """The content of a segment of `count` documents. `analysis` is the version of the analysis of the documents, the
    earliest where they have several."""

    count: int
    analysis: int = ANALYSIS
    fields: dict[str, InvertedField] = field(default_factory=dict)
    values: dict[str, ValueColumn] = field(default_factory=dict)
    numbers: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    texts: dict[str, list[bytes]] = field(default_factory=dict)
    vectors: RowVectors | None = None


def utf8(text: str) -> bytes:
    """Return a text as it is stored; half of a surrogate pair, which is no character, becomes a question mark."""
    return text.encode("utf-8", "replace")


def group_postings(terms: list[bytes], term_ids: Ints, docs: Ints, count: int) -> tuple[list[bytes], Ints, Ints, Ints]:
    """Return single occurrences as postings: (sorted terms, starts, docs, frequencies), as in InvertedField.

    `term_ids` index into `terms`, which may hold terms that do not occur here.
    """
    if not len(term_ids):
        empty = np.zeros(0, np.int64)
        return [], np.zeros(1, np.int64), empty, empty
    used, local = np.unique(term_ids, return_inverse=True)
    names = [terms[i] for i in used.tolist()]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    keys, frequencies = np.unique(rank[local] * count + docs, return_counts=True)
    ranks = keys // count
    starts = np.searchsorted(ranks, np.arange(len(names) + 1))
    return [names[i] for i in order], starts, keys - ranks * count, frequencies
