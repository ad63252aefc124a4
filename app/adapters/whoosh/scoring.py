"""The documents that have a word, and its score in each, as arrays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.adapters.whoosh.facet_column import Docs, Mask
from app.adapters.whoosh.view import BYTE_LENGTHS, View
from app.domain.search.ranking.scoring import (
    FIELDS,
    TEXT_FIELDS,
    field_weight,
    inverse_document_frequency,
    length_norm,
    saturated,
)

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


def field_scores(view: View, field: str, term: str) -> FieldScores | None:
    """Return (documents, scores) of a term in one field, without the field's weight."""
    postings = view.postings(field, term.encode())
    if postings is None:
        return None
    docs, frequencies = postings
    # Without what is deleted: else the words of products that were just saved count less until segments are merged.
    holders = len(docs) if view.live is None else np.count_nonzero(view.live[docs])
    idf = inverse_document_frequency(max(view.documents, 1), int(holders))
    if field not in TEXT_FIELDS:
        return docs, np.full(len(docs), idf)
    norms = view.cached(("norms", field), lambda: length_norm(field, BYTE_LENGTHS, view.average_length(field)))
    return docs, idf * saturated(frequencies, norms[view.length_bytes(field)[docs]])


def word_matches(view: View, word: str) -> Matches:
    """The live documents that have a word in any field, with its scores summed over the fields."""
    return view.recent(("word", word), lambda: _word_matches(view, word), Matches.size_in_bytes)


def _word_matches(view: View, term: str) -> Matches:
    totals = np.zeros(view.size, np.float32)
    found = np.zeros(view.size, np.uint16)
    for bit, field in enumerate(FIELDS):
        scored = field_scores(view, field, term)
        if scored is not None:
            holders, scores = scored
            totals[holders] += field_weight(field) * scores
            found[holders] |= np.uint16(1 << bit)
    if view.live is not None:
        found *= view.live
    docs = np.flatnonzero(found != 0)  # Numpy finds what is true nine times sooner than numbers that are not 0.
    return Matches(docs, totals[docs], found[docs])


def united(view: View, parts: Iterable[tuple[Matches, float]]) -> Matches:
    """Return the documents of any of the matches, each with the largest of its scores times the worth of the match."""
    totals = np.zeros(view.size, np.float32)
    fields = np.zeros(view.size, np.uint16)
    for match, worth in parts:
        totals[match.docs] = np.maximum(totals[match.docs], np.float32(worth) * match.scores)
        fields[match.docs] |= match.fields
    docs = np.flatnonzero(fields != 0)
    return Matches(docs, totals[docs], fields[docs])


def member(view: View, match: Matches, docs: Docs) -> Mask:
    """Return the mask of those among `docs` that match."""
    if len(docs) * 64 < view.size and len(match.docs):
        places = np.minimum(match.docs.searchsorted(docs), len(match.docs) - 1)
        return np.equal(match.docs[places], docs)
    mask = np.zeros(view.size, np.bool_)
    mask[match.docs] = True
    return mask[docs]


def scores_at(view: View, match: Matches, docs: Docs) -> Scores:
    """The scores of a word at `docs`, zero where it is not found."""
    if not len(match.docs) or not len(docs):
        return np.zeros(len(docs), np.float32)
    if len(docs) * 64 < view.size:
        places = np.minimum(match.docs.searchsorted(docs), len(match.docs) - 1)
        return np.where(match.docs[places] == docs, match.scores[places], np.float32(0))
    dense = np.zeros(view.size, np.float32)
    dense[match.docs] = match.scores
    return dense[docs]


def place_of(docs: npt.NDArray[np.integer], doc: int) -> int | None:
    """Return the position of a document among documents in rising order; None where it is not among them."""
    at = int(docs.searchsorted(doc))
    return at if at < len(docs) and docs[at] == doc else None
