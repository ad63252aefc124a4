"""Conditions on the documents of an index, by which a listing is narrowed and groups of documents are named. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ValueFilter:
    """Keeps documents that carry any of `values` under `name`. No values: nothing is kept."""

    name: str
    values: tuple[str, ...]

    def keeps(self, values: Mapping[str, Sequence[str]]) -> bool:
        return not set(self.values).isdisjoint(values.get(self.name, ()))


@dataclass(frozen=True, slots=True)
class RangeFilter:
    """Keeps documents whose number `name` lies in [low, high]; an open end is None."""

    name: str
    low: float | None = None
    high: float | None = None

    def keeps(self, numbers: Mapping[str, float]) -> bool:
        number = numbers.get(self.name)
        if number is None:
            return False
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """Documents that all of `values` and `ranges` keep and none of `excluded` does, placed together: boosted, else
    buried. A group without any condition holds every document."""

    is_boosted: bool
    values: tuple[ValueFilter, ...] = ()
    ranges: tuple[RangeFilter, ...] = ()
    excluded: tuple[ValueFilter, ...] = ()

    def holds(self, values: Mapping[str, Sequence[str]], numbers: Mapping[str, float]) -> bool:
        is_kept = all(one.keeps(values) for one in self.values) and all(one.keeps(numbers) for one in self.ranges)
        return is_kept and not any(one.keeps(values) for one in self.excluded)
