"""The documents that a search finds, as `ranking.spelling` works with them, and how each of them scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import log1p
from typing import Any

from app.adapters.opensearch import queries
from app.adapters.opensearch.lookups import Answer, Lookups, total_of
from app.adapters.opensearch.mapping import Body, as_json, numbers_field
from app.adapters.opensearch.matches import (
    EVERY_FIELD,
    Best,
    Holders,
    UnitMatch,
    match_beginning,
    match_units,
    match_words,
    plain_units,
)
from app.adapters.opensearch.tiers import TierEnds
from app.adapters.opensearch.vocabulary import IndexVocabulary
from app.domain.search.engine import SearchRequest
from app.domain.search.ranking import scoring, spelling
from app.domain.search.ranking.query import ENOUGH, FEW, Query, fewest_words
from app.domain.search.ranking.spelling import Corrections, one_edit_away
from app.domain.search.text import joined

MOST_TERMS = 400  # Of a query, beyond which it names only the fields that have a word.

BETWEEN = 0.995  # Of the least score of a tier: the best of the next is at most scoring.DEMOTION of it.


@dataclass(frozen=True, slots=True)
class Found:
    """What a reading of the words finds in the scope of a request. `fewest` is how many of the required units match,
    None for all; `full` are the documents that have all of them, None where all that are found do. `answered` are
    words that an alternative answers for."""

    count: int
    query: Query
    units: tuple[UnitMatch, ...]
    fewest: int | None = None
    full: tuple[str, ...] | None = None
    answered: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return self.count

    @property
    def condition(self) -> Body:
        return queries.having(self.units, self.query, self.fewest)


@dataclass(frozen=True, slots=True)
class Lifts:
    """What lifts the scores of one search: the phrase that names a level, factors by kind, and the most that one
    product sold, as a logarithm."""

    named: str | None
    levels: Mapping[str, float]
    most_sold: float


class Index:
    """One index within the scope of a request."""

    def __init__(self, lookups: Lookups, request: SearchRequest) -> None:
        self._lookups, self.request = lookups, request
        self.vocabulary = IndexVocabulary(lookups)

    def find(self, query: Query, *, prefix_last: bool) -> Found:
        if self.request.is_typing and prefix_last:
            self._lookups.ahead(lambda: self._unfinished(query))
        found = self._with_all(query, plain_units(query, None))
        if len(found) < FEW:
            self._look_ahead(query, is_nothing=not len(found), last_may_go_on=prefix_last)
        may_go_on = prefix_last and (self.request.is_typing or len(found) < ENOUGH)
        last = self._unfinished(query) if may_go_on else None
        if last is not None or query.alternatives:
            found = self._with_all(query, match_units(query, last, apart=False))
        if 0 < len(found) < FEW and query.may_relax and not self.is_code(query):
            hits = self._first_results(found)["hits"]["hits"]
            return replace(self.find_fewer(query, last), full=tuple(hit["fields"]["id"][0] for hit in hits))
        return found

    def is_code(self, query: Query) -> bool:
        """Return whether all words together are the code of a document."""
        return bool(self._lookups.count(queries.has_code(joined(query.words)), 0))

    def _look_ahead(self, query: Query, *, is_nothing: bool, last_may_go_on: bool) -> None:
        """Have, beside what decides, what is next where that finds no more: other spellings, and fewer words."""
        ahead, right = self._lookups.ahead, self.request.optional
        if is_nothing and self.request.suggest:
            ahead(lambda: self.corrections(query, right, last_may_go_on=last_may_go_on))
            ahead(lambda: self.slips(query, right))
        if is_nothing or query.may_relax:
            ahead(lambda: self.is_code(query))
            ahead(lambda: self._first_results(self.find_fewer(query)))

    def find_fewer(self, query: Query, last: Best | None = None) -> Found:
        """Return the documents with the most of the words. How many may be missing is decided without alternatives, so
        that these leave out nothing."""
        units, plain = self._pruned(query, match_units(query, last, apart=True)), plain_units(query, last)
        most = len(query.required([unit.words for unit in units]))
        counts = self._counts(units, query, most)
        decisive = self._counts(plain, query, most) if query.alternatives else counts
        fewest = fewest_words([0, *(decisive if any(decisive) else counts), *[0] * (len(units) - most)])
        return Found(counts[fewest - 1], query, units, fewest, (), self._answered(units))

    def _counts(self, units: Sequence[UnitMatch], query: Query, most: int) -> list[int]:
        """Return how many documents have at least 1, 2 and so on of the required units."""
        at_least = {str(least): queries.having(units, query, least) for least in range(1, most + 1)}
        aggs = {"at least": {"filters": {"filters": at_least}}}
        some = queries.matching(self.request.scope, queries.all_of([at_least["1"]]))
        buckets = self._lookups.search({"query": some, "size": 0, "aggs": aggs})["aggregations"]["at least"]["buckets"]
        return [buckets[str(least)]["doc_count"] for least in range(1, most + 1)]

    def _with_all(self, query: Query, units: tuple[UnitMatch, ...]) -> Found:
        found = Found(0, query, self._pruned(query, units))
        return replace(found, count=total_of(self._first_results(found)), answered=self._answered(found.units))

    def _answered(self, units: Sequence[UnitMatch]) -> frozenset[str]:
        answered: set[str] = set()
        for unit in units:
            if unit.own is not None and self._lookups.count(unit.match.condition(), 1):
                answered.update(unit.words)
        return frozenset(answered)

    def _unfinished(self, query: Query) -> Best | None:
        """Return what the last word matches as the beginning of longer ones; None where that is no more."""
        longer = self.vocabulary.longer(query.words[-1], is_typing=self.request.is_typing)
        last, match = match_beginning(query, longer), match_words(query.words, query.exact)[-1]
        more = {"bool": {"filter": [last.condition()], "must_not": [match.condition()]}}
        return last if longer and self._lookups.count(more, 1) else None

    def corrections(self, query: Query, right: frozenset[str], *, last_may_go_on: bool) -> Corrections:
        for word in query.words:
            if word not in right and not self.vocabulary.documents_with([word]):
                self.vocabulary.look_ahead(word)
        return spelling.corrections(query.words, self.vocabulary, right, last_may_go_on=last_may_go_on)

    def slips(self, query: Query, right: frozenset[str]) -> Corrections:
        self._lookups.want_words(query.words)
        for word in query.words:
            self._lookups.ahead(partial(self.vocabulary.known, one_edit_away(word)))
        return spelling.slips(query.words, self.vocabulary, right)

    def written(self, word: str) -> str:
        answer = self._lookups.search(queries.names_with(word))
        return spelling.written_form(word, [hit["fields"]["name"][0] for hit in answer["hits"]["hits"]])

    # Scores

    def scored(self, found: Found) -> Body:
        """Return the query for what is found, with its scores."""
        lifted, tiers = self._lifted(found), self._tiers(found)
        return lifted if tiers is None else queries.demoted(lifted, tiers.factors())

    def tiers(self, found: Found) -> list[float]:
        """Return scores that the documents of each tier reach, and those of no lower one; none for the last tier. Where
        documents lack some of the words, those with alternatives alone are no tier of their own."""
        tiers = self._tiers(found)
        if tiers is None or (found.full is not None and not found.full):
            return []
        lows = tiers.lows_of_full() if found.full else tiers.lows()
        return [BETWEEN * low for low in lows]

    def _tiers(self, found: Found) -> TierEnds | None:
        """Return the scores of the tiers; None where all that is found is alike."""
        tiers, full = queries.tiers_of(found.query, found.units, found.fewest), found.full or ()
        if not tiers and not full:
            return None
        tiers = tiers or [queries.Tier(None, 0, queries.EVERYTHING)]
        answer = self._lookups.search(queries.extremes(self.request.scope, self._lifted(found), tiers, full))
        return TierEnds.of(tiers, answer["aggregations"], full)

    def lifts(self, found: Found) -> Lifts:
        answer, names = self._first_results(found), _names(found.query)
        named = (name for place, name in enumerate(names) if answer["aggregations"][str(place)]["doc_count"])
        phrase = next(named, None)
        return Lifts(None if phrase is None else " ".join(phrase), _levels(answer["hits"]["hits"]), self._most_sold)

    def _lifted(self, found: Found) -> Body:
        return queries.lifted(self._word_scores(found), self._script_lifts(self.lifts(found)))

    def _script_lifts(self, lifts: Lifts) -> dict[str, object]:
        weights = {kind: scoring.LIFTS[weight] for kind, weight in self.request.ranking.weights.items()}
        learned = self.request.learned
        return {
            "named": lifts.named,
            "levels": dict(lifts.levels),
            "most_sold": lifts.most_sold,
            **weights,
            "day": self.request.day,
            "documents": dict(learned.documents),
            "learned_levels": dict(learned.levels),
        }

    @cached_property
    def _most_sold(self) -> float:
        """Return the logarithm of the units that the best seller sold. The cluster remembers the answer until the index
        changes."""
        if not scoring.LIFTS[self.request.ranking.sales]:
            return 0.0
        body = {"size": 0, "aggs": {"most": {"max": {"field": numbers_field(scoring.SALES)}}}}
        return log1p(self._lookups.search(body)["aggregations"]["most"]["value"] or 0.0)

    def _first_results(self, found: Found) -> Answer:
        made_of = "first results", self.request.scope, found.query, found.units, found.fewest
        return self._lookups.search(self._lookups.remembered(made_of, lambda: self._searching_first_results(found)))

    def _searching_first_results(self, found: Found) -> str:
        scored = self._word_scores(found)
        return as_json(queries.first_results(self.request.scope, scored, _names(found.query)))

    def _word_scores(self, found: Found) -> Body:
        made_of = found.query, found.units, found.fewest
        return self._lookups.remembered(
            made_of, lambda: queries.word_scores(found.query, found.units, self._holders(found.units), found.fewest)
        )

    def _pruned(self, query: Query, units: tuple[UnitMatch, ...]) -> tuple[UnitMatch, ...]:
        holders = self._holders(units)
        if holders is _every_field:
            return units
        return queries.shortened(query, [unit.pruned(holders) for unit in units])

    def _holders(self, units: Sequence[UnitMatch]) -> Holders:
        """Return which fields have a word: all may, where the words are so few that the cluster finds out."""
        words = [word for unit in units for word in unit.match.words()]
        if len(words) * len(scoring.FIELDS) <= MOST_TERMS:
            return _every_field
        self._lookups.want_words(words)
        return self._fields_with

    def _fields_with(self, word: str) -> Sequence[str]:
        return list(self._lookups.holders(word))


def _every_field(word: str) -> Sequence[str]:
    return EVERY_FIELD


def _names(query: Query) -> list[scoring.Phrase]:
    """Return the phrases that may name a level, the likelier first."""
    names = scoring.phrase_of(query.words), scoring.phrase_of(query.words, query.optional)
    return [name for name in dict.fromkeys(names) if name]


def _levels(first: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return what the kinds of the first results multiply scores by."""
    evidence: Counter[str] = Counter()
    for hit in first:
        if kind := hit["fields"]["kind"][0]:
            evidence[kind] += hit["_score"] ** 2
    total = sum(evidence.values())
    return {kind: scoring.lift_by_share(sum_, total) for kind, sum_ in evidence.items() if total}
