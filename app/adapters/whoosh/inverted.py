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


def group_postings(
    terms: Sequence[bytes], places: Ints, docs: Ints, count: int
) -> tuple[list[bytes], Ints, Ints, Ints]:
    """Return single occurrences as postings: (sorted terms, starts, docs, frequencies), as in InvertedField.

    `places` are those of the occurring terms among `terms`, which are sorted and may hold others too.
    """
    keys, frequencies = np.unique(places * count + docs, return_counts=True)
    found = keys // count
    starts = np.flatnonzero(np.diff(found, prepend=-1))
    names = [terms[place] for place in found[starts].tolist()]
    return names, np.append(starts, len(keys)), keys - found * count, frequencies
