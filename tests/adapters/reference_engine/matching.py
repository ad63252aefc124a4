"""What the words of a search match, and what each document scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import log1p

from app.domain.search.engine import (
    IndexDocument,
    ScorePart,
    SearchRequest,
)
from app.domain.search.ranking import scoring, spelling
from app.domain.search.ranking.query import (
    ENOUGH,
    FEW,
    Query,
    completions,
    fewest_words,
    required_words,
)
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    CODE_WEIGHT,
    COMPOUND_WORTH,
    PHRASE_WEIGHT,
    PREFIX_WORTH,
    TEXT_FIELDS,
    demotion,
)
from app.domain.search.ranking.spelling import Corrections
from app.domain.search.text import joined, neighbours
from app.domain.shared.text import fold
from tests.adapters.reference_engine.documents import Documents, Scores, carries, sells

Lifts = dict[str, Scores]  # What scores are multiplied by, by the kind of score part that it shows as, in order.


@dataclass(frozen=True)
class Matched:
    """What one unit of a query matches; `own` is what its words match themselves, None without alternatives."""

    words: tuple[str, ...]
    scores: Scores
    own: Scores | None = None
    alternatives: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Found:
    """`full` are the documents that have all the words."""

    scores: Scores
    units: tuple[Matched, ...]
    full: frozenset[str]
    lifts: Lifts = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def answered(self) -> frozenset[str]:
        return frozenset(word for unit in self.units if unit.own is not None and unit.scores for word in unit.words)


class Index:
    """The documents in the scope of a request, as `ranking.strategy` works with them."""

    def __init__(self, documents: Documents, request: SearchRequest) -> None:
        self.documents = documents
        self.vocabulary = documents.vocabulary
        self._request = request
        scope = request.scope
        self._allowed = {id for id, document in documents.by_id.items() if all(carries(document, f) for f in scope)}

    def find(self, query: Query, *, prefix_last: bool) -> Found:
        found = self._with_all(self._plain(query, None), query)
        may_go_on = prefix_last and (self._request.is_typing or len(found) < ENOUGH)
        last = self._unfinished(query) if may_go_on else None
        if last is not None or query.alternatives:
            found = self._with_all(self._units(query, last, apart=False), query)
        if not found.scores:
            return found
        if len(found) < FEW and query.may_relax and not self.documents.has_code(query.words):
            some = self.find_fewer(query, last)
            return Found(_demoted(some.scores, [set(found.scores)]), some.units, frozenset(found.scores), some.lifts)
        finished, lifts = self._finished(query, found.scores)
        scores = _own_words_first(finished, found.units)
        return Found(scores, found.units, frozenset(scores), lifts)

    def find_fewer(self, query: Query, last: Scores | None = None) -> Found:
        units = self._units(query, last, apart=True)
        counts = self._counts(units, query)
        plain = self._counts(self._plain(query, last), query) or counts
        fewest = fewest_words([sum(number >= n for number in plain.values()) for n in range(len(units) + 1)])
        counts = {id: number for id, number in counts.items() if number >= fewest}
        scores = {
            id: sum(unit.scores.get(id, 0.0) for unit in units) * (number / len(units)) ** 2
            for id, number in counts.items()
        }
        scores, lifts = self._finished(query, scores)
        for number in set(counts.values()):
            scores |= _own_words_first({id: scores[id] for id in scores if counts[id] == number}, units)
        return Found(scores, tuple(units), frozenset(), lifts)

    def _with_all(self, units: list[Matched], query: Query) -> Found:
        required = [units[place].scores for place in query.required([unit.words for unit in units])]
        ids = [id for id in self.documents.by_id if id in self._allowed and all(id in scores for scores in required)]
        scores = {id: sum(unit.scores.get(id, 0.0) for unit in units) for id in ids}
        return Found(scores, tuple(units), frozenset(ids))

    def _counts(self, units: list[Matched], query: Query) -> dict[str, int]:
        """How many of the required words each document has; those without any left out."""
        required = [units[place].scores for place in query.required([unit.words for unit in units])]
        counts = {id: sum(id in scores for scores in required) for id in self.documents.by_id if id in self._allowed}
        return {id: number for id, number in counts.items() if number}

    def matches(self, words: Sequence[str], exact: frozenset[str] = frozenset()) -> list[Scores]:
        """What each word matches, with its other forms unless it is among `exact`; two neighbouring words written as
        one in a text count for each of the two."""
        matches = [self.documents.word(word) if word in exact else self.documents.with_forms(word) for word in words]
        for place, (first, second) in enumerate(pairwise(words)):
            written = {
                id: score
                for id, score in self.documents.word(first + second).items()
                if not TEXT_FIELDS.keys().isdisjoint(self.documents.fields_with(id, first + second))
            }
            for here in (place, place + 1):
                matches[here] = _best([(matches[here], 1.0), (written, COMPOUND_WORTH)])
        return matches

    def _begun(self, query: Query, last: Scores | None) -> list[Scores]:
        matches = self.matches(query.words, query.exact)
        return [*matches[:-1], last] if last is not None else matches

    def _plain(self, query: Query, last: Scores | None) -> list[Matched]:
        return [Matched((word,), scores) for word, scores in zip(query.words, self._begun(query, last), strict=True)]

    def _units(self, query: Query, last: Scores | None, *, apart: bool) -> list[Matched]:
        matches, begun = self.matches(query.words, query.exact), self._begun(query, last)
        units = []
        for unit in query.units(apart=apart):
            run = slice(unit.place, unit.place + len(unit.words))
            if unit.alternatives is None:
                units.append(Matched(unit.words, begun[unit.place]))
                continue
            readings = [(self._together(unit.words, begun[run], query), 1.0)]
            for other in unit.alternatives:
                worth = ALTERNATIVE_WORTH * len(unit.words) / len(other)
                readings.append((self._together(other, self.matches(other), query), worth))
            own = self._together(unit.words, matches[run], query)
            units.append(Matched(unit.words, _best(readings), own, unit.alternatives))
        return units

    def _together(self, words: Sequence[str], matches: Sequence[Scores], query: Query) -> Scores:
        """The documents with all required words of a run."""
        names = required_words(words, query.optional)
        required = [scores for word, scores in zip(words, matches, strict=True) if word in names]
        ids = [id for id in required[0] if all(id in scores for scores in required)]
        return {id: sum(scores.get(id, 0.0) for scores in matches) for id in ids}

    def has_together(self, id: str, words: Sequence[str], query: Query) -> bool:
        return id in self._together(words, self.matches(words), query)

    def _unfinished(self, query: Query) -> Scores | None:
        """What the last word matches as the beginning of longer ones; None where that is no more."""
        match, beginning = self.matches(query.words, query.exact)[-1], query.words[-1]
        words = completions(beginning, self.vocabulary, is_typing=self._request.is_typing)
        longer = [(self.documents.word(word), PREFIX_WORTH) for word in words]
        found = _best([(match, 1.0), (self.documents.word(beginning), 1.0), *longer])
        return found if len(found) > len(match) else None

    def bonuses(self, query: Query, id: str) -> Iterator[ScorePart]:
        """What counts on top: words side by side in the name, and words that together are a code."""
        for (first, second), pair in zip(pairwise(query.words), neighbours(query.words), strict=True):
            if worth := PHRASE_WEIGHT * self.documents.field_score(id, "pairs", pair):
                yield ScorePart("side_by_side", "name", (first, second), worth)
        if worth := CODE_WEIGHT * self.documents.field_score(id, "codes", joined(query.words)):
            yield ScorePart("code", "codes", query.words, worth)

    def _finished(self, query: Query, scores: Scores) -> tuple[Scores, Lifts]:
        finished = {id: score + sum(part.worth for part in self.bonuses(query, id)) for id, score in scores.items()}
        lifts = self.lifts(query, finished)
        for factors in lifts.values():
            finished = {id: score * factors[id] for id, score in finished.items()}
        return finished, lifts

    def lifts(self, query: Query, scores: Scores) -> Lifts:
        return self.by_kind(query, scores) | self.by_signal(scores) | self.learned(scores)

    def by_signal(self, ids: Iterable[str]) -> Lifts:
        """What sales, newness and stock multiply the score of each document by."""
        by_id, weights = self.documents.by_id, self._request.ranking.weights
        sold = {id: log1p(document.numbers.get(scoring.SALES, 0)) for id, document in by_id.items()}
        most = max(sold.values(), default=0.0)
        shares = {
            "sales": {id: scoring.sales_share(sold[id], most) if most else 0.0 for id in ids},
            "newness": {id: self._newness(by_id[id]) for id in ids},
            "stock": {id: scoring.stock_share(sells(by_id[id]), scoring.LOW_STOCK in by_id[id].numbers) for id in ids},
        }
        return {
            kind: {id: scoring.lift(weights[kind], share) for id, share in own.items()} for kind, own in shares.items()
        }

    def _newness(self, document: IndexDocument) -> float:
        created = document.numbers.get(scoring.CREATED)
        return 0.0 if created is None else float(scoring.newness_share(created, self._request.day))

    def learned(self, ids: Iterable[str]) -> Lifts:
        """What clicks taught about the search, for documents and for levels."""
        documents, levels = dict(self._request.learned.documents), dict(self._request.learned.levels)
        carried = {id: self.documents.by_id[id].values.get(scoring.KIND, ()) for id in ids}
        return {
            "learned": {id: documents.get(id, 1.0) for id in carried},
            "learned_level": {
                id: max((levels[level] for level in own if level in levels), default=1.0) for id, own in carried.items()
            },
        }

    def by_kind(self, query: Query, scores: Scores) -> Lifts:
        """What the kind of each document multiplies its score by: its level's share in the first results, or, where the
        words name the level, that alone."""
        documents = self.documents.by_id
        may_be_names = scoring.phrase_of(query.words), scoring.phrase_of(query.words, query.optional)
        by_phrase = (
            {id for id in scores if name in scoring.phrases(documents[id].kind_names)} for name in may_be_names
        )
        named = next((ids for ids in by_phrase if ids), set())
        levels = {id: documents[id].values.get(scoring.KIND, ()) for id in scores}
        evidence: Counter[tuple[str, ...]] = Counter()
        for id in sorted(scores, key=lambda id: -scores[id])[: scoring.FIRST_RESULTS]:
            evidence[levels[id]] += scores[id] ** 2  # type: ignore[assignment]
        total = sum(sum_ for level, sum_ in evidence.items() if level)
        shares = {
            id: scoring.lift_by_share(evidence[level], total) if level and total and id not in named else 1.0
            for id, level in levels.items()
        }
        return {"level": shares, "level_name": {id: scoring.LIFT_BY_NAME if id in named else 1.0 for id in scores}}

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Corrections:
        return spelling.corrections(query.words, self.vocabulary, right, last_may_go_on=last_may_go_on)

    def slips(self, query: Query, right: frozenset[str]) -> Corrections:
        return spelling.slips(query.words, self.vocabulary, right)

    def written(self, word: str) -> str:
        scores = self.documents.word(word)
        best = sorted(scores, key=lambda id: -scores[id])[: spelling.NAMES_CONSULTED]
        return spelling.written_form(word, [fold(self.documents.by_id[id].name) for id in best])


def _best(readings: Iterable[tuple[Scores, float]]) -> Scores:
    """The documents of any of the readings; each scores what it scores best, times the worth of the reading."""
    best: Scores = {}
    for scores, worth in readings:
        for id, score in scores.items():
            best[id] = max(best.get(id, 0.0), worth * score)
    return best


def _demoted(scores: Scores, tiers: Iterable[set[str]]) -> Scores:
    """Each tier in turn, with what is above it, ranks above the rest."""
    scores = dict(scores)
    for higher in tiers:
        above = [score for id, score in scores.items() if id in higher]
        below = [score for id, score in scores.items() if id not in higher]
        if above and below:
            factor = demotion(max(below), min(above))
            scores = {id: score if id in higher else score * factor for id, score in scores.items()}
    return scores


def _own_words_first(scores: Scores, units: Sequence[Matched]) -> Scores:
    """Documents that have the words rank above those with one alternative, and these above those with two."""
    widened = [unit.own for unit in units if unit.own is not None]
    missing = {id: sum(id not in own for own in widened) for id in scores}
    return _demoted(scores, [{id for id in scores if missing[id] < level} for level in range(1, len(widened) + 1)])
