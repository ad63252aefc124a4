"""Groups of products by conditions, which a search rule boosts or buries: as values, as the field of a rule, and as the
engine evaluates them, so that they follow every change of a product. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode
from zoneinfo import ZoneInfo

from app.domain.search.filters import PlacedGroup, RangeFilter, ValueFilter
from app.domain.search.ranking.scoring import CREATED, IN_STOCK, KIND, YES
from app.domain.shared.money import LARGEST, format_money
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import Cells, RecordField, join_texts, split_texts
from app.domain.shared.schema import Choice, Flag, Many, Number, Record, Strict, Text, Texts, Whole
from app.domain.shared.text import one_line
from app.domain.taxonomy.values import LARGEST_NUMBER, with_unit

MOST_GROUPS = 10  # Of each list of a rule.
MOST_VALUES = 20  # Of one condition.
LONGEST_VALUE = 200
LONGEST_NEW = 3_650  # Days.
STOCKS = ("in", "out")
MANUFACTURER, ON_SALE, PRICE = "manufacturer", "onSale", "price"
ATTRIBUTE = "attribute."  # Before the id of an attribute in the text of a group.
FROM, TO = "from", "to"  # Behind that id, after a point, where the attribute is a number.
SELLING = ValueFilter(IN_STOCK, (YES,))
BOUND = int(LARGEST_NUMBER)
NUMBERS = ("priceFrom", "priceTo", "newDays")
ENDS = {FROM: Number(allow_none=True), TO: Number(allow_none=True)}
ATTRIBUTE_CONDITION = Record(id=Text(required=True), values=Texts(), **ENDS)
GROUP = Record(
    manufacturers=Texts(),
    levels=Texts(),
    attributes=Many(ATTRIBUTE_CONDITION, MOST_VALUES),
    priceFrom=Whole(allow_none=True),
    priceTo=Whole(allow_none=True),
    stock=Choice(STOCKS, allow_none=True),
    newDays=Whole(allow_none=True),
    onSale=Flag(),
)
_NUMBER = re.compile(r"-?[0-9]{1,16}(\.[0-9]{1,30})?", re.ASCII)


def number_of(text: str) -> int | float | None:
    """Return the number that a text is, such as "-2.5"; None for another text."""
    typed = text.strip()
    if not _NUMBER.fullmatch(typed):
        return None
    return float(typed) if "." in typed else int(typed)


def number_text(number: float) -> str:
    """Return a number as people write it, without an exponent and needless zeros."""
    return f"{Decimal(str(number)).normalize():f}"


@dataclass(frozen=True, slots=True)
class AttributeCondition:
    """A condition on an attribute, by its id: it has any of `values`, or its number lies in [low, high], where None is
    an open end."""

    id: str
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    @classmethod
    def of_json(cls, raw: Mapping[str, Any]) -> AttributeCondition:
        return cls(raw["id"], tuple(raw.get("values") or ()), raw.get(FROM), raw.get(TO))

    def as_json(self) -> dict[str, Any]:
        """Return the values, none for a number, and the ends that are set."""
        ends = {name: end for name, end in ((FROM, self.low), (TO, self.high)) if end is not None}
        return {"id": self.id, "values": list(self.values)} | ends

    @property
    def is_range(self) -> bool:
        return self.low is not None or self.high is not None

    @property
    def range(self) -> RangeFilter:
        """The range as an engine evaluates it; an end out of bounds is taken as the nearest within."""
        ends = (None if end is None else float(_between(-BOUND, end, BOUND)) for end in (self.low, self.high))
        return RangeFilter(self.id, *ends)

    def problems(self, pointer: str) -> Iterator[Problem]:
        """Return what is wrong besides the numbers."""
        if self.values and self.is_range:
            yield Problem("values_and_range", "Give values of an attribute, or from and to, not both.", pointer)
        if not self.id or not (self.values or self.is_range):
            message = "Give an attribute and its value, such as colour=Red, or a number from and to."
            yield Problem("required", message, pointer)

    def number_problems(self, pointer: str) -> Iterator[Problem]:
        for name, end in ((FROM, self.low), (TO, self.high)):
            if end is not None and not -BOUND <= end <= BOUND:
                yield Problem("invalid_number", "A number of an attribute is within ±10¹⁵.", f"{pointer}/{name}")
        if self.low is not None and self.high is not None and self.low > self.high:
            yield Problem("invalid_range", "The lower number is above the higher one.", f"{pointer}/{TO}")


@dataclass(frozen=True, slots=True)
class ProductGroup:
    """Products that meet all conditions; a list is met by any of its values. `levels` are ids, and hold what is below
    them; prices are in minor units; `stock` is "in", "out" or None; `new_days` holds products that were created so many
    days ago or later."""

    manufacturers: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    attributes: tuple[AttributeCondition, ...] = ()
    price_from: int | None = None
    price_to: int | None = None
    stock: str | None = None
    new_days: int | None = None
    on_sale: bool = False

    @classmethod
    def of_json(cls, raw: Mapping[str, Any]) -> ProductGroup:
        return cls(
            manufacturers=tuple(raw.get("manufacturers") or ()),
            levels=tuple(raw.get("levels") or ()),
            attributes=tuple(map(AttributeCondition.of_json, raw.get("attributes") or ())),
            price_from=raw.get("priceFrom"),
            price_to=raw.get("priceTo"),
            stock=raw.get("stock"),
            new_days=raw.get("newDays"),
            on_sale=bool(raw.get("onSale")),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the conditions that are set."""
        conditions = {
            "manufacturers": list(self.manufacturers),
            "levels": list(self.levels),
            "attributes": [condition.as_json() for condition in self.attributes],
            "priceFrom": self.price_from,
            "priceTo": self.price_to,
            "stock": self.stock,
            "newDays": self.new_days,
            "onSale": self.on_sale,
        }
        return {
            name: value
            for name, value in conditions.items()
            if value is not None and value is not False and value != []
        }

    def tidied(self) -> ProductGroup:
        attributes = (replace(one, id=one_line(one.id), values=_distinct(one.values)) for one in self.attributes)
        return replace(
            self,
            manufacturers=_distinct(self.manufacturers),
            levels=_distinct(self.levels),
            attributes=tuple(one for one in attributes if one != AttributeCondition("")),
        )

    def placed(self, is_boosted: bool, now: datetime) -> PlacedGroup:
        """Return the group as an engine evaluates it on a day. Numbers out of bounds are taken as the nearest ones
        within, so that no group that was stored unchecked makes a search fail."""
        of_values = ((one.id, one.values) for one in self.attributes)
        named = ((MANUFACTURER, self.manufacturers), (KIND, self.levels), *of_values)
        values = [ValueFilter(name, wanted) for name, wanted in named if wanted]
        values += [ValueFilter(ON_SALE, (YES,))] if self.on_sale else []
        values += [SELLING] if self.stock == "in" else []
        ranges = [one.range for one in self.attributes if one.is_range]
        if self.price_from is not None or self.price_to is not None:
            prices = (self.price_from, self.price_to)
            ranges.append(RangeFilter(PRICE, *(None if one is None else _between(0, one, LARGEST) for one in prices)))
        if self.new_days is not None:
            # From midnight on, so that an engine evaluates the group once a day.
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            first = midnight - timedelta(days=_between(0, self.new_days, LONGEST_NEW))
            ranges.append(RangeFilter(CREATED, first.timestamp()))
        return PlacedGroup(is_boosted, tuple(values), tuple(ranges), (SELLING,) if self.stock == "out" else ())

    def problems(self, pointer: str) -> Iterator[Problem]:
        if self == ProductGroup():
            yield Problem("empty_group", "The group has no condition, so that it would hold every product.", pointer)
        lists = [("manufacturers", self.manufacturers), ("levels", self.levels)]
        lists += [(f"attributes/{place}/values", one.values) for place, one in enumerate(self.attributes)]
        for name, values in lists:
            if len(values) > MOST_VALUES:
                yield Problem("too_many", f"A condition takes at most {MOST_VALUES} values.", f"{pointer}/{name}")
            if any(len(value) > LONGEST_VALUE for value in values):
                message = f"A value of a condition has at most {LONGEST_VALUE} characters."
                yield Problem("too_long", message, f"{pointer}/{name}")
        for place, one in enumerate(self.attributes):
            yield from one.problems(f"{pointer}/attributes/{place}")
        yield from self.number_problems(pointer)

    def number_problems(self, pointer: str) -> Iterator[Problem]:
        """Return what is wrong with the numbers, without which nothing can be found."""
        low, high, days = self.price_from, self.price_to, self.new_days
        for name, amount in (("priceFrom", low), ("priceTo", high)):
            if amount is not None and not 0 <= amount <= LARGEST:
                yield Problem("invalid_money", "A price is at least 0.", f"{pointer}/{name}")
        if low is not None and high is not None and low > high:
            yield Problem("invalid_range", "The lower price is above the higher one.", f"{pointer}/priceTo")
        if days is not None and not 1 <= days <= LONGEST_NEW:
            message = f"The days for which a product is new are 1 to {LONGEST_NEW:,}."
            yield Problem("invalid_number", message, f"{pointer}/newDays")
        for place, one in enumerate(self.attributes):
            yield from one.number_problems(f"{pointer}/attributes/{place}")


def _between(least: int, number: float, most: int) -> float:
    return max(least, min(number, most))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in map(one_line, texts) if text))


@dataclass(frozen=True, slots=True)
class GroupNames:
    """What people call levels and attributes, by their ids, the units of attributes, and the currency of prices."""

    levels: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    currency: str = "gbp"


def describe_group(group: ProductGroup, names: GroupNames) -> str:
    """Describe the products of a group, as in "Acme, in Tents, new within 30 days"."""
    return ", ".join(_conditions(group, names)) or "every product"


def _conditions(group: ProductGroup, names: GroupNames) -> Iterator[str]:
    if group.manufacturers:
        yield f"by {' or '.join(group.manufacturers)}"
    if group.levels:
        yield f"in {' or '.join(names.levels.get(id, id) for id in group.levels)}"
    for one in group.attributes:
        named = _range_words(one, names.units.get(one.id)) if one.is_range else " or ".join(one.values)
        yield f"{names.attributes.get(one.id, one.id)} {named}"
    ends = (("from", group.price_from), ("up to", group.price_to))
    yield from (f"{end} {format_money(price, names.currency)}" for end, price in ends if price is not None)
    if group.stock is not None:
        yield "in stock" if group.stock == "in" else "sold out"
    if group.new_days is not None:
        yield f"new within {group.new_days} day{'' if group.new_days == 1 else 's'}"
    if group.on_sale:
        yield "on sale"


def _range_words(condition: AttributeCondition, unit: str | None) -> str:
    """Return the range of a condition in words, as in "up to 1000 g"."""
    low, high = (None if end is None else number_text(end) for end in (condition.low, condition.high))
    if low is None or high is None:
        return f"from {with_unit(low, unit)}" if low is not None else f"up to {with_unit(high or '', unit)}"
    return f"{low} to {with_unit(high, unit)}"


def group_text(raw: Mapping[str, Any]) -> str:
    """Return the JSON of a group as one text, `manufacturer=Acme&attribute.weight.to=2000`, for tables."""
    pairs = [("manufacturer", value) for value in raw.get("manufacturers", ())]
    pairs += [("level", value) for value in raw.get("levels", ())]
    pairs += [pair for one in raw.get("attributes", ()) for pair in _attribute_pairs(one)]
    pairs += [(name, str(raw[name])) for name in (*NUMBERS, "stock") if name in raw]
    return urlencode([*pairs, *([("onSale", "yes")] if raw.get("onSale") else [])])


def _attribute_pairs(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = ATTRIBUTE + raw["id"]
    yield from ((name, value) for value in raw.get("values", ()))
    yield from ((f"{name}.{end}", number_text(raw[end])) for end in ENDS if raw.get(end) is not None)


def read_group(text: str) -> dict[str, Any]:
    """Return the JSON of what `group_text` wrote. Raises Invalid."""
    found: dict[str, Any] = {}
    attributes: dict[tuple[str, bool], dict[str, Any]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name in ("manufacturer", "level"):
            found.setdefault(f"{name}s", []).append(value)
        elif name.startswith(ATTRIBUTE):
            _read_attribute(name.removeprefix(ATTRIBUTE), value, attributes, text)
        else:
            found[name] = _read_condition(name, value, text)
    if attributes:
        found["attributes"] = [*attributes.values()]
    if not found:
        raise _not_a_group(text)
    return found


def _read_attribute(name: str, value: str, found: dict[tuple[str, bool], dict[str, Any]], text: str) -> None:
    """Add a condition on an attribute to those found, by the id and whether it is a range. Raises Invalid."""
    id, _, end = name.rpartition(".")
    if not id or end not in ENDS:
        found.setdefault((name, False), {"id": name, "values": []})["values"].append(value)
        return
    number = number_of(value)
    if number is None:
        raise _not_a_group(text)
    found.setdefault((id, True), {"id": id})[end] = number


def _read_condition(name: str, value: str, text: str) -> Any:
    if name in NUMBERS and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if name == "stock" and value in STOCKS:
        return value
    if name == "onSale" and value in ("yes", "no"):
        return value == "yes"
    raise _not_a_group(text)


def _not_a_group(text: str) -> Invalid:
    example = "manufacturer=Acme&stock=in"
    return Invalid.one("invalid_group", f"“{text[:64]}” is no group of products: write it as in {example}.")


@dataclass(frozen=True, slots=True)
class GroupsField(RecordField):
    """Groups of products: objects in JSON and in the database, texts in tables."""

    json_type: ClassVar[Any] = list[dict[str, Any]]

    def schema(self) -> Strict:
        return Many(GROUP, 10 * MOST_GROUPS)

    def of_json(self, raw: Iterable[Mapping[str, Any]]) -> tuple[ProductGroup, ...]:
        return tuple(map(ProductGroup.of_json, raw))

    def as_json(self, value: Iterable[ProductGroup]) -> list[dict[str, Any]]:
        return [group.as_json() for group in value]

    def of_row(self, row: object) -> tuple[ProductGroup, ...]:
        return self.of_json(getattr(row, self.name))

    def as_columns(self, value: Iterable[ProductGroup]) -> dict[str, Any]:
        return {self.name: self.as_json(value)}

    def tidy(self, value: Iterable[ProductGroup]) -> tuple[ProductGroup, ...]:
        return tuple(group.tidied() for group in value)

    def problems(self, value: tuple[ProductGroup, ...]) -> list[Problem]:
        if len(value) > MOST_GROUPS:
            message = f"At most {MOST_GROUPS} groups can be {self.label.removesuffix(' groups')} in one rule."
            return [Problem("too_many", message, f"#/{self.key}")]
        found = (group.problems(f"#/{self.key}/{place}") for place, group in enumerate(value))
        return [problem for problems in found for problem in problems]

    def searched(self, value: Iterable[ProductGroup]) -> Iterable[str | None]:
        return [maker for group in value for maker in group.manufacturers]

    def describe(self, raw: Iterable[Mapping[str, Any]] | None, zone: ZoneInfo) -> dict[str, Any]:
        return {self.label: [group_text(group) for group in raw or ()]}

    def cells(self, raw: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        return (join_texts(group_text(group) for group in raw),)

    def read_cells(self, cells: Cells, sent: dict[str, Any]) -> None:
        if self.key in cells:
            sent[self.key] = [read_group(text) for text in split_texts(cells[self.key])]
