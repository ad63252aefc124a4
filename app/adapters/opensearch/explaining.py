"""Why a document stands where it stands: computed here, from its words as they are stored and the statistics of the
index, by the policy that the query was made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from itertools import pairwise
from math import log1p
from typing import Any

from app.adapters.opensearch import queries
from app.adapters.opensearch.lookups import Lookups
from app.adapters.opensearch.mapping import (
    BETWEEN_LEVELS,
    forms_field,
    roots_of,
    stored_number,
    stored_values,
)
from app.adapters.opensearch.matches import UnitMatch, match_together, match_words
from app.adapters.opensearch.matching import Found
from app.adapters.opensearch.ordering import WHOLE, Document, OrderedDocuments
from app.domain.search.engine import Explanation, FieldMatch, PlacedGroup, ScorePart, SearchRequest, Sort
from app.domain.search.ranking import scoring
from app.domain.search.ranking.parts import bonus_parts, readings, scaled_parts, unit_parts
from app.domain.search.ranking.query import Query, completions
from app.domain.search.ranking.scoring import FIELDS, TEXT_FIELDS
from app.domain.search.text import query_words
from app.domain.search.word_forms import root

_FIELD_OF = {forms_field(name): name for name in TEXT_FIELDS}  # Fields of text by those of their roots.


class StoredDocument:
    """A document as it is stored, and what words score in it."""

    def __init__(self, lookups: Lookups, source: Mapping[str, Any]) -> None:
        self._lookups, self.source = lookups, source

    @cached_property
    def fields(self) -> Mapping[str, Counter[str]]:
        """Return how often each field has each word, and each field of roots each root."""
        words = {name: self.source["words"][name].split(" ")[:-1] for name in FIELDS}  # The last is MARKER.
        roots = {forms_field(name): Counter(roots_of(words[name])) for name in TEXT_FIELDS}
        return {name: Counter(found) for name, found in words.items()} | roots

    def field_score(self, name: str, word: str) -> float:
        """Return what a word scores in one field, or a root in a field of roots, without the field's weight."""
        words = self.fields[name]
        if word not in words:
            return 0.0
        statistics, holders = self._lookups.field(name), self._lookups.holders(word).get(name, 0)
        idf = scoring.inverse_document_frequency(max(statistics.documents, 1), holders)
        if name in scoring.EXACT_FIELDS:
            return idf
        norm = scoring.length_norm(_FIELD_OF.get(name, name), words.total(), statistics.average)
        return idf * float(scoring.saturated(words[word], norm))

    def form_score(self, name: str, word: str) -> tuple[float, tuple[str, ...]]:
        """Return what the forms of a word score in a text field, and those that it has."""
        shared = root(word)
        if shared is None or not (score := self.field_score(forms_field(name), shared)):
            return 0.0, ()
        return score, tuple(sorted(form for form in self.fields[name] if root(form) == shared))

    def number(self, name: str) -> float | None:
        return stored_number(self.source, name)

    def is_in(self, group: PlacedGroup) -> bool:
        values = {one.name: stored_values(self.source, one.name) for one in (*group.values, *group.excluded)}
        numbers = {one.name: number for one in group.ranges if (number := self.number(one.name)) is not None}
        return group.holds(values, numbers)

    @property
    def sells(self) -> bool:
        return bool(self.source["is_sold"])


class Explainer:
    """Explains documents of one request."""

    def __init__(self, documents: OrderedDocuments) -> None:
        self._documents, self._index, self._lookups = documents, documents.index, documents.lookups
        self._request: SearchRequest = documents.request

    def explanation(self, document_id: str) -> Explanation:
        """Return why a document is, or is not, among the results."""
        one = queries.all_of([queries.one_of([document_id])])
        found = self._lookups.search({"query": one, "size": 1, "_source": WHOLE})
        words = query_words(self._request.words)
        if not found["hits"]["hits"]:
            return Explanation(words, False, None, None, (), words)
        (hit,) = found["hits"]["hits"]
        document = StoredDocument(self._lookups, hit["_source"])
        kept = self._documents.hit(document_id)
        if kept is None:
            return Explanation(words, True, None, None, *self._words_in(document))
        return self.explanation_of(kept, self._documents.rank(document_id))

    def explanation_of(self, hit: Document, rank: int | None) -> Explanation:
        """Return why one of the results, which comes with its whole source, has its rank; None is that of one far
        down."""
        document, answer = StoredDocument(self._lookups, hit["_source"]), self._documents.answer
        score = self._documents.score(hit) if answer else None
        return Explanation(
            query_words(self._request.words),
            True,
            rank,
            score,
            *self._words_in(document),
            self._parts(document, answer.found, score) if answer and score else (),
            self._placed(document),
            is_far_down=rank is None,
            by_meaning_alone=self._documents.is_by_meaning_alone(document.source["id"]),
        )

    def _placed(self, document: StoredDocument) -> str | None:
        request = self._request
        is_by_relevance = request.sort is Sort.RELEVANCE
        is_last = request.ranking.sold_out_last and not document.sells and is_by_relevance
        may_boost = document.source["id"] not in self._documents.alone
        groups = [one for one in request.groups if is_by_relevance and (may_boost or not one.is_boosted)]
        group = next((one for one in groups if document.is_in(one)), None)
        placed = self._documents.placement.placed(document.source["id"], group)
        return placed or ("sold_out" if is_last else None)

    # Words

    def _words_in(self, document: StoredDocument) -> tuple[tuple[FieldMatch, ...], tuple[str, ...]]:
        """Return the words that each field has, and the words that the document lacks."""
        fields: dict[str, dict[str, None]] = {}
        missing: list[str] = []
        answer = self._documents.answer
        for unit in answer.found.units if answer else ():
            found = list(self._found_in(unit, document, answer.query)) if answer else []
            for word, name in found:
                fields.setdefault(name, {})[word] = None
            if not unit.match.score_in(document.field_score):
                present = {word for word, _ in found}
                missing += [word for word in unit.words if word not in present]
        return tuple(FieldMatch(name, tuple(words)) for name, words in fields.items()), tuple(missing)

    def _found_in(self, unit: UnitMatch, document: StoredDocument, query: Query) -> Iterator[tuple[str, str]]:
        """Yield (word, field) for the words themselves, and for those of alternatives that the document has whole."""
        for words in (unit.words, *unit.alternatives):
            exact = query.exact if words == unit.words else frozenset()
            together = match_together(words, match_words(words, exact), query)
            if words == unit.words or together.score_in(document.field_score):
                for word in words:
                    yield from ((word, name) for name in self._fields_with(word, unit, document, query))

    def _fields_with(self, word: str, unit: UnitMatch, document: StoredDocument, query: Query) -> list[str]:
        readings = {word, *(a + b for a, b in pairwise(query.words) if word in (a, b))}
        if unit.own is None and word == query.words[-1] and unit.match.score_in(document.field_score):
            readings |= set(completions(word, self._index.vocabulary))
        shared = None if word in query.exact and word in unit.words else root(word)
        formed = {name for field, name in _FIELD_OF.items() if shared in document.fields[field]}
        return [name for name in FIELDS if name in formed or not readings.isdisjoint(document.fields[name])]

    # Parts of the score

    def _parts(self, document: StoredDocument, found: Found, score: float) -> tuple[ScorePart, ...]:
        """Return what the score is made of, the largest first."""
        fusion = self._documents.fusion
        meaning = fusion.by_meaning.get(document.source["id"], 0.0) if fusion else 0.0
        if fusion and document.source["id"] in fusion.alone:
            return (ScorePart("meaning", None, (), score),)
        query, raw = found.query, [*bonus_parts(found.query.words, document.field_score)]
        for unit in found.units:
            longer = partial(completions, vocabulary=self._index.vocabulary)
            ways = readings(unit.words, unit.alternatives, query.words, longer, query.exact)
            worth = unit.match.score_in(document.field_score)
            raw += unit_parts(worth, ways, document.field_score, document.form_score)
        parts = scaled_parts(raw, list(self._lifts(document, found).items()), score - meaning)
        parts += [ScorePart("meaning", None, (), meaning)] if meaning and parts else []
        return tuple(sorted(parts, key=lambda part: -part.worth))

    def _lifts(self, document: StoredDocument, found: Found) -> dict[str, float]:
        """Return the factors of the score, by the kind of part that each shows as."""
        lifts, source = self._index.lifts(found), document.source
        is_named = lifts.named is not None and lifts.named in source["phrases"]
        factors = {
            "level": 1.0 if is_named else lifts.levels.get(source["kind"], 1.0),
            "level_name": scoring.LIFT_BY_NAME if is_named else 1.0,
        }
        weights = self._request.ranking.weights
        for kind, share in _shares(document, lifts.most_sold, self._request.day).items():
            factors[kind] = float(scoring.lift(weights[kind], share))
        return factors | _learned(source, self._request)


def _shares(document: StoredDocument, most_sold: float, day: int) -> dict[str, float]:
    created, sold = document.number(scoring.CREATED), log1p(document.number(scoring.SALES) or 0.0)
    has_few = document.number(scoring.LOW_STOCK) is not None
    return {
        "sales": scoring.sales_share(sold, most_sold) if most_sold else 0.0,
        "newness": 0.0 if created is None else float(scoring.newness_share(created, day)),
        "stock": scoring.stock_share(document.sells, has_few),
    }


def _learned(source: Mapping[str, Any], request: SearchRequest) -> dict[str, float]:
    documents, levels = dict(request.learned.documents), dict(request.learned.levels)
    own = source["kind"].split(BETWEEN_LEVELS)
    return {
        "learned": documents.get(source["id"], 1.0),
        "learned_level": max((levels[level] for level in own if level in levels), default=1.0),
    }
