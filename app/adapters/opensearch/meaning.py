"""Ranking by meaning: the nearest documents come from the cluster, which compares vectors, and ranks by words and by
meaning are fused here (app/domain/search/ranking/scoring.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.adapters.opensearch import queries
from app.adapters.opensearch.lookups import Answer, Lookups, total_of
from app.adapters.opensearch.mapping import Body
from app.adapters.opensearch.matching import Found, Index
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking import scoring, spelling
from app.domain.search.sentence_model import COVERED, MeaningLateError, Meanings, Vectors, read_words
from app.domain.search.text import joined


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
    """Return the vector of what was searched in the end. None where words alone rank: they are a code, or too few
    documents have vectors of the model. Raises MeaningLateError and LookupMissingError."""
    if vectors.meanings is None or answer is None or not vectors.are_wanted(request):
        return None
    words = answer.query.words
    if scoring.reads_as_code(words) or lookups.count(queries.has_code(joined(words)), 0):
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
    their id; `least` is the lowest score by words of the former, behind which ranks are estimated. `tiers` are the
    least scores of all tiers but the last, which stand one behind the other whatever the points."""

    count: int
    by_words: Mapping[str, float]
    by_meaning: Mapping[str, float]
    least: float
    tiers: Sequence[float]

    def query(self, scored: Body) -> Body:
        """Return the query whose scores are the points, and queries.TIER more for each tier below a document."""
        points = {id: by_words + self.by_meaning.get(id, 0.0) for id, by_words in self.by_words.items()}
        ranked = {"ranked": min(scoring.RANKED, self.count), "count": self.count, "least": self.least}
        return queries.fused(scored, {"points": points, "tiers": list(self.tiers), **ranked})


def fuse(lookups: Lookups, index: Index, found: Found, scored: Body, vector: Vectors) -> Fusion:
    """Fuse what the words find with how near it is to their meaning. Raises LookupMissingError."""
    scope = index.request.scope
    nearest = queries.nearest(vector, [*queries.conditions(scope), found.condition], scoring.NEAREST)
    lookups.ahead(lambda: lookups.search(nearest))
    first = lookups.search(queries.with_scores(queries.matching(scope, scored), scoring.RANKED))
    near = lookups.search(nearest)
    cosines = {id: cosine for id, cosine in cosines_of(near).items() if cosine > 0}
    scores = _scores(first)
    least = min(scores.values(), default=1.0)
    by_words = {id: scoring.points_by_words(rank) for id, rank in _ranks(scores).items()}
    if behind := [id for id in cosines if id not in by_words]:
        only = {"bool": {"must": [queries.matching(scope, scored)], "filter": [queries.one_of(behind)]}}
        later = _scores(lookups.search(queries.with_scores(only, scoring.NEAREST)))
        by_words |= {id: _estimated_points(score, least, len(found)) for id, score in later.items()}
    by_meaning = {id: scoring.points_by_meaning(rank) for id, rank in _ranks(cosines).items()}
    return Fusion(len(found), by_words, by_meaning, least, index.tiers(found))


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
