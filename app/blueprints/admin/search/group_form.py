"""The groups of products in the form of a search rule, as they were typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace

from werkzeug.datastructures import MultiDict

from app.domain.relevance.rule_definition import MOST_PLACED
from app.domain.relevance.rule_levels import RuleChoices
from app.domain.search.serving.product_groups import (
    FROM,
    MOST_VALUES,
    TO,
    AttributeCondition,
    ProductGroup,
    number_of,
    number_text,
)
from app.domain.shared.money import decimal_text, parse_money
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import join_texts, split_texts

MOST_SENT = MOST_PLACED + 1  # Of each list, so that one too many is refused and not dropped in silence.
LONGEST_CONDITION = 2_000
BOOST, BURY = "boost", "bury"


@dataclass(frozen=True, slots=True)
class NumberRow:
    """A condition on a number as it was typed; the attribute stands by its name."""

    attribute: str = ""
    low: str = ""
    high: str = ""

    @classmethod
    def of(cls, condition: AttributeCondition, choices: RuleChoices) -> NumberRow:
        ends = ("" if end is None else number_text(end) for end in (condition.low, condition.high))
        return cls(choices.number_label(condition.id), *ends)

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> Mapping[str, list[NumberRow]]:
        """Return the rows by the places of their groups, as texts."""
        names = ("group", "attribute", FROM, TO)
        found: dict[str, list[NumberRow]] = {}
        for place, *texts in zip(*(form.getlist(f"number-{name}")[: 2 * MOST_SENT] for name in names), strict=False):
            found.setdefault(place, []).append(cls(*(text.strip()[:LONGEST_CONDITION] for text in texts)))
        return found

    def unit(self, choices: RuleChoices) -> str:
        return choices.units.get(choices.number_id(self.attribute), "")

    def condition(self, choices: RuleChoices, pointer: str, problems: list[Problem]) -> AttributeCondition:
        """Return the condition of the row. What is no number is added to `problems`, at `pointer`."""

        def number(text: str, name: str) -> float | None:
            found = number_of(text)
            if found is not None or not text:
                return found
            problems.append(Problem("invalid_number", f"“{text[:60]}” is not a number.", f"{pointer}/{name}"))
            return 0  # The row is refused already, and is no empty one.

        id = choices.number_id(self.attribute)
        return AttributeCondition(id, (), number(self.low, FROM), number(self.high, TO))


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group of products as it was typed. Lists have semicolons between; levels stand by their labels, attributes as
    `name=value`, prices in major units."""

    effect: str = BOOST
    manufacturers: str = ""
    levels: str = ""
    attributes: str = ""
    price_from: str = ""
    price_to: str = ""
    stock: str = ""
    new_days: str = ""
    on_sale: str = ""
    numbers: tuple[NumberRow, ...] = ()

    @classmethod
    def of(cls, effect: str, group: ProductGroup, choices: RuleChoices) -> GroupRow:
        pairs = (f"{choices.attribute_label(one.id)}={value}" for one in group.attributes for value in one.values)
        return cls(
            effect,
            joined(group.manufacturers),
            joined(map(choices.level_label, group.levels)),
            joined(pairs),
            _price_text(group.price_from, choices.currency),
            _price_text(group.price_to, choices.currency),
            group.stock or "",
            "" if group.new_days is None else str(group.new_days),
            "yes" if group.on_sale else "",
            tuple(NumberRow.of(one, choices) for one in group.attributes if one.is_range),
        )

    @classmethod
    def sent(cls, form: MultiDict[str, str]) -> tuple[GroupRow, ...]:
        lists = [form.getlist(f"group-{each.name}")[:MOST_SENT] for each in fields(cls) if each.name != "numbers"]
        longest = max(map(len, lists))
        texts = ([*values, *[""] * (longest - len(values))] for values in lists)
        numbers = NumberRow.sent(form)
        return tuple(
            replace(cls(*(text[:LONGEST_CONDITION] for text in row)), numbers=tuple(numbers.get(str(place), ())))
            for place, row in enumerate(zip(*texts, strict=True))
        )

    @property
    def is_blank(self) -> bool:
        return replace(self, effect=BOOST, numbers=()) == GroupRow() and all(row == NumberRow() for row in self.numbers)

    def with_number(self) -> GroupRow:
        return self if len(self.numbers) >= MOST_VALUES else replace(self, numbers=(*self.numbers, NumberRow()))

    def value_places(self, choices: RuleChoices) -> list[str]:
        """Return the places of the typed values in the JSON of the group."""
        return [f"attributes/{place}" for place in range(len(self._values(choices)))]

    def placed_numbers(self, choices: RuleChoices) -> Iterator[tuple[str, NumberRow]]:
        """Yield each row of numbers with its place in the JSON of the group, such as `attributes/1`; a blank row, which
        is no condition, has none."""
        place = len(self.value_places(choices))
        for row in self.numbers:
            yield ("" if row == NumberRow() else f"attributes/{place}"), row
            place += row != NumberRow()

    def group(self, choices: RuleChoices, pointer: str, problems: list[Problem]) -> ProductGroup:
        """Return the group of the row. What cannot be read is added to `problems`, at `pointer`."""

        def amount(text: str, name: str) -> int | None:
            try:
                return parse_money(text, choices.currency, f"{pointer}/{name}") if text.strip() else None
            except Invalid as invalid:
                problems.extend(invalid.problems)
                return None

        days = self.new_days.strip()
        return ProductGroup(
            manufacturers=tuple(split_texts(self.manufacturers)),
            levels=tuple(map(choices.level_id, split_texts(self.levels))),
            attributes=(*self._values(choices), *self._ranges(choices, pointer, problems)),
            price_from=amount(self.price_from, "priceFrom"),
            price_to=amount(self.price_to, "priceTo"),
            stock=self.stock if self.stock in ("in", "out") else None,
            new_days=None if not days else int(days) if days.isascii() and days.isdigit() and len(days) < 7 else 0,
            on_sale=self.on_sale == "yes",
        )

    def _values(self, choices: RuleChoices) -> tuple[AttributeCondition, ...]:
        found: dict[str, list[str]] = {}
        for text in split_texts(self.attributes):
            name, _, value = text.partition("=")
            found.setdefault(choices.attribute_id(name.strip()), []).extend([value.strip()] if value.strip() else [])
        return tuple(AttributeCondition(id, tuple(values)) for id, values in found.items())

    def _ranges(self, choices: RuleChoices, pointer: str, problems: list[Problem]) -> Iterator[AttributeCondition]:
        for place, row in self.placed_numbers(choices):
            if place:
                yield row.condition(choices, f"{pointer}/{place}", problems)


def _price_text(price: int | None, currency: str) -> str:
    return "" if price is None else decimal_text(price, currency)


def joined(texts: Iterable[str]) -> str:
    kept = list(texts)
    return join_texts(kept) if kept else ""
