"""The vocabulary by which the words of a search are understood: names of levels, and for the level meant the values,
brands and numbers that its products have. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from app.domain.search.engine import RangeCount
from app.domain.search.text import stem
from app.domain.search.text import words as indexed_words
from app.domain.search.understanding.quantities import Quantity, Token, read_tokens
from app.domain.search.understanding.units import Unit, unit_named, usual_unit
from app.domain.shared.text import fold
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree

_BETWEEN_ITEMS = re.compile(r"\s+and\s+|\s*[,&/]\s*", re.IGNORECASE)
T = TypeVar("T")
Phrase = tuple[str, ...]
LONGEST_PHRASE = 5  # Words of a name or a value that is looked for.
MOST_VALUES = 300
SHORTEST_VALUE = 2  # Letters; the shorter ones are codes, such as Y and N.
LEAST_SHARE = 0.75  # Of the products of a level, with an attribute that is filtered by.
SIZE = "size"
MANUFACTURER, LEVEL = "manufacturer", "level"
YES = "true"
# Values that say nothing about a product when they stand among other words.
_EMPTY_VALUES = frozenset(("yes", "no", "none", "other", "others", "n/a", "not supported", "standard", "universal"))


class Phrasebook(Generic[T]):
    """Things by the words of their names."""

    def __init__(self, named: Iterable[tuple[Phrase, T]] = ()) -> None:
        self._things: dict[Phrase, list[T]] = {}
        for phrase, thing in named:
            if 0 < len(phrase) <= LONGEST_PHRASE and thing not in (known := self._things.setdefault(phrase, [])):
                known.append(thing)
        self._longest = max(map(len, self._things), default=0)
        self._beginnings = {phrase[:length] for phrase in self._things for length in range(2, len(phrase) + 1)}

    def __bool__(self) -> bool:
        return bool(self._things)

    def longest_at(self, tokens: Sequence[Token], place: int, free: Sequence[bool]) -> tuple[int, Sequence[T]] | None:
        """Return (the token after it, the things) of the longest phrase of free tokens that begins at a token."""
        last = place
        while last < len(tokens) and last - place < self._longest and free[last]:
            last += 1
        for end in range(last, place, -1):
            things = self._things.get(tuple(map(_key, tokens[place:end])))
            if things:
                return end, things
        return None

    def all_at(self, tokens: Sequence[Token], place: int) -> set[T]:
        """Return the things of every phrase that begins at a token."""
        last = min(len(tokens), place + self._longest)
        keys = tuple(map(_key, tokens[place:last]))
        return {thing for end in range(1, len(keys) + 1) for thing in self._things.get(keys[:end], ())}

    def goes_on(self, tokens: Sequence[Token], place: int, end: int, free: Sequence[bool]) -> bool:
        """Whether the tokens from `place` to before `end` are, with the free one after them, the beginning of a longer
        phrase, as "PCI" is before "Express" where there is a "PCI Express x16"."""
        is_followed = end < len(tokens) and free[end]
        return is_followed and tuple(map(_key, tokens[place : end + 1])) in self._beginnings


def _key(token: Token) -> str:
    return token.stem or token.text


def phrase_of(text: str) -> Phrase:
    """Return the tokens of a name as they are looked up."""
    return tuple(_key(token) for token in read_tokens(text))


@dataclass(frozen=True, slots=True)
class AttributeValue:
    """A value of an attribute, or a brand (`facet_id` manufacturer), and how many products have it. `is_rare`: most
    products of the level have no value of the attribute, so that it says little which of them fit."""

    facet_id: str
    label: str
    value: str
    count: int
    is_rare: bool = False


@dataclass(frozen=True, slots=True)
class AttributeNumbers:
    """The numbers of an attribute in its unit, None where that is not known. `words` are those of its name."""

    facet_id: str
    label: str
    unit: Unit | None
    low: float
    high: float
    words: frozenset[str] = frozenset()
    is_rare: bool = False

    def holds(self, low: float | None, high: float | None) -> bool:
        """Whether some of the numbers may lie between two ends."""
        return (low is None or low <= self.high) and (high is None or high >= self.low)


@dataclass(frozen=True, slots=True)
class LevelFacts:
    """The facts of the products of a level, or of all products for the listing without one (`level_id` None): how many
    they are, their values and brands by name, and their numbers. `shown` are the filters that every listing shows."""

    NOTHING: ClassVar[LevelFacts]

    level_id: str | None = None
    name: str = ""
    products: int = 0
    values: Phrasebook[AttributeValue] = field(default_factory=Phrasebook)
    brands: Phrasebook[AttributeValue] = field(default_factory=Phrasebook)
    numbers: tuple[AttributeNumbers, ...] = ()
    shown: frozenset[str] = frozenset()


LevelFacts.NOTHING = LevelFacts()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names of the levels of a taxonomy, each by its id, and the currency of the site."""

    levels: Phrasebook[str] = field(default_factory=Phrasebook)
    currency: str = "gbp"

    @classmethod
    def of(cls, tree: TaxonomyTree, currency: str) -> Vocabulary:
        named = [(phrase, level.id) for level in tree.levels.values() for phrase in level_phrases(level.names)]
        return cls(Phrasebook(named), currency)


def level_phrases(names: Iterable[str]) -> Iterator[Phrase]:
    """Yield the phrases that mean a level with these names. Of a list, an item that is no plural may only describe the
    last one, as in "USB and data cables", and means nothing by itself."""
    for name in names:
        items = _BETWEEN_ITEMS.split(name)
        for item in items:
            last = item.split()[-1:]
            if item is items[-1] or (last and stem(fold(last[0])) != fold(last[0])):
                yield phrase_of(item)


@dataclass(frozen=True, slots=True)
class Counts:
    """What the index counts for the products of a level: values of attributes, and numbers."""

    products: int
    values: Mapping[str, Sequence[tuple[str, int]]]
    ranges: Mapping[str, RangeCount]

    def is_rare(self, having: int) -> bool:
        """Whether so few products have an attribute that a filter by it would hide many that fit."""
        return having < LEAST_SHARE * self.products


def value_names(attributes: Mapping[str, Attribute]) -> Phrasebook[str]:
    """Return the ids of attributes by the words of their allowed values, and of those that are yes or no by their own
    name. An attribute with more than MOST_VALUES values lists codes and models, and is left out."""
    named = [(phrase_of(one.label), one.id) for one in attributes.values() if one.type is AttributeType.BOOLEAN]
    named += [
        (phrase_of(value), one.id)
        for one in attributes.values()
        if one.type.is_choice and len(one.allowed_values) <= MOST_VALUES
        for value in one.allowed_values
        if can_be_meant(value)
    ]
    named += [(phrase, one.id) for one in attributes.values() if is_size(one) for phrase in size_phrases(one)]
    return Phrasebook(named)


def is_size(attribute: Attribute) -> bool:
    """Whether the values of an attribute are sizes, which "size 9" names."""
    return attribute.type.is_choice and SIZE in indexed_words(attribute.name)


def size_phrases(attribute: Attribute) -> list[Phrase]:
    return [phrase for value in attribute.allowed_values for phrase in phrases_of_size(value)]


def phrases_of_size(value: str) -> list[Phrase]:
    """Return the phrases that mean a size: "size 9", and for "UK 9" also "size UK 9"."""
    phrase = phrase_of(value)
    return list(dict.fromkeys([(SIZE, *phrase), (SIZE, *phrase[-1:])]))


def mentioned_attributes(
    tokens: Sequence[Token],
    quantities: Iterable[Quantity],
    attributes: Mapping[str, Attribute],
    names: Phrasebook[str],
    level_name: str,
) -> frozenset[str]:
    """Return the ids of the attributes that a search may say something of: only these need to be counted."""
    dimensions = {quantity.unit.dimension for quantity in quantities if quantity.unit is not None}
    measured = [one for one in attributes.values() if one.type is AttributeType.NUMBER] if dimensions else []
    level_words = frozenset(indexed_words(level_name)) if measured else frozenset()
    units = {one.id: _unit_of(one, level_words) for one in measured}
    found = {id for id, unit in units.items() if unit is not None and unit.dimension in dimensions}
    return frozenset(found.union(*(names.all_at(tokens, place) for place in range(len(tokens)))))


def facts_of_level(
    level_id: str | None,
    name: str,
    attributes: Mapping[str, Attribute],
    counts: Counts,
    shown: frozenset[str] = frozenset(),
) -> LevelFacts:
    """Return the facts of a level from its attributes and the counts of its products."""
    values = [
        (phrase_of(text), one)
        for attribute in attributes.values()
        for text, one in _values_of(attribute, counts.values.get(attribute.id, ()), counts)
    ]
    makers = [AttributeValue(MANUFACTURER, "Brand", maker, n) for maker, n in counts.values.get(MANUFACTURER, ()) if n]
    level_words = frozenset(indexed_words(name))
    numbers = [
        one
        for attribute in attributes.values()
        if attribute.id in counts.ranges
        and (one := _numbers_of(attribute, level_words, counts.ranges[attribute.id], counts)) is not None
    ]
    brands = Phrasebook((phrase_of(maker.value), maker) for maker in makers)
    return LevelFacts(level_id, name, counts.products, Phrasebook(values), brands, tuple(numbers), shown)


def _values_of(
    attribute: Attribute, counted: Sequence[tuple[str, int]], counts: Counts
) -> Iterable[tuple[str, AttributeValue]]:
    """Yield (words, value) of the counted values that words can mean: of yes and no, yes by the attribute's name."""
    is_rare = counts.is_rare(sum(count for _, count in counted))
    for value, count in counted:
        one = AttributeValue(attribute.id, attribute.label, value, count, is_rare)
        if attribute.type is AttributeType.BOOLEAN:
            if value == YES and count:
                yield attribute.label, one
        elif count and can_be_meant(value):
            yield value, one
        if count and is_size(attribute):
            yield from ((" ".join(phrase), one) for phrase in phrases_of_size(value))


def can_be_meant(value: str) -> bool:
    """Whether a value means something when it stands among other words; numbers without a name do not."""
    letters = sum(map(str.isalpha, value))
    return letters >= SHORTEST_VALUE and value.casefold() not in _EMPTY_VALUES


def _numbers_of(
    attribute: Attribute, level_words: frozenset[str], counted: RangeCount, counts: Counts
) -> AttributeNumbers | None:
    if counted.low is None or counted.high is None:
        return None
    unit = _unit_of(attribute, level_words, counted.high)
    words = frozenset(indexed_words(f"{attribute.name} {attribute.label}"))
    is_rare = counts.is_rare(counted.count)
    return AttributeNumbers(attribute.id, attribute.label, unit, counted.low, counted.high, words, is_rare)


def _unit_of(attribute: Attribute, level_words: frozenset[str], largest: float | None = None) -> Unit | None:
    """Return the unit that the taxonomy names, else the one with which the id ends, else the usual one."""
    unit = unit_named(attribute.unit) or _unit_in_id(attribute.id)
    if unit is None and not attribute.unit:
        return usual_unit(attribute.name.casefold(), level_words, largest)
    return unit


def _unit_in_id(attribute_id: str) -> Unit | None:
    """Return the unit with which an id such as `weight-g` ends."""
    name, dash, ending = attribute_id.rpartition("-")
    return unit_named(ending) if dash and name else None
