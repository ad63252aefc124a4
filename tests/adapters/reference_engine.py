"""A search engine of dictionaries and loops over the shop's ranking policy: slow, and plain enough to be read as right.

What it answers is what any engine must answer. It keeps its indexes in memory and knows the live documents alone.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice, pairwise
from math import log1p, prod

from rapidfuzz.distance import OSA

from app.domain.search import text
from app.domain.search.engine import (
    MOST_FACET_VALUES,
    Change,
    Delete,
    EngineState,
    EngineStatus,
    Explanation,
    FieldMatch,
    Generation,
    Hit,
    IndexDocument,
    IndexName,
    RangeCount,
    RangeFilter,
    ScorePart,
    Searching,
    SearchRequest,
    SearchResult,
    SearchUnavailable,
    Sort,
    Upsert,
    ValueFilter,
)
from app.domain.search.ranking import fusion, intent, learning, signals, spelling, strategy
from app.domain.search.ranking.analysis import analyse
from app.domain.search.ranking.placement import PlacedDocuments
from app.domain.search.ranking.query import (
    ENOUGH,
    FEW,
    Query,
    completions,
    fewest_words,
    required_words,
    with_neighbours_joined,
)
from app.domain.search.ranking.spelling import Spelling
from app.domain.search.ranking.vocabulary import COMMONNESS
from app.domain.search.ranking.weights import (
    ALTERNATIVE_WORTH,
    CODE_WEIGHT,
    COMPOUND_WORTH,
    EXACT_FIELDS,
    FIELDS,
    PHRASE_WEIGHT,
    PREFIX_WORTH,
    TEXT_FIELDS,
    demotion,
    field_weight,
    inverse_document_frequency,
    length_norm,
    saturated,
)
from app.domain.search.sentence_model import SentenceModel, Vectors
from app.domain.search.text import joined, neighbours, query_words
from app.domain.shared.folding import fold

Scores = dict[str, float]  # By document id.
Lifts = dict[str, Scores]  # What scores are multiplied by, by the kind of score part that it shows as, in order.
_NO_INDEX = "There is no index yet. Rebuild to make it."
_DAMAGED = "The index is damaged. Rebuild to fix it."


class PlainLexicon:
    """Words as they are."""

    def words(self, text_: str) -> list[str]:
        return text.words(text_)

    def compound(self, first: str, second: str) -> str:
        return first + second

    def parts(self, word: str) -> tuple[str, ...]:
        return text.parts(word)

    def code(self, text_: str) -> str | None:
        return text.code(text_) or None


@dataclass(frozen=True)
class Documents:
    """One state of an index, in the order in which its documents came."""

    generation: str
    version: int
    by_id: Mapping[str, IndexDocument]
    model: SentenceModel | None = None

    def changed(self, changes: Iterable[Change]) -> Documents:
        documents = dict(self.by_id)
        for change in changes:
            documents.pop(change.id if isinstance(change, Delete) else change.document.id, None)
            if isinstance(change, Upsert):
                documents[change.document.id] = change.document
        return Documents(self.generation, self.version + 1, documents, self.model)

    @cached_property
    def fields(self) -> dict[str, dict[str, Counter[str]]]:
        """How often each field of each document has each word."""
        return {
            id: {name: Counter(words) for name, words in analyse(document, PlainLexicon()).items()}
            for id, document in self.by_id.items()
        }

    @cached_property
    def averages(self) -> dict[str, float]:
        """How many words a field has on average."""
        lengths = {name: sum(fields[name].total() for fields in self.fields.values()) for name in TEXT_FIELDS}
        return {name: length / len(self.by_id) if self.by_id else 1.0 for name, length in lengths.items()}

    def field_score(self, id: str, name: str, word: str) -> float:
        """What a word scores in one field of a document, without the field's weight."""
        words = self.fields[id][name]
        if word not in words:
            return 0.0
        idf = inverse_document_frequency(len(self.by_id), sum(word in fields[name] for fields in self.fields.values()))
        if name in EXACT_FIELDS:
            return idf
        return idf * float(saturated(words[word], length_norm(name, words.total(), self.averages[name])))

    @cached_property
    def _scores(self) -> dict[str, Scores]:
        return {}

    def word(self, word: str) -> Scores:
        """The score of each document that has a word in any field."""
        if word not in self._scores:
            self._scores[word] = {
                id: sum(field_weight(name) * self.field_score(id, name, word) for name in FIELDS)
                for id, fields in self.fields.items()
                if any(word in fields[name] for name in FIELDS)
            }
        return self._scores[word]

    def fields_with(self, id: str, word: str) -> list[str]:
        return [name for name in FIELDS if word in self.fields[id][name]]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self)

    @cached_property
    def vectors(self) -> dict[str, Vectors]:
        assert self.model is not None
        texts = [fusion.meaning_text(document) for document in self.by_id.values()]
        return dict(zip(self.by_id, self.model.embed(texts), strict=True)) if texts else {}

    def has_code(self, words: Sequence[str]) -> bool:
        return any(joined(words) in fields["codes"] for fields in self.fields.values())


@dataclass(frozen=True)
class Vocabulary:
    documents: Documents

    @cached_property
    def _words(self) -> Counter[str]:
        words: Counter[str] = Counter()
        for fields in self.documents.fields.values():
            for name, worth in COMMONNESS.items():
                words.update({word: worth for word in fields[name]})
        return words

    def frequency(self, word: str) -> int:
        return self._words[word]

    def known(self, words: set[str]) -> set[str]:
        return words & self._words.keys()

    def beginning_with(self, beginning: str) -> set[str]:
        return {word for word in self._words if word.startswith(beginning)}

    def codes_beginning_with(self, beginning: str, limit: int) -> list[str]:
        codes = {code for fields in self.documents.fields.values() for code in fields["codes"]}
        return sorted(code for code in codes if code.startswith(beginning))[:limit]

    def near(self, word: str, edits: int, limit: int) -> list[str]:
        distances = {other: OSA.distance(word, other) for other in self._words if other.isalpha()}
        near = [other for other, distance in distances.items() if distance <= edits]
        return sorted(near, key=lambda other: (distances[other], len(other), other))[:limit]

    def documents_with(self, words: Sequence[str]) -> int:
        return len(set.intersection(*(set(self.documents.word(word)) for word in words)))


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


def _ranks(scores: Scores) -> dict[str, int]:
    """From 0; equal scores share the rank of the first."""
    ordered = sorted(scores.values(), reverse=True)
    return {id: ordered.index(score) for id, score in scores.items()}


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
        if len(found) < FEW and query.may_relax:
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

    def matches(self, words: Sequence[str]) -> list[Scores]:
        """What each word matches; two neighbouring words written as one in a text count for each of the two."""
        matches = [self.documents.word(word) for word in words]
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
        matches = self.matches(query.words)
        return [*matches[:-1], last] if last is not None else matches

    def _plain(self, query: Query, last: Scores | None) -> list[Matched]:
        return [Matched((word,), scores) for word, scores in zip(query.words, self._begun(query, last), strict=True)]

    def _units(self, query: Query, last: Scores | None, *, apart: bool) -> list[Matched]:
        matches, begun = self.matches(query.words), self._begun(query, last)
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
        match, beginning = self.matches(query.words)[-1], query.words[-1]
        longer = [(self.documents.word(word), PREFIX_WORTH) for word in completions(beginning, self.vocabulary)]
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
        sold = {id: log1p(document.numbers.get(signals.SALES, 0)) for id, document in by_id.items()}
        most = max(sold.values(), default=0.0)
        shares = {
            "sales": {id: signals.sales_share(sold[id], most) if most else 0.0 for id in ids},
            "newness": {id: self._newness(by_id[id]) for id in ids},
            "stock": {id: signals.stock_share(sells(by_id[id]), signals.LOW_STOCK in by_id[id].numbers) for id in ids},
        }
        return {
            kind: {id: signals.lift(weights[kind], share) for id, share in own.items()} for kind, own in shares.items()
        }

    def _newness(self, document: IndexDocument) -> float:
        created = document.numbers.get(signals.CREATED)
        return 0.0 if created is None else float(signals.newness_share(created, self._request.day))

    def learned(self, ids: Iterable[str]) -> Lifts:
        """What clicks taught about the search, for documents and for levels."""
        documents, levels = dict(self._request.learned.documents), dict(self._request.learned.levels)
        carried = {id: self.documents.by_id[id].values.get(intent.KIND, ()) for id in ids}
        return {
            "learned": {id: documents.get(id, 1.0) for id in carried},
            "learned_level": {id: learning.level_factor(own, levels) for id, own in carried.items()},
        }

    def by_kind(self, query: Query, scores: Scores) -> Lifts:
        """What the kind of each document multiplies its score by: its level's share in the first results, or, where the
        words name the level, that alone."""
        documents = self.documents.by_id
        may_be_names = intent.phrase_of(query.words), intent.phrase_of(query.words, query.optional)
        by_phrase = ({id for id in scores if name in intent.phrases(documents[id].kind_names)} for name in may_be_names)
        named = next((ids for ids in by_phrase if ids), set())
        levels = {id: documents[id].values.get(intent.KIND, ()) for id in scores}
        evidence: Counter[tuple[str, ...]] = Counter()
        for id in sorted(scores, key=lambda id: -scores[id])[: intent.FIRST_RESULTS]:
            evidence[levels[id]] += scores[id] ** 2  # type: ignore[assignment]
        largest = max((sum_ for level, sum_ in evidence.items() if level), default=0)
        shares = {
            id: intent.lift_by_share(evidence[level], largest) if level and largest and id not in named else 1.0
            for id, level in levels.items()
        }
        return {"level": shares, "level_name": {id: intent.LIFT_BY_NAME if id in named else 1.0 for id in scores}}

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Mapping[str, Spelling]:
        return spelling.corrections(query.words, self.vocabulary, right, last_may_go_on=last_may_go_on)

    def slips(self, query: Query, right: frozenset[str]) -> Mapping[str, Spelling]:
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
    lacking = {id: sum(id not in own for own in widened) for id in scores}
    return _demoted(scores, [{id for id in scores if lacking[id] < level} for level in range(1, len(widened) + 1)])


def carries(document: IndexDocument, wanted: ValueFilter) -> bool:
    return not set(wanted.values).isdisjoint(document.values.get(wanted.name, ()))


def sells(document: IndexDocument) -> bool:
    return signals.YES in document.values.get(signals.IN_STOCK, ())


def lies_in(document: IndexDocument, wanted: RangeFilter) -> bool:
    number = document.numbers.get(wanted.name)
    if number is None:
        return False
    return (wanted.low is None or number >= wanted.low) and (wanted.high is None or number <= wanted.high)


class Evaluation:
    """One request against one state of an index."""

    def __init__(self, documents: Documents, request: SearchRequest) -> None:
        self.documents, self.request = documents, request
        self.index = Index(documents, request)
        query = Query.of(request)
        self.answer = strategy.answer(self.index, request, query) if query.words else None
        everything = {} if request.words.strip() else {id: 0.0 for id in self._in_scope()}
        self.scores = dict(self.answer.found.scores) if self.answer else everything
        self.by_words = set(self.scores)
        for pin in request.pins:
            if pin.id in self._in_scope():
                self.scores.setdefault(pin.id, 0.0)
        self.by_meaning: Scores = {}
        self.fused = False
        self.cosines = self._cosines() if self.answer else {}
        if self.cosines and request.sort is Sort.RELEVANCE:
            self._fuse()
            self.fused = True
        self.kept = [id for id in documents.by_id if id in self.scores and self._passes(id)]
        self.placement = PlacedDocuments.of(request, set(self.kept), len(self.kept))

    def _cosines(self) -> Scores:
        """How near each document is to what was searched in the end; nothing where words alone rank."""
        assert self.answer is not None
        words, model = self.answer.query.words, self.documents.model
        if model is None or not self.request.by_meaning or self.request.is_typing:
            return {}
        if fusion.reads_as_code(words) or self.documents.has_code(words):
            return {}
        text = self.answer.suggestion if self.answer.corrected else None
        vector = model.embed([text or self.request.words])[0]
        return {id: float(row @ vector) for id, row in self.documents.vectors.items()}

    def _fuse(self) -> None:
        assert self.answer is not None
        words = {id: score for id, score in self.scores.items() if id in self.by_words}
        near = [id for id in sorted(words, key=lambda id: -self.cosines[id]) if self.cosines[id] > 0]
        ranks = _ranks({id: self.cosines[id] for id in near[: fusion.NEAREST]})
        self.by_meaning = {id: fusion.points_by_meaning(rank) for id, rank in ranks.items()}
        for id, rank in _ranks(words).items():
            self.scores[id] = fusion.points_by_words(rank) + self.by_meaning.get(id, 0.0)

    def _similar(self) -> tuple[Hit, ...]:
        request = self.request
        if request.page != 1 or len(self.kept) >= request.similar_below:
            return ()
        left_out = self.scores.keys() | request.buries
        ids = [id for id in self.cosines if id in self._in_scope() and self._passes(id) and id not in left_out]
        near = [id for id in ids if self.cosines[id] >= fusion.SIMILAR_COSINE]
        near = sorted(near, key=lambda id: -self.cosines[id])[: fusion.MOST_SIMILAR]
        return tuple(Hit(id, self.cosines[id], self._card(id)) for id in near)

    def _card(self, id: str) -> Mapping[str, object]:
        card: Mapping[str, object] = json.loads(json.dumps(self.documents.by_id[id].card))
        return card

    def _in_scope(self) -> set[str]:
        by_id = self.documents.by_id
        return {id for id, document in by_id.items() if all(carries(document, f) for f in self.request.scope)}

    def _passes(self, id: str, but_value: str | None = None, but_range: str | None = None) -> bool:
        """Whether a document passes all filters but those of a name."""
        document = self.documents.by_id[id]
        values = all(carries(document, f) for f in self.request.filters if f.name != but_value)
        return values and all(lies_in(document, f) for f in self.request.ranges if f.name != but_range)

    def result(self) -> SearchResult:
        by_words = sum(id in self.by_words for id in self.kept)
        full = sum(id in self.answer.found.full for id in self.kept) if self.answer else None
        return SearchResult(
            total=len(self.kept),
            hits=self._hits(),
            facets={name: self._facet(name) for name in self.request.facets},
            ranges={name: self._range(name) for name in self.request.range_facets},
            suggestion=self.answer.suggestion if self.answer else None,
            corrected=bool(self.answer and self.answer.corrected),
            relaxed=full is not None and full < by_words,
            full_matches=full,
            similar=self._similar(),
        )

    def _facet(self, name: str) -> tuple[tuple[str, int], ...]:
        ids = [id for id in self.scores if self._passes(id, but_value=name)]
        counts = Counter(value for id in ids for value in set(self.documents.by_id[id].values.get(name, ())))
        return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))[:MOST_FACET_VALUES]

    def _range(self, name: str) -> RangeCount:
        passing = [self.documents.by_id[id] for id in self.scores if self._passes(id, but_range=name)]
        numbers = [document.numbers[name] for document in passing if name in document.numbers]
        return RangeCount(min(numbers, default=None), max(numbers, default=None), len(numbers))

    def _hits(self) -> tuple[Hit, ...]:
        start, end = self.request.window
        if self.request.page < 1:
            return ()
        before, slots = self.placement.slots(start, end)
        unpinned = islice(self._unpinned(), before, None)
        shown = [next(unpinned) if pinned is None else pinned for pinned in slots]
        hits = [Hit(id, self.scores[id] if self.answer else 0.0, self._card(id)) for id in shown]
        if not self.request.explain:
            return tuple(hits)
        return tuple(Hit(hit.id, hit.score, hit.card, self.explanation(hit.id)) for hit in hits)

    def _unpinned(self) -> list[str]:
        pinned, boosts, buries = set(self.placement.pins.values()), self.placement.boosts, self.placement.buries
        free = sorted((id for id in self.kept if id not in pinned), key=self.key)
        others = [id for id in free if id not in boosts and id not in buries]
        return [*boosts, *others, *(id for id in free if id in buries)]

    def key(self, id: str) -> tuple[float | str, ...]:
        """The order where nothing is placed, lowest first."""
        document, sort, nowhere = self.documents.by_id[id], self.request.sort, float("inf")
        is_behind = self.request.ranking.sold_out_last and not sells(document)
        created = document.numbers.get("createdAt")
        match sort:
            case Sort.PRICE_ASC:
                return (document.numbers.get("price", nowhere),)
            case Sort.PRICE_DESC:
                return (-document.numbers.get("price", -nowhere),)
            case Sort.NEWEST:
                return (nowhere if created is None else -created,)
            case Sort.NAME:
                return (fold(document.name),)
            case Sort.RELEVANCE if self.answer:
                ranks_tiers = self.request.ranking.sold_out_last or self.fused
                is_less = ranks_tiers and id not in self.answer.found.full
                return (is_less, is_behind, self._alternatives_alone(id), -self.scores[id])
        first = self.request.first
        place = first.index(id) if id in first else len(first)
        is_behind = is_behind and id not in first
        return (place, is_behind, "true" not in document.values.get("featured", ()), -(created or 0.0))

    def _alternatives_alone(self, id: str) -> int:
        """For how many units a document has an alternative alone, where that does not show in the scores."""
        assert self.answer is not None
        found = self.answer.found
        if not self.fused or found.full < found.scores.keys():
            return 0
        return sum(unit.own is not None and id not in unit.own for unit in found.units)

    def explanation(self, id: str) -> Explanation:
        words = query_words(self.request.words)
        if id not in self.documents.by_id:
            return Explanation(words, False, None, None, (), words)
        matches, missing = self._words_in(id)
        if id not in self.kept:
            return Explanation(words, True, None, None, matches, missing)
        score = self.scores[id] if self.answer else None
        rank = self.placement.pin_rank(id) or self.placement.rank(self._unpinned().index(id))
        parts = self._parts(id, score) if score else ()
        return Explanation(words, True, rank, score, matches, missing, parts, self._placed(id))

    def _placed(self, id: str) -> str | None:
        is_behind = self.request.ranking.sold_out_last and not sells(self.documents.by_id[id])
        is_last = is_behind and self.request.sort is Sort.RELEVANCE
        return self.placement.placed(id) or ("sold_out" if is_last else None)

    def _words_in(self, id: str) -> tuple[tuple[FieldMatch, ...], tuple[str, ...]]:
        fields: dict[str, dict[str, None]] = {}
        missing: list[str] = []
        for unit in self.answer.found.units if self.answer else ():
            present = {word for word, name in self._found_in(unit, id) if fields.setdefault(name, {}) is not None}
            for word, name in self._found_in(unit, id):
                fields[name][word] = None
            if id not in unit.scores:
                missing += [word for word in unit.words if word not in present]
        return tuple(FieldMatch(name, tuple(words)) for name, words in fields.items()), tuple(missing)

    def _found_in(self, unit: Matched, id: str) -> Iterator[tuple[str, str]]:
        """(word, field) of what a unit finds in a document."""
        assert self.answer is not None
        for words in (unit.words, *unit.alternatives):
            if words == unit.words or self.index.has_together(id, words, self.answer.query):
                for word in words:
                    yield from ((word, name) for name in self._fields_with(id, word, unit))

    def _fields_with(self, id: str, word: str, unit: Matched) -> list[str]:
        assert self.answer is not None
        readings = {word, *(a + b for a, b in pairwise(self.answer.query.words) if word in (a, b))}
        if id in unit.scores and unit.own is None:
            readings |= set(completions(word, self.index.vocabulary)) if word == self.answer.query.words[-1] else set()
        return [name for name in FIELDS if any(word in self.documents.fields[id][name] for word in readings)]

    def _parts(self, id: str, score: float) -> tuple[ScorePart, ...]:
        """What the score is made of, scaled to its sum: what counts for all words scales each part."""
        assert self.answer is not None
        raw = list(self.index.bonuses(self.answer.query, id))
        for unit in self.answer.found.units:
            raw += self._unit_parts(unit, id)
        lifts = {kind: factors[id] for kind, factors in self.answer.found.lifts.items()}
        meaning = self.by_meaning.get(id, 0.0)
        worth = (score - meaning) / prod(lifts.values())
        scale = worth / sum(part.worth for part in raw)
        parts = [ScorePart(part.kind, part.field, part.words, part.worth * scale) for part in raw]
        for kind, factor in lifts.items():
            if factor != 1:
                parts.append(ScorePart(kind, None, (), worth * (factor - 1)))
            worth *= factor
        if meaning:
            parts.append(ScorePart("meaning", None, (), meaning))
        return tuple(sorted(parts, key=lambda part: -part.worth))

    def _unit_parts(self, unit: Matched, id: str) -> list[ScorePart]:
        """By the reading that gives what the unit scores, or comes nearest."""
        assert self.answer is not None
        worth, words = unit.scores.get(id, 0.0), self.answer.query.words
        readings = [("word", unit.words, 1.0)]
        for other in unit.alternatives:
            share = ALTERNATIVE_WORTH * len(unit.words) / len(other)
            readings += [("alternative", spelled, share) for spelled in (other, *with_neighbours_joined(other))]
        readings += [("word", (a + b,), COMPOUND_WORTH) for a, b in pairwise(words) if {a, b} & set(unit.words)]
        if unit.words[-1] == words[-1]:
            longer = completions(words[-1], self.index.vocabulary)
            readings += [("beginning", (*unit.words[:-1], word), PREFIX_WORTH) for word in longer]
        made = [list(self._reading_parts(id, *reading)) for reading in readings] if worth else []
        return min(filter(None, made), key=lambda parts: abs(sum(part.worth for part in parts) - worth), default=[])

    def _reading_parts(self, id: str, kind: str, words: tuple[str, ...], worth: float) -> Iterator[ScorePart]:
        for word in words:
            for name in FIELDS:
                if score := worth * field_weight(name) * self.documents.field_score(id, name, word):
                    yield ScorePart(kind, name, (word,), score)


class ReferenceEngine:
    """Keeps everything in memory. One process, so its lock is a lock of threads."""

    supports_trials = True

    def __init__(self, model: SentenceModel | None = None) -> None:
        self.model = model
        self.live: dict[tuple[int, IndexName], Documents] = {}
        self.begun: dict[tuple[int, IndexName], ReferenceGeneration] = {}
        self.damaged: set[tuple[int, IndexName]] = set()
        self.numbers = count(1)
        self._locks: dict[tuple[int, IndexName], threading.Lock] = {}

    def _documents(self, site_id: int, index: IndexName) -> Documents:
        if (site_id, index) in self.damaged:
            raise SearchUnavailable(_DAMAGED)
        try:
            return self.live[site_id, index]
        except KeyError:
            raise SearchUnavailable(_NO_INDEX) from None

    def status(self, site_id: int, index: IndexName) -> EngineStatus:
        try:
            live = self._documents(site_id, index)
        except SearchUnavailable as error:
            return EngineStatus(EngineState.UNREACHABLE, error.message)
        version = f"{live.generation}.{live.version}"
        return EngineStatus(EngineState.HEALTHY, None, len(live.by_id), live.generation, version)

    def size(self, site_id: int, index: IndexName) -> int | None:
        return None

    def search(self, site_id: int, index: IndexName, request: SearchRequest) -> SearchResult:
        return Evaluation(self._documents(site_id, index), request).result()

    def search_many(self, site_id: int, index: IndexName, requests: Sequence[SearchRequest]) -> list[SearchResult]:
        return [self.search(site_id, index, request) for request in requests]

    def explain(self, site_id: int, index: IndexName, request: SearchRequest, document_id: str) -> Explanation:
        return Evaluation(self._documents(site_id, index), request).explanation(document_id)

    @contextmanager
    def trial(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> Iterator[Searching]:
        yield preview(site_id, index, self._documents(site_id, index).changed(changes))

    def exclusive(self, site_id: int, index: IndexName) -> AbstractContextManager[object]:
        return self._locks.setdefault((site_id, index), threading.Lock())

    @contextmanager
    def together(self, site_id: int, indexes: Sequence[IndexName]) -> Iterator[None]:
        before = {(site_id, index): self.live[site_id, index] for index in indexes if (site_id, index) in self.live}
        try:
            yield
        except BaseException:
            self.live |= before
            raise

    def apply(self, site_id: int, index: IndexName, changes: Sequence[Change]) -> None:
        self.live[site_id, index] = self._documents(site_id, index).changed(changes)

    def start_generation(self, site_id: int, index: IndexName) -> Generation:
        generation = ReferenceGeneration(self, site_id, index, f"generation {next(self.numbers)}")
        self.begun[site_id, index] = generation
        return generation

    def digests(self, site_id: int, index: IndexName) -> Iterator[tuple[str, str]]:
        return ((id, document.digest) for id, document in self._documents(site_id, index).by_id.items())

    def verify(self, site_id: int, index: IndexName) -> None:
        self._documents(site_id, index)

    def forget(self, site_id: int) -> None:
        for key in [key for key in self.live if key[0] == site_id]:
            del self.live[key]


@dataclass
class ReferenceGeneration:
    engine: ReferenceEngine
    site_id: int
    index: IndexName
    name: str
    documents: dict[str, IndexDocument] = field(default_factory=dict)

    def add(self, documents: Iterable[IndexDocument]) -> None:
        self.documents |= {document.id: document for document in documents}

    def seal(self) -> int:
        self._check()
        return len(self.documents)

    def preview(self) -> Searching:
        return preview(self.site_id, self.index, self._made())

    def _made(self) -> Documents:
        model = self.engine.model if self.index is IndexName.PRODUCTS else None
        return Documents(self.name, 1, self.documents, model)

    def replay(self, changes: Sequence[Change]) -> None:
        self._check()
        self.documents = dict(Documents(self.name, 1, self.documents).changed(changes).by_id)

    def publish(self) -> None:
        self._check()
        self.engine.live[self.site_id, self.index] = self._made()
        self.engine.damaged.discard((self.site_id, self.index))

    def discard(self) -> None:
        """What was never published is not live."""

    def _check(self) -> None:
        if self.engine.begun[self.site_id, self.index] is not self:
            raise SearchUnavailable("A later generation was begun. Rebuild.")


def preview(site_id: int, index: IndexName, documents: Documents) -> ReferenceEngine:
    engine = ReferenceEngine()
    engine.live[site_id, index] = documents
    return engine
