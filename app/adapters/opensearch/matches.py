"""What the words of a search match, before it is written as a query: words, their readings, and runs with alternatives.

A match can be written as a query that scores (`scored`), as a condition (`condition`), and computed for one document
(`score_in`), so that an explanation says what the query did. `pruned` is the same match without what nothing in an
index has. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.adapters.opensearch.mapping import Body, field_of, forms_field
from app.domain.search.ranking.query import Query, required_words
from app.domain.search.ranking.scoring import (
    ALTERNATIVE_WORTH,
    COMPOUND_WORTH,
    FIELDS,
    FORM_WORTH,
    PREFIX_WORTH,
    TEXT_FIELDS,
    field_weight,
)
from app.domain.search.word_forms import root

NOTHING: Body = {"match_none": {}}
# The fields in which some document has a word, and the fields of roots in which one has forms of the root.
Holders = Callable[[str], Sequence[str]]
WordScore = Callable[[str, str], float]  # What (field, word or root) scores in one document, 0 where it lacks it.


@dataclass(frozen=True, slots=True)
class Word:
    """The documents that have a word in any field. With `in_text` only those that have it in a field of text."""

    word: str
    in_text: bool = False

    def words(self) -> Iterator[str]:
        yield self.word

    def pruned(self, holders: Holders) -> Match:
        is_held = not (TEXT_FIELDS if self.in_text else _FIELDS).keys().isdisjoint(holders(self.word))
        return self if is_held else NO_MATCH

    def condition(self) -> Body:
        return {"term": {"vocabulary" if self.in_text else "any": self.word}}

    def scored(self, holders: Holders, worth: float = 1.0) -> Body:
        held = (field for field in holders(self.word) if field in _FIELDS)
        terms = [term(field_of(field), self.word, worth * field_weight(field)) for field in held]
        return {"bool": {"should": terms, **({"filter": [self.condition()]} if self.in_text else {})}}

    def score_in(self, score: WordScore) -> float:
        if self.in_text and not any(score(field, self.word) for field in TEXT_FIELDS):
            return 0.0
        return sum(field_weight(field) * score(field, self.word) for field in FIELDS)


@dataclass(frozen=True, slots=True)
class Forms:
    """The documents that have any form of a word in a text, counted as one word. `root` is what the forms share."""

    root: str

    def words(self) -> Iterator[str]:
        yield self.root

    def pruned(self, holders: Holders) -> Match:
        return NO_MATCH if _FORM_FIELDS.keys().isdisjoint(holders(self.root)) else self

    def condition(self) -> Body:
        return {"term": {"roots": self.root}}

    def scored(self, holders: Holders, worth: float = 1.0) -> Body:
        held = (field for field in holders(self.root) if field in _FORM_FIELDS)
        terms = [term(field, self.root, worth * field_weight(_FORM_FIELDS[field])) for field in held]
        return {"bool": {"should": terms}}

    def score_in(self, score: WordScore) -> float:
        return sum(field_weight(name) * score(field, self.root) for field, name in _FORM_FIELDS.items())


@dataclass(frozen=True, slots=True)
class Best:
    """The documents of any of the readings; each scores what it scores best, times the worth of the reading."""

    readings: tuple[tuple[Match, float], ...]

    def words(self) -> Iterator[str]:
        for match, _ in self.readings:
            yield from match.words()

    def pruned(self, holders: Holders) -> Best:
        kept = ((match.pruned(holders), worth) for match, worth in self.readings)
        return Best(tuple((match, worth) for match, worth in kept if match != NO_MATCH))

    def condition(self) -> Body:
        found = list(self._flat())
        plain = [match.word for match in found if isinstance(match, Word) and not match.in_text]
        roots = [match.root for match in found if isinstance(match, Forms)]
        others = [m.condition() for m in found if isinstance(m, Together) or (isinstance(m, Word) and m.in_text)]
        terms = [{"terms": {field: those}} for field, those in (("any", plain), ("roots", roots)) if those]
        return _any_of([*terms, *others])

    def _flat(self) -> Iterator[Word | Forms | Together]:
        for match, _ in self.readings:
            if isinstance(match, Best):
                yield from match._flat()
            else:
                yield match

    def scored(self, holders: Holders, worth: float = 1.0) -> Body:
        found = [match.scored(holders, worth * own) for match, own in self.readings]
        if len(found) < 2:
            return found[0] if found else NOTHING
        return {"dis_max": {"queries": found}}

    def scored_briefly(self, holders: Holders) -> Body:
        """Return the query with few clauses: all but the first reading score alike, as little as the least of them is
        worth."""
        if len(self.readings) < 2:
            return self.scored(holders)
        (first, worth), *others = self.readings
        alike = {"filter": Best(tuple(others)).condition(), "boost": min(worth for _, worth in others)}
        return {"dis_max": {"queries": [first.scored(holders, worth), {"constant_score": alike}]}}

    def score_in(self, score: WordScore) -> float:
        return max((worth * match.score_in(score) for match, worth in self.readings), default=0.0)


@dataclass(frozen=True, slots=True)
class Together:
    """The documents that all of `required` match, with the sum of the scores of these and of `others`."""

    required: tuple[Match, ...]
    others: tuple[Match, ...] = ()

    def words(self) -> Iterator[str]:
        for match in (*self.required, *self.others):
            yield from match.words()

    def pruned(self, holders: Holders) -> Match:
        required = tuple(match.pruned(holders) for match in self.required)
        others = (match.pruned(holders) for match in self.others)
        if NO_MATCH in required:
            return NO_MATCH
        return Together(required, tuple(match for match in others if match != NO_MATCH))

    def condition(self) -> Body:
        return {"bool": {"filter": [match.condition() for match in self.required]}}

    def scored(self, holders: Holders, worth: float = 1.0) -> Body:
        required = [match.scored(holders, worth) for match in self.required]
        return {"bool": {"must": required, "should": [match.scored(holders, worth) for match in self.others]}}

    def score_in(self, score: WordScore) -> float:
        required = [match.score_in(score) for match in self.required]
        return sum(required) + sum(match.score_in(score) for match in self.others) if all(required) else 0.0


Match = Word | Forms | Best | Together
NO_MATCH = Best(())
_FIELDS = dict.fromkeys(FIELDS)
_FORM_FIELDS = {forms_field(name): name for name in TEXT_FIELDS}
EVERY_FIELD = (*FIELDS, *_FORM_FIELDS)


@dataclass(frozen=True, slots=True)
class UnitMatch:
    """What one unit of a query matches. `own` is what its words match themselves, None without alternatives."""

    words: tuple[str, ...]
    match: Best
    own: Match | None = None
    alternatives: tuple[tuple[str, ...], ...] = ()

    def pruned(self, holders: Holders) -> UnitMatch:
        """Return what it matches in an index without the readings whose words no document has."""
        own = None if self.own is None else self.own.pruned(holders)
        return replace(self, match=self.match.pruned(holders), own=own)

    def cut(self, most: int) -> UnitMatch:
        """Return what it matches with so many alternatives at most."""
        return self if self.own is None else replace(self, match=Best(self.match.readings[: most + 1]))


def term(field: str, word: str, boost: float) -> Body:
    return {"term": {field: {"value": word, "boost": boost}}}


def _any_of(conditions: Sequence[Body]) -> Body:
    if not conditions:
        return NOTHING
    return conditions[0] if len(conditions) == 1 else {"bool": {"should": list(conditions)}}


def with_forms(word: str) -> Match:
    """Return what a word matches, itself or another form of it."""
    shared = root(word)
    return Word(word) if shared is None else Best(((Word(word), 1.0), (Forms(shared), FORM_WORTH)))


def match_words(words: Sequence[str], exact: frozenset[str] = frozenset()) -> list[Best]:
    """Return what each word matches, with its other forms unless it is among `exact`; two neighbouring words written as
    one in a text count for each of the two."""
    readings: list[list[tuple[Match, float]]]
    readings = [[(Word(word) if word in exact else with_forms(word), 1.0)] for word in words]
    for place, (first, second) in enumerate(pairwise(words)):
        for here in (place, place + 1):
            readings[here].append((Word(first + second, in_text=True), COMPOUND_WORTH))
    return [Best(tuple(own)) for own in readings]


def match_beginning(query: Query, longer: Sequence[str]) -> Best:
    """Return what the last word matches, itself or as the beginning of longer ones."""
    own = match_words(query.words, query.exact)[-1]
    return Best((*own.readings, *((Word(word), PREFIX_WORTH) for word in longer)))


def match_together(words: Sequence[str], matches: Sequence[Match], query: Query) -> Match:
    """Return what has all required words of a run."""
    names = required_words(words, query.optional)
    required = tuple(match for word, match in zip(words, matches, strict=True) if word in names)
    others = tuple(match for word, match in zip(words, matches, strict=True) if word not in names)
    return Together(required, others) if len(matches) > 1 else matches[0]


def plain_units(query: Query, last: Best | None) -> tuple[UnitMatch, ...]:
    """Return what each word matches by itself, without alternatives. `last` is what the last word matches as the
    beginning of longer ones."""
    return tuple(UnitMatch((word,), match) for word, match in zip(query.words, _begun(query, last), strict=True))


def match_units(query: Query, last: Best | None, *, apart: bool) -> tuple[UnitMatch, ...]:
    """Return what each unit matches, in the order of the words. `apart` is that of `Query.units`."""
    matches, begun = match_words(query.words, query.exact), _begun(query, last)
    units = []
    for unit in query.units(apart=apart):
        run = slice(unit.place, unit.place + len(unit.words))
        if unit.alternatives is None:
            units.append(UnitMatch(unit.words, begun[unit.place]))
            continue
        readings = [(match_together(unit.words, begun[run], query), 1.0)]
        for other in unit.alternatives:
            worth = ALTERNATIVE_WORTH * len(unit.words) / len(other)
            readings.append((match_together(other, match_words(other), query), worth))
        own = match_together(unit.words, matches[run], query)
        units.append(UnitMatch(unit.words, Best(tuple(readings)), own, unit.alternatives))
    return tuple(units)


def _begun(query: Query, last: Best | None) -> list[Best]:
    matches = match_words(query.words, query.exact)
    return [*matches[:-1], last] if last is not None else matches
