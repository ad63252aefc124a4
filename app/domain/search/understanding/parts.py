"""The outcome of understanding a search: its parts that are filters, what was left as words, and what remains to be
searched. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice
from typing import Any, ClassVar

from app.domain.search.engine import RangeFilter, ValueFilter
from app.domain.search.text import query_words, tokens

PRICE = "price"
YES = "true"
MOST_PARTS = 8


class UnderstandingMode(StrEnum):
    """SUGGESTED: shoppers see what a search may mean and apply it with a click; ON: it is applied."""

    OFF = "off"
    SUGGESTED = "suggested"
    ON = "on"


class PartKind(StrEnum):
    PRICE = "price"
    NUMBER = "number"
    SIZE = "size"
    VALUE = "value"
    BRAND = "brand"
    LEVEL = "level"

    @property
    def keeps_words(self) -> bool:
        """Whether its words are searched as well: they stand in the texts of the products that the filter keeps."""
        return self in (PartKind.BRAND, PartKind.LEVEL, PartKind.VALUE)


@dataclass(frozen=True, slots=True)
class FilterPart:
    """A part of a search that is a filter: `text`, the characters from `start` to before `end`, means `value` or the
    numbers between `low` and `high` of a facet; prices in minor units. `label` and `shown` name it to people.
    `is_chosen`: the shopper chose a filter by the facet, which takes its place."""

    kind: PartKind
    facet_id: str
    label: str
    shown: str
    text: str
    start: int
    end: int
    value: str | None = None
    low: float | None = None
    high: float | None = None
    is_chosen: bool = False

    @property
    def is_range(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class LeftWords:
    """Words that look like a filter and were left as words, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Understanding:
    """What the words of a search mean. `level_id` is the kind of product that they name, None where they name none."""

    NOTHING: ClassVar[Understanding]

    words: str = ""
    parts: tuple[FilterPart, ...] = ()
    left: tuple[LeftWords, ...] = ()
    level_id: str | None = None

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def facet_ids(self) -> frozenset[str]:
        return frozenset(part.facet_id for part in self.parts)

    @property
    def narrowing(self) -> tuple[FilterPart, ...]:
        """The parts that add a filter."""
        return tuple(part for part in self.parts if not part.is_chosen)

    def without_facets(self, facet_ids: Collection[str]) -> Understanding:
        """Return the same with the words of some facets left as words, and the kind of product too where it is then
        alone."""
        parts = tuple(part for part in self.parts if part.facet_id not in facet_ids)
        is_alone = all(part.kind is PartKind.LEVEL for part in parts)
        return replace(self, parts=() if is_alone else parts)

    def with_chosen(self, facet_ids: Collection[str]) -> Understanding:
        """Return the same where the shopper chose filters by some of the facets."""
        parts = (replace(part, is_chosen=True) if part.facet_id in facet_ids else part for part in self.parts)
        return replace(self, parts=tuple(parts))

    @property
    def chosen_alone(self) -> Understanding:
        """The same without what adds a filter."""
        return replace(self, parts=tuple(part for part in self.parts if part.is_chosen))

    @property
    def searched(self) -> str:
        """The words that are left to be searched, in their order."""
        return " ".join(" ".join(text for text, is_taken in self._pieces() if not is_taken).split())

    def with_taken_words(self, respelled: str) -> str:
        """Return another spelling of the words that are searched with the words that were taken out, in their places;
        behind them where the spelling has more words or fewer."""
        pieces, words = self._pieces(), respelled.split()
        taken = [text for text, is_taken in pieces if is_taken]
        if len(words) != len(self.searched.split()):
            return " ".join([*words, *taken])
        rest = iter(words)
        placed = (text if is_taken else " ".join(islice(rest, len(text.split()))) for text, is_taken in pieces)
        return " ".join(" ".join(placed).split())

    def keep_understood_words(self, respelled: str) -> str | None:
        """Return another spelling of all the words with those as typed that say a price, a number or a size; None where
        no other word changes."""
        typed, words = tokens(self.words), tokens(respelled)
        taken = [is_taken for text, is_taken in self._pieces() for _ in tokens(text)]
        if not len(typed) == len(words) == len(taken):
            return respelled
        kept = [own if is_taken else new for own, new, is_taken in zip(typed, words, taken, strict=True)]
        if kept == words:
            return respelled
        return " ".join(kept) if kept != typed else None

    def _pieces(self) -> list[tuple[str, bool]]:
        """Return the words in pieces, each with whether it was taken out."""
        pieces, place = [], 0
        for part in sorted(self.parts, key=lambda part: part.start):
            if not part.kind.keeps_words and part.start >= place:
                pieces += [(self.words[place : part.start], False), (self.words[part.start : part.end], True)]
                place = part.end
        return [*pieces, (self.words[place:], False)]

    @property
    def optional(self) -> frozenset[str]:
        """The words that a product with the filter may lack: yes has no word in its texts, other values stand there."""
        values = (part.text for part in self.parts if part.kind is PartKind.VALUE and part.value == YES)
        return frozenset(word for text in values for word in query_words(text))

    @property
    def filters(self) -> tuple[ValueFilter, ...]:
        """The filters by values, each facet once: any of its values will do."""
        values: dict[str, list[str]] = {}
        for part in self.narrowing:
            if part.value is not None:
                values.setdefault(part.facet_id, []).append(part.value)
        return tuple(ValueFilter(facet_id, tuple(sorted(set(chosen)))) for facet_id, chosen in values.items())

    @property
    def ranges(self) -> tuple[RangeFilter, ...]:
        return tuple(RangeFilter(part.facet_id, part.low, part.high) for part in self.narrowing if part.is_range)

    def as_json(self) -> dict[str, Any]:
        return {
            "searched": self.searched,
            "filters": [part_json(part) for part in self.parts],
            "leftAsWords": [{"words": one.text, "reason": one.reason} for one in self.left],
        }


Understanding.NOTHING = Understanding()


def part_json(part: FilterPart) -> dict[str, Any]:
    numbers_or_value = {"value": part.value, "from": part.low, "to": part.high}
    named = {"words": part.text, "kind": part.kind.value, "facetId": part.facet_id}
    return named | {"label": part.label, "shown": part.shown} | numbers_or_value


def first_of_each_facet(parts: Iterable[FilterPart]) -> tuple[FilterPart, ...]:
    """Return the parts without a second range of a facet, MOST_PARTS at most."""
    kept: list[FilterPart] = []
    for part in sorted(parts, key=lambda part: part.start):
        if not (part.is_range and any(one.facet_id == part.facet_id for one in kept)):
            kept.append(part)
    return tuple(kept[:MOST_PARTS])
