"""What a word weighs in a document: BM25 by field, as Whoosh's `BM25F` scores it, times the field's weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.schema import EXACT_FIELDS, TEXT_FIELDS
from app.adapters.whoosh.view import BYTE_LENGTHS, View

K1 = 1.6
FIELD_WEIGHTS = {"name": 6.0, "terms": 6.0, "manufacturer": 2.0, "kind": 3.0, "description": 0.5, "attributes": 0.5}
FIELD_B = {"name": 0.5, "terms": 0.5, "manufacturer": 0.3, "kind": 0.5, "description": 0.3, "attributes": 0.9}
EXACT_WEIGHTS = {"codes": 8.0, "pairs": 4.0, "parts": 1.0}

Scores = npt.NDArray[np.float32]
FieldScores = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Matches:
    """Documents in rising order, what each scores, and in which fields each was found (bit i: FIELDS[i])."""

    docs: Docs
    scores: Scores
    fields: npt.NDArray[np.uint16]

    def size_in_bytes(self) -> int:
        return self.docs.nbytes + self.scores.nbytes + self.fields.nbytes


FIELDS = (*TEXT_FIELDS, *EXACT_FIELDS)


def field_scores(view: View, field: str, term: bytes) -> FieldScores | None:
    """(documents, scores) of a term in one field, without the field's weight."""
    postings = view.postings(field, term)
    if postings is None:
        return None
    docs, frequencies = postings
    idf = log(view.size / (len(docs) + 1)) + 1
    if field not in FIELD_B:
        return docs, np.full(len(docs), idf)
    b = FIELD_B[field]
    norms = K1 * ((1 - b) + b * BYTE_LENGTHS / view.average_length(field))
    lengths = view.length_bytes(field)[docs]
    return docs, idf * (frequencies * (K1 + 1)) / (frequencies + norms[lengths])


def word_matches(view: View, word: str) -> Matches:
    """The live documents that have a word in any field, with its scores summed over the fields."""
    return view.recent(("word", word), lambda: _word_matches(view, word.encode()), Matches.size_in_bytes)


def _word_matches(view: View, term: bytes) -> Matches:
    totals = np.zeros(view.size, np.float32)
    found = np.zeros(view.size, np.uint16)
    for bit, field in enumerate(FIELDS):
        scored = field_scores(view, field, term)
        if scored is not None:
            holders, scores = scored
            totals[holders] += (FIELD_WEIGHTS.get(field) or EXACT_WEIGHTS[field]) * scores
            found[holders] |= np.uint16(1 << bit)
    if view.live is not None:
        found *= view.live
    docs = np.flatnonzero(found)
    return Matches(docs, totals[docs], found[docs])


def united(view: View, parts: Iterable[tuple[Matches, float]]) -> Matches:
    """The documents of any of the matches; each scores what it scores best, times the worth of the match."""
    totals = np.zeros(view.size, np.float32)
    fields = np.zeros(view.size, np.uint16)
    for match, worth in parts:
        totals[match.docs] = np.maximum(totals[match.docs], np.float32(worth) * match.scores)
        fields[match.docs] |= match.fields
    docs = np.flatnonzero(fields)
    return Matches(docs, totals[docs], fields[docs])


def member(view: View, match: Matches, docs: Docs) -> Mask:
    """Which of `docs` match."""
    if len(docs) * 64 < view.size and len(match.docs):
        places = np.minimum(np.searchsorted(match.docs, docs), len(match.docs) - 1)
        return np.equal(match.docs[places], docs)
    mask = np.zeros(view.size, np.bool_)
    mask[match.docs] = True
    return mask[docs]


def scores_at(view: View, match: Matches, docs: Docs) -> Scores:
    """The scores of a word at `docs`, zero where it is not found."""
    if not len(match.docs) or not len(docs):
        return np.zeros(len(docs), np.float32)
    if len(docs) * 64 < view.size:
        places = np.minimum(np.searchsorted(match.docs, docs), len(match.docs) - 1)
        return np.where(match.docs[places] == docs, match.scores[places], np.float32(0))
    dense = np.zeros(view.size, np.float32)
    dense[match.docs] = match.scores
    return dense[docs]
