"""Ranking by meaning: documents near the words of a search (app/domain/search/ranking/scoring.py), over arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.adapters.whoosh.matching import is_code
from app.adapters.whoosh.ordering import Keys
from app.adapters.whoosh.scoring import Scores
from app.adapters.whoosh.vectors import Differing, RowVectors, least_differing, most_differing
from app.adapters.whoosh.view import Docs, Mask, View
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking.scoring import (
    BEST_BY_MEANING,
    BEST_BY_WORDS,
    MOST_SIMILAR,
    NEAREST,
    NEAREST_OF_ALL,
    PARTIAL_SHARE,
    RANKED,
    SIMILAR_COSINE,
    least_cosine,
    points_by_meaning,
    points_by_words,
    reads_as_code,
)
from app.domain.search.sentence_model import (
    COVERED,
    MeaningLateError,
    Meanings,
    SentenceModel,
    SentenceModelUnavailable,
    Vectors,
    read_words,
)
from app.domain.search.text import quoted_words

COMPARED = 16_384  # Documents whose cosine is computed where the nearest of more are wanted: see vectors.py.
# The same where the nearest of all are: enough for a hundred, and of 100,000 so many that they are read in long runs.
COMPARED_OF_ALL = 8_192
TIER = np.float32(BEST_BY_WORDS + BEST_BY_MEANING + 1)
NO_VECTOR = np.uint16(np.iinfo(np.uint16).max)
CHUNK = 1024  # Rows that are widened at a time, so that they stay in the processor's cache.


def meaning_of(
    view: View, meanings: Meanings, text: str, words: Sequence[str], request: SearchRequest
) -> Meaning | None:
    """Return the meaning of a search. None where words alone rank: they are a code or in quotes, or too few documents
    have vectors. Raises MeaningLateError where the vector of the words is not made in time."""
    if reads_as_code(words) or quoted_words(request.words) or is_code(view, words):
        return None
    # Before anything else is wanted of the model, which this loads beside the request.
    vector = meanings.vector(text, request)
    if vector is None:
        raise MeaningLateError
    if not is_covered(view, meanings.model):
        return None
    return Meaning(view, meanings.model, read_words(text), vector)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of the words of `text`: their vector, beside those of the documents of a view."""

    view: View
    model: SentenceModel
    text: str
    vector: Vectors

    def rank(self, docs: Docs, scores: Scores, tiers: Docs) -> Fusion:
        """Return the fusion of what documents (rising) score by words with how near they are, cached while the words
        find and score the same. It adds no document."""
        key = "ranked", self.model.name, self.text, hash(docs.tobytes()), hash(scores.tobytes())
        points, near = self.view.recent(
            key, lambda: self._rank(docs, scores), lambda parts: sum(p.nbytes for p in parts)
        )
        return Fusion(docs, points, near, tiers)

    def _rank(self, docs: Docs, scores: Scores) -> tuple[Scores, Scores]:
        """Return (points by words and by meaning, those by meaning)."""
        nearest, cosines = self._nearest(docs, NEAREST, COMPARED)
        near = np.zeros(len(docs), np.float32)
        near[nearest] = points_by_meaning(_ranks(cosines))
        return points_by_words(_ranks_by_words(scores)).astype(np.float32) + near, near

    def unite(self, docs: Docs, scores: Scores, full: Mask | None, tiers: Docs, in_scope: Docs | None) -> Fusion:
        """Return the fusion of what documents (rising) score by words with the nearest of those in the scope, which it
        adds; cached. `full` marks those that have all the words; None is all, for the documents and for the scope. What
        meaning adds is in the last tier."""
        nearest, ranks = self.nearest(len(docs), in_scope)
        of = (docs, scores, tiers, nearest) if full is None else (docs, scores, tiers, nearest, full)
        key = "united", self.model.name, self.text, tuple(hash(part.tobytes()) for part in of)
        return self.view.recent(key, lambda: _unite(docs, scores, full, tiers, nearest, ranks), Fusion.size_in_bytes)

    def nearest(self, found_by_words: int, in_scope: Docs | None) -> tuple[Docs, Docs]:
        """Return the documents of the scope (rising; None is all) that are found by their meaning, rising, and their
        ranks; cached."""
        least = least_cosine(found_by_words)

        def found() -> tuple[Docs, Docs]:
            docs = np.arange(self.view.size) if in_scope is None else in_scope
            nearest, cosines = self._nearest(docs, NEAREST_OF_ALL, COMPARED_OF_ALL, least)
            near = cosines >= least
            return docs[nearest[near]], _ranks(cosines[near])

        scope = None if in_scope is None else hash(in_scope.tobytes())
        key = "nearest", self.model.name, self.text, least, scope
        return self.view.recent(key, found, lambda parts: parts[0].nbytes + parts[1].nbytes)

    def _nearest(self, docs: Docs, most: int, compared: int, least: float = 0) -> tuple[Docs, Scores]:
        """Return (the places among `docs` of the nearest, rising, their cosines); of more than `compared` those whose
        signs differ least are compared. Those with a smaller cosine than `least` may be left out."""
        if len(docs) <= compared:
            return _nearest_places(self.cosines(docs), most)
        differing = self._differing()[docs]
        likely = np.flatnonzero(differing <= most_differing(least, self.model.dimensions))
        if len(likely) > compared:
            likely = least_differing(differing, compared)
        nearest, cosines = _nearest_places(self.cosines(docs[likely]), most)
        return likely[nearest], cosines

    def similar(self, allowed: Mask) -> tuple[Docs, Scores]:
        """Return the documents among the allowed that are near enough to be shown beside few results, the nearest
        first, and their cosines."""
        key = "similar", self.model.name, self.text
        docs, cosines = self.view.recent(key, self._near_enough, lambda found: found[0].nbytes + found[1].nbytes)
        chosen = np.flatnonzero(allowed[docs])[:MOST_SIMILAR]
        return docs[chosen], cosines[chosen]

    def _near_enough(self) -> tuple[Docs, Scores]:
        likely = np.flatnonzero(self._differing() <= most_differing(SIMILAR_COSINE, self.model.dimensions))
        cosines = self.cosines(likely)
        near = np.flatnonzero(cosines >= SIMILAR_COSINE)
        near = near[np.lexsort((near, -cosines[near]))]
        return likely[near], cosines[near]

    def _differing(self) -> Differing:
        """Return in how many signs each document's vector differs from that of the text; in more than there are where
        it has none, so that such a document takes no other's place among the nearest."""
        return np.concatenate(
            [
                np.full(segment.count, NO_VECTOR) if vectors is None else segment.signs.differing(self.vector)
                for segment, vectors in zip(self.view.segments, _vectors_by_segment(self.view, self.model), strict=True)
            ]
        )

    def cosines(self, docs: Docs) -> Scores:
        """Return the cosine of documents (rising) with the text; 0 for those without a vector."""
        found = np.zeros(len(docs), np.float32)
        ends = docs.searchsorted(self.view.bases)
        for place, vectors in enumerate(_vectors_by_segment(self.view, self.model)):
            if vectors is not None:
                for start in range(ends[place], ends[place + 1], CHUNK):
                    part = slice(start, min(start + CHUNK, ends[place + 1]))
                    found[part] = vectors.cosines(self.vector, _as_slice(docs[part] - self.view.bases[place]))
        return found


@dataclass(frozen=True, slots=True)
class Fusion:
    """Documents, rising, with their points by words and by meaning together, and those by meaning. `tiers` stand one
    behind the other, 0 first, whatever the points. `alone` marks those that the words do not find; None for none."""

    docs: Docs
    points: Scores
    near: Scores
    tiers: Docs
    alone: Mask | None = None

    @property
    def keys(self) -> Keys:
        """The keys of the order, highest first: by tier, then by points."""
        return self.points - self.tiers.astype(np.float32) * TIER if self.tiers.any() else self.points

    def size_in_bytes(self) -> int:
        arrays = (self.docs, self.points, self.near, self.tiers)
        return sum(array.nbytes for array in arrays) + (0 if self.alone is None else self.alone.nbytes)


def _unite(docs: Docs, scores: Scores, full: Mask | None, tiers: Docs, nearest: Docs, ranks: Docs) -> Fusion:
    points = points_by_words(_ranks_by_words(scores)) if len(docs) else np.zeros(0)
    if full is not None:
        points = np.where(full, points, PARTIAL_SHARE * points)
    new = nearest[~np.isin(nearest, docs)]
    at = docs.searchsorted(new)
    found = np.insert(docs, at, new)
    near = np.zeros(len(found), np.float32)
    near[found.searchsorted(nearest)] = points_by_meaning(ranks)
    return Fusion(
        found,
        np.insert(points.astype(np.float32), at, 0) + near,
        near,
        np.insert(tiers, at, tiers.max(initial=0)),
        np.insert(np.zeros(len(docs), np.bool_), at, True),
    )


def _nearest_places(cosines: Scores, most: int) -> tuple[Docs, Scores]:
    """Return (the places of the largest cosines, rising, those cosines); of equal ones the first."""
    places = np.flatnonzero(cosines > 0)
    if len(places) > most:
        found = cosines[places]
        last = np.partition(found, len(found) - most)[len(found) - most]
        above, equal = np.flatnonzero(found > last), np.flatnonzero(found == last)
        places = places[np.sort(np.concatenate((above, equal[: most - len(above)])))]
    return places, cosines[places]


def _ranks_by_words(scores: Scores) -> Keys:
    """Return the ranks, from 0. Those behind the first RANKED, which take long to sort and differ by next to nothing,
    are estimated from the scores, in the same order."""
    if len(scores) <= RANKED:
        return _ranks(scores).astype(np.float64)
    threshold = np.partition(scores, len(scores) - RANKED)[len(scores) - RANKED]
    first = scores >= threshold
    lower: Keys = 1 - scores.astype(np.float64) / threshold
    ranks = RANKED + lower * (len(scores) - RANKED)
    ranks[first] = _ranks(scores[first])
    return ranks


def _ranks(scores: Scores) -> Docs:
    """Return the rank of each, from 0; equal ones share the rank of the first."""
    order = np.argsort(-scores)
    ordered = scores[order]
    starts = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(order) else np.zeros(0, np.bool_)
    ranks = np.empty(len(order), np.intp)
    ranks[order] = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
    return ranks


def _as_slice(places: Docs) -> slice | Docs:
    """Return rising places as a slice where none is left out between them, which spares a copy."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


def is_covered(view: View, model: SentenceModel) -> bool:
    """Return whether nearly all documents have vectors of the model. Raises SentenceModelUnavailable."""
    return _count_vectors(view, model) >= COVERED * view.documents


def vector_count(view: View, model: SentenceModel | None) -> int | None:
    """Return how many documents have vectors of the model; None where there is none that has a name."""
    try:
        return None if model is None else _count_vectors(view, model)
    except SentenceModelUnavailable:
        return None


def lacks_vectors(view: View, model: SentenceModel | None) -> str | None:
    """Return the name of the model where it can be used, which may load it, and too few documents have its vectors, so
    that a rebuild would let it rank; else None."""
    try:
        if model is not None and not is_covered(view, model) and model.label:
            return model.name
    except SentenceModelUnavailable:
        pass
    return None


def _count_vectors(view: View, model: SentenceModel) -> int:
    """Return how many live documents have vectors of the model."""

    def count() -> int:
        columns = zip(_vectors_by_segment(view, model), view.counts, strict=True)
        scales = [np.zeros(count) if vectors is None else vectors.scales for vectors, count in columns]
        present = np.concatenate([np.zeros(0), *scales]) > 0
        return int(np.count_nonzero(present if view.live is None else present & view.live))

    return view.cached(("with vectors", model.name), count)


def _vectors_by_segment(view: View, model: SentenceModel) -> list[RowVectors | None]:
    """Return the vectors of each segment, None where it has none of this model."""
    wanted = model.name, model.dimensions
    found = [segment.vectors for segment in view.segments]
    return [v if v is not None and (v.model, v.dimensions) == wanted else None for v in found]
