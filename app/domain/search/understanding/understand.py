"""Understand a search: find the prices, numbers with units, values, brands and the kind of product within its words.
Pure.

Words are understood only where they can mean one thing for the products of the level that the search is about; without
a level, only what the listing of all products filters by. Everything else is left as words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from app.domain.search.text import LINKING_WORDS, MAX_CHARACTERS
from app.domain.search.understanding.numbers import read_number
from app.domain.search.understanding.parts import (
    FilterPart,
    LeftWords,
    PartKind,
    Understanding,
    first_of_each_facet,
)
from app.domain.search.understanding.quantities import (
    Quantity,
    Token,
    is_minus,
    quoted_tokens,
    read_quantities,
    read_tokens,
)
from app.domain.search.understanding.vocabulary import (
    LEVEL,
    MANUFACTURER,
    SIZE,
    AttributeValue,
    LevelFacts,
    Vocabulary,
)

FactsOf = Callable[[str | None], LevelFacts]
# What follows one of these is not the thing itself but what it is for, or what it has not.
PURPOSE = frozenset(("for", "with", "compatible", "fits", "fit", "to"))
NEGATION = frozenset(("without", "no", "not", "non", "except", "excluding"))
NOT_ITSELF = "It says what the product is for, or what it has not."
CLEARLY_MORE = 4  # Times as many products by which one of two meanings of a word is the one meant.
MOST_TOKENS = 40
MOST_MENTIONS = 3


@dataclass(slots=True)
class _Reading:
    """A search while it is read: which of its tokens are not understood yet."""

    text: str
    tokens: Sequence[Token]
    free: list[bool]
    quoted: Sequence[bool]
    parts: list[FilterPart] = field(default_factory=list)
    left: list[LeftWords] = field(default_factory=list)

    def take(self, first: int, end: int) -> None:
        self.free[first:end] = [False] * (end - first)

    def text_of(self, first: int, end: int) -> str:
        return self.text[self.tokens[first].start : self.tokens[end - 1].end]

    def leave(self, first: int, end: int, reason: str) -> None:
        self.left.append(LeftWords(self.text_of(first, end), reason))

    def add(self, kind: PartKind, first: int, end: int, one: AttributeValue, shown: str = "") -> None:
        start, stop = self.tokens[first].start, self.tokens[end - 1].end
        name = shown or ("yes" if one.value == "true" else one.value)
        text = self.text_of(first, end)
        self.parts.append(FilterPart(kind, one.facet_id, one.label, name, text, start, stop, one.value))
        self.take(first, end)

    def understanding(self, level_id: str | None) -> Understanding:
        return Understanding(self.text, first_of_each_facet(self.parts), tuple(self.left), level_id)

    def is_other(self, place: int) -> bool:
        """Whether a token is a word or a number that is neither understood nor only links others; one in quotes is."""
        token = self.tokens[place]
        is_linking = token.word in LINKING_WORDS or token.word in NEGATION
        is_unknown = self.free[place] and (token.is_number or (token.is_word and not is_linking))
        return self.quoted[place] or is_unknown


@dataclass(frozen=True, slots=True)
class _Mention:
    """The name of a level within a search, from the token `first` to before `end`."""

    first: int
    end: int
    level_id: str


def understand(words: str, vocabulary: Vocabulary, facts_of: FactsOf) -> Understanding:
    """Return what a search means; words in double quotes are searched as they are. `facts_of` returns the facts of a
    level by its id, and of all products for None."""
    text = words[:MAX_CHARACTERS]
    tokens = read_tokens(text)[:MOST_TOKENS]
    quoted = quoted_tokens(text, tokens)
    quantities = [one for one in read_quantities(tokens, vocabulary.currency) if not any(quoted[one.first : one.end])]
    mentions = _mentions(tokens, quantities, vocabulary, quoted)
    readings = [
        (reading, facts, mention)
        for mention in mentions
        if (facts := facts_of(mention.level_id)).products
        and _is_last(reading := _read(text, tokens, quoted, quantities, vocabulary, facts, mention), mention)
    ]
    if readings:
        # The last name is the thing itself, unless another one makes more sense of the numbers beside it.
        reading, facts, mention = max(readings, key=lambda one: (len(one[0].parts), one[2].first))
        _add_level(reading, facts, mention)
        return reading.understanding(mention.level_id)
    reading = _read(text, tokens, quoted, quantities, vocabulary, facts_of(None), None)
    for mention in mentions[:1]:
        reading.leave(mention.first, mention.end, "It is not the kind of product that the search is about.")
    return reading.understanding(None)


def _add_level(reading: _Reading, facts: LevelFacts, mention: _Mention) -> None:
    """Add the kind of product as a filter beside another one. Alone it stays words, by which its products rank first,
    and those of other kinds that fit follow."""
    if reading.parts:
        level = AttributeValue(LEVEL, "Kind", mention.level_id, facts.products)
        reading.add(PartKind.LEVEL, mention.first, mention.end, level, facts.name)
    else:
        reading.leave(
            mention.first, mention.end, "A kind of product alone is searched by its name, which ranks it first."
        )


def _mentions(
    tokens: Sequence[Token], quantities: Iterable[Quantity], vocabulary: Vocabulary, quoted: Sequence[bool]
) -> list[_Mention]:
    """Return the names of levels that are not what the thing is for, the last one first; a name of several levels is
    none of them."""
    free = [not is_quoted for is_quoted in quoted]
    for quantity in quantities:
        free[quantity.first : quantity.end] = [False] * (quantity.end - quantity.first)
    found: list[_Mention] = []
    place = 0
    while place < len(tokens):
        named = vocabulary.levels.longest_at(tokens, place, free)
        if named is None:
            place += 1
            continue
        end, levels = named
        if len(levels) == 1 and _stands_for_itself(tokens, place):
            found.append(_Mention(place, end, levels[0]))
        place = end
    return found[::-1][:MOST_MENTIONS]


def _stands_for_itself(tokens: Sequence[Token], place: int) -> bool:
    if place == 0:
        return True
    before = tokens[place - 1]
    return before.word not in PURPOSE | NEGATION and not is_minus(before, tokens[place])


def _is_last(reading: _Reading, mention: _Mention) -> bool:
    """Whether the name of a level is followed by nothing, or by what is understood: in "laptop stand" it is not."""
    after = mention.end
    return after >= len(reading.tokens) or not reading.is_other(after)


def _read(
    text: str,
    tokens: Sequence[Token],
    quoted: Sequence[bool],
    quantities: Sequence[Quantity],
    vocabulary: Vocabulary,
    facts: LevelFacts,
    mention: _Mention | None,
) -> _Reading:
    """Return the search with its quantities and values read for products of a level."""
    reading = _Reading(text, tokens, [not is_quoted for is_quoted in quoted], quoted)
    if mention is not None:
        reading.take(mention.first, mention.end)
    for quantity in quantities:
        reading.take(quantity.first, quantity.end)
    for quantity in quantities:
        read = read_number(text, tokens, quantity, facts, vocabulary.currency, reading.free)
        if read.part is not None:
            reading.parts.append(read.part)
            reading.take(read.first, read.end)
        elif read.left is not None:
            reading.left.append(read.left)
    _read_values(reading, facts, vocabulary)
    _read_brands(reading, facts, mention)
    return reading


def _read_values(reading: _Reading, facts: LevelFacts, vocabulary: Vocabulary) -> None:
    place = 0
    while place < len(reading.tokens):
        named = facts.values.longest_at(reading.tokens, place, reading.free)
        if named is None:
            place += 1
            continue
        end, values = named
        if _names_level(reading, place, end, facts, vocabulary):
            pass  # Its own name once more says nothing new.
        elif facts.values.goes_on(reading.tokens, place, end, reading.free):
            reading.leave(place, end, "It is the beginning of another value.")
        elif _stands_for_itself(reading.tokens, place):
            _add_value(reading, place, end, values, facts)
        else:
            reading.leave(place, end, NOT_ITSELF)
        reading.take(place, end)  # Also where it is left as words, it stands in the way of no other.
        place = end


def _names_level(reading: _Reading, place: int, end: int, facts: LevelFacts, vocabulary: Vocabulary) -> bool:
    named = vocabulary.levels.longest_at(reading.tokens, place, reading.free)
    return named is not None and named[0] >= end and facts.level_id in named[1]


def _add_value(reading: _Reading, place: int, end: int, values: Sequence[AttributeValue], facts: LevelFacts) -> None:
    brands = facts.brands.longest_at(reading.tokens, place, reading.free)
    if brands is not None and brands[0] >= end:
        reading.leave(place, end, f"It is a brand and a value of {values[0].label}.")
        return
    one = _the_one(values, facts)
    if one is None:
        labels = " or ".join(sorted({value.label for value in values}))
        reading.leave(place, end, f"It may be {labels}.")
        return
    if one.is_rare:
        reading.leave(place, end, f"Fewer than three in four of {facts.name or 'all products'} have {one.label}.")
        return
    is_size = reading.tokens[place].word == SIZE and end > place + 1
    reading.add(PartKind.SIZE if is_size else PartKind.VALUE, place, end, one)


def _the_one(values: Sequence[AttributeValue], facts: LevelFacts) -> AttributeValue | None:
    """Return the value meant: the only one, the only one of a filter that is shown, or one that clearly more products
    have; None where it may be any."""
    if len(values) == 1:
        return values[0]
    shown = [value for value in values if value.facet_id in facts.shown]
    if len(shown) == 1:
        return shown[0]
    first, second = sorted(values, key=lambda value: -value.count)[:2]
    return first if first.count >= CLEARLY_MORE * second.count else None


def _read_brands(reading: _Reading, facts: LevelFacts, mention: _Mention | None) -> None:
    """Add the brand, where it can be nothing else than the maker: beside the name of the level, with nothing unknown
    between them, or without a level where nothing else is left."""
    place = 0
    while place < len(reading.tokens):
        named = facts.brands.longest_at(reading.tokens, place, reading.free)
        if named is None:
            place += 1
            continue
        end, brands = named
        reason = _why_no_brand(reading, place, end, brands, mention)
        if reason:
            reading.leave(place, end, reason)
        else:
            reading.add(PartKind.BRAND, place, end, brands[0])
        place = end


def _why_no_brand(
    reading: _Reading, place: int, end: int, brands: Sequence[AttributeValue], mention: _Mention | None
) -> str:
    """Return why a name of a brand is not the maker that is meant; empty where it is."""
    if any(part.facet_id == MANUFACTURER for part in reading.parts):
        return "Another brand is named before it."
    if not _stands_for_itself(reading.tokens, place):
        return NOT_ITSELF
    if any(part.text.casefold() == brands[0].value.casefold() for part in reading.parts) or len(brands) > 1:
        return "It may mean something else."
    if mention is None:
        others = [other for other in range(len(reading.tokens)) if not place <= other < end]
        return "Other words stand beside it." if any(map(reading.is_other, others)) else ""
    between = range(end, mention.first) if end <= mention.first else range(mention.end, place)
    return "Other words stand between it and the kind of product." if any(map(reading.is_other, between)) else ""
