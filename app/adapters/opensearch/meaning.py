"""Ranking by meaning: the nearest documents come from the cluster, which compares vectors, and ranks by words and by
meaning are fused here (app/domain/search/ranking/scoring.py)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from app.adapters.opensearch import queries
from app.adapters.opensearch.lookups import Answer, Lookups, total_of
from app.adapters.opensearch.mapping import Body
from app.adapters.opensearch.matching import Found, Index
from app.domain.search.engine import SearchRequest, ValueFilter
from app.domain.search.ranking import scoring, spelling
from app.domain.search.sentence_model import COVERED, MeaningLateError, Meanings, Vectors, read_words
from app.domain.search.text import joined, quoted_words


@dataclass(slots=True)
class SearchVectors:
    """The vectors of the searches of one call, each waited for once."""

    meanings: Meanings | None = None
    _made: dict[str, Vectors | None] = field(default_factory=dict)

    def are_wanted(self, request: SearchRequest) -> bool:
        return self.meanings is not None and request.by_meaning and not request.is_typing

    def vector(self, text: str, request: SearchRequest) -> Vectors:
        """Return the vector of a text. Raises MeaningLateError."""
        assert self.meanings is not None
        key = read_words(text)
        if key not in self._made:
            self._made[key] = self.meanings.vector(text, request)
        vector = self._made[key]
        if vector is None:
            raise MeaningLateError
        return vector


def vector_of(
    lookups: Lookups, vectors: SearchVectors, request: SearchRequest, answer: spelling.Answer[Found] | None
) -> Vectors | None:
    """Return the vector of what was searched in the end. None where words alone rank: they are a code or in quotes,
    or too few documents have vectors of the model. Raises MeaningLateError and LookupMissingError."""
    if vectors.meanings is None or answer is None or not vectors.are_wanted(request):
        return None
    words = answer.query.words
    if scoring.reads_as_code(words) or quoted_words(request.words) or lookups.count(queries.has_code(joined(words)), 0):
        return None
    text = answer.suggestion if answer.corrected and answer.suggestion else request.words
    vector = vectors.vector(text, request)
    counted = lookups.search(queries.models())
    models = counted["aggregations"]["models"]["buckets"]
    held = sum(bucket["doc_count"] for bucket in models if bucket["key"] == vectors.meanings.model.name)
    return vector if held and held >= COVERED * total_of(counted) else None


@dataclass(frozen=True, slots=True)
class Fusion:
    """The points of documents by words and by meaning together. `by_words` and `by_meaning` are those of documents by
    their id; `least` is the lowest score by words of the former, behind which ranks are estimated, and `share` what
    those get of their points. `tiers` are the least scores of all tiers but the last, which stand one behind the other
    whatever the points."""

    count: int
    by_words: Mapping[str, float]
    by_meaning: Mapping[str, float]
    least: float
    tiers: Sequence[float]
    share: float = 1.0

    @property
    def alone(self) -> frozenset[str]:
        """The documents that are found by their meaning alone."""
        return frozenset(self.by_meaning.keys() - self.by_words.keys())

    def query(self, scored: Body) -> Body:
        """Return the query whose scores are the points, and queries.TIER more for each tier below a document."""
        ids = self.by_words.keys() | self.by_meaning.keys()
        points = {id: self.by_words.get(id, 0.0) + self.by_meaning.get(id, 0.0) for id in sorted(ids)}
        ranked = {"ranked": min(scoring.RANKED, self.count), "count": self.count, "least": self.least}
        return queries.fused(scored, {"points": points, "tiers": list(self.tiers), "share": self.share, **ranked})


def near_documents(
    lookups: Lookups, scope: Sequence[ValueFilter], found_by_words: int, vector: Vectors
) -> dict[str, float]:
    """Return the cosines of the documents of a scope that are found by their meaning. Raises LookupMissingError."""
    nearest = queries.nearest(vector, queries.conditions(scope), scoring.NEAREST_OF_ALL)
    least = scoring.least_cosine(found_by_words)
    return {id: cosine for id, cosine in cosines_of(lookups.search(nearest)).items() if cosine >= least}


def rank(lookups: Lookups, index: Index, found: Found, vector: Vectors) -> Fusion:
    """Fuse what the words find with how near it is to their meaning. Raises LookupMissingError."""
    scope = index.request.scope
    nearest = queries.nearest(vector, [*queries.conditions(scope), found.condition], scoring.NEAREST)
    lookups.ahead(lambda: lookups.search(nearest))
    lookups.ahead(lambda: _first(lookups, index, found))
    cosines = {id: cosine for id, cosine in cosines_of(lookups.search(nearest)).items() if cosine > 0}
    points, least = _points_by_words(lookups, index, found, cosines)
    return Fusion(len(found), points, _points_by_meaning(cosines), least, index.tiers(found))


def unite(lookups: Lookups, index: Index, found: Found, near: Mapping[str, float]) -> Fusion:
    """Fuse what the words find with the nearest documents, found by the words or not. Raises LookupMissingError."""
    points, least = _points_by_words(lookups, index, found, near) if len(found) else ({}, 1.0)
    if found.full is None:
        return Fusion(len(found), points, _points_by_meaning(near), least, index.tiers(found) if len(found) else ())
    share = scoring.PARTIAL_SHARE
    points = {id: each if id in found.full else share * each for id, each in points.items()}
    return Fusion(len(found), points, _points_by_meaning(near), least, (), share)


def _points_by_words(
    lookups: Lookups, index: Index, found: Found, near: Collection[str]
) -> tuple[dict[str, float], float]:
    """Return (the points of the first documents by words, and of those of `near` that the words find, the least score
    of the first)."""
    scores = _scores(_first(lookups, index, found))
    least = min(scores.values(), default=1.0)
    points = {id: float(scoring.points_by_words(rank)) for id, rank in _ranks(scores).items()}
    behind = [id for id in near if id not in points]
    if behind and len(found) > len(scores):
        scored = queries.matching(index.request.scope, index.scored(found))
        only = {"bool": {"must": [scored], "filter": [queries.one_of(behind)]}}
        later = _scores(lookups.search(queries.with_scores(only, scoring.NEAREST)))
        points |= {id: _estimated_points(score, least, len(found)) for id, score in later.items()}
    return points, least


def _first(lookups: Lookups, index: Index, found: Found) -> Answer:
    scored = queries.matching(index.request.scope, index.scored(found))
    return lookups.search(queries.with_scores(scored, scoring.RANKED))


def _points_by_meaning(cosines: Mapping[str, float]) -> dict[str, float]:
    return {id: float(scoring.points_by_meaning(rank)) for id, rank in _ranks(cosines).items()}


def cosines_of(answer: Answer) -> dict[str, float]:
    """Return how near the documents of an answer are, nearest first. The score of the cluster is (1 + cosine) / 2."""
    return {id: 2 * score - 1 for id, score in _scores(answer).items()}


def _scores(answer: Answer) -> dict[str, float]:
    return {hit["fields"]["id"][0]: hit["_score"] for hit in answer["hits"]["hits"]}


def _ranks(scores: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each, from 0; equal ones share the rank of the first."""
    ranks: dict[str, int] = {}
    first, last = 0, None
    for place, (id, score) in enumerate(sorted(scores.items(), key=lambda pair: -pair[1])):
        first = first if score == last else place
        ranks[id], last = first, score
    return ranks


def _estimated_points(score: float, least: float, count: int) -> float:
    """Return the points of a document behind those whose rank is exact; queries.fused computes the same."""
    return float(scoring.points_by_words(scoring.RANKED + (1 - score / least) * (count - scoring.RANKED)))
