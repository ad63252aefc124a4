"""Groups of products by conditions, which a search rule boosts or buries: as values, as the field of a rule, and as the
engine evaluates them, so that they follow every change of a product. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode
from zoneinfo import ZoneInfo

from app.domain.search.filters import PlacedGroup, RangeFilter, ValueFilter
from app.domain.search.ranking.scoring import CREATED, IN_STOCK, KIND, YES
from app.domain.shared.money import LARGEST, format_money
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.record_fields import Cells, RecordField, join_texts, split_texts
from app.domain.shared.schema import Choice, Flag, Many, Record, Strict, Text, Texts, Whole
from app.domain.shared.text import one_line

MOST_GROUPS = 10  # Of each list of a rule.
MOST_VALUES = 20  # Of one condition.
LONGEST_VALUE = 200
LONGEST_NEW = 3_650  # Days.
STOCKS = ("in", "out")
MANUFACTURER, ON_SALE, PRICE = "manufacturer", "onSale", "price"
ATTRIBUTE = "attribute."  # Before the id of an attribute in the text of a group.
SELLING = ValueFilter(IN_STOCK, (YES,))
NUMBERS = ("priceFrom", "priceTo", "newDays")
GROUP = Record(
    manufacturers=Texts(),
    levels=Texts(),
    attributes=Many(Record(id=Text(required=True), values=Texts(required=True)), MOST_VALUES),
    priceFrom=Whole(allow_none=True),
    priceTo=Whole(allow_none=True),
    stock=Choice(STOCKS, allow_none=True),
    newDays=Whole(allow_none=True),
    onSale=Flag(),
)
Attributes = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ProductGroup:
    """Products that meet all conditions; a list is met by any of its values. `levels` are ids, and hold what is below
    them; `attributes` are (id, values); prices are in minor units; `stock` is "in", "out" or None; `new_days` holds
    products that were created so many days ago or later."""

    manufacturers: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    attributes: Attributes = ()
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
            attributes=tuple((one["id"], tuple(one["values"])) for one in raw.get("attributes") or ()),
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
            "attributes": [{"id": id, "values": list(values)} for id, values in self.attributes],
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
        attributes = ((one_line(id), _distinct(values)) for id, values in self.attributes)
        return replace(
            self,
            manufacturers=_distinct(self.manufacturers),
            levels=_distinct(self.levels),
            attributes=tuple((id, values) for id, values in attributes if id or values),
        )

    def placed(self, is_boosted: bool, now: datetime) -> PlacedGroup:
        """Return the group as an engine evaluates it on a day. Numbers out of bounds are taken as the nearest ones
        within, so that no group that was stored unchecked makes a search fail."""
        named = ((MANUFACTURER, self.manufacturers), (KIND, self.levels), *self.attributes)
        values = [ValueFilter(name, wanted) for name, wanted in named if wanted]
        values += [ValueFilter(ON_SALE, (YES,))] if self.on_sale else []
        values += [SELLING] if self.stock == "in" else []
        ranges = []
        if self.price_from is not None or self.price_to is not None:
            ends = (None if price is None else _within(price, LARGEST) for price in (self.price_from, self.price_to))
            ranges.append(RangeFilter(PRICE, *ends))
        if self.new_days is not None:
            # From midnight on, so that an engine evaluates the group once a day.
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            first = midnight - timedelta(days=_within(self.new_days, LONGEST_NEW))
            ranges.append(RangeFilter(CREATED, first.timestamp()))
        return PlacedGroup(is_boosted, tuple(values), tuple(ranges), (SELLING,) if self.stock == "out" else ())

    def problems(self, pointer: str) -> Iterator[Problem]:
        if self == ProductGroup():
            yield Problem("empty_group", "The group has no condition, so that it would hold every product.", pointer)
        lists = [("manufacturers", self.manufacturers), ("levels", self.levels)]
        lists += [(f"attributes/{place}/values", values) for place, (_, values) in enumerate(self.attributes)]
        for name, values in lists:
            if len(values) > MOST_VALUES:
                yield Problem("too_many", f"A condition takes at most {MOST_VALUES} values.", f"{pointer}/{name}")
            if any(len(value) > LONGEST_VALUE for value in values):
                message = f"A value of a condition has at most {LONGEST_VALUE} characters."
                yield Problem("too_long", message, f"{pointer}/{name}")
        for place, (id, values) in enumerate(self.attributes):
            if not id or not values:
                message = "Give an attribute and its value, such as colour=Red."
                yield Problem("required", message, f"{pointer}/attributes/{place}")
        yield from self.number_problems(pointer)

    def number_problems(self, pointer: str) -> Iterator[Problem]:
        """Return what is wrong with the prices and the days, without which nothing can be found."""
        low, high, days = self.price_from, self.price_to, self.new_days
        for name, amount in (("priceFrom", low), ("priceTo", high)):
            if amount is not None and not 0 <= amount <= LARGEST:
                yield Problem("invalid_money", "A price is at least 0.", f"{pointer}/{name}")
        if low is not None and high is not None and low > high:
            yield Problem("invalid_range", "The lower price is above the higher one.", f"{pointer}/priceTo")
        if days is not None and not 1 <= days <= LONGEST_NEW:
            message = f"The days for which a product is new are 1 to {LONGEST_NEW:,}."
            yield Problem("invalid_number", message, f"{pointer}/newDays")


def _within(number: int, most: int) -> int:
    return max(0, min(number, most))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in map(one_line, texts) if text))


@dataclass(frozen=True, slots=True)
class GroupNames:
    """What people call levels and attributes, by their ids, and the currency of prices."""

    levels: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    currency: str = "gbp"


def describe_group(group: ProductGroup, names: GroupNames) -> str:
    """Describe the products of a group, as in "Acme, in Tents, new within 30 days"."""
    return ", ".join(_conditions(group, names)) or "every product"


def _conditions(group: ProductGroup, names: GroupNames) -> Iterator[str]:
    if group.manufacturers:
        yield f"by {' or '.join(group.manufacturers)}"
    if group.levels:
        yield f"in {' or '.join(names.levels.get(id, id) for id in group.levels)}"
    for id, values in group.attributes:
        yield f"{names.attributes.get(id, id)} {' or '.join(values)}"
    ends = (("from", group.price_from), ("up to", group.price_to))
    yield from (f"{end} {format_money(price, names.currency)}" for end, price in ends if price is not None)
    if group.stock is not None:
        yield "in stock" if group.stock == "in" else "sold out"
    if group.new_days is not None:
        yield f"new within {group.new_days} day{'' if group.new_days == 1 else 's'}"
    if group.on_sale:
        yield "on sale"


def group_text(raw: Mapping[str, Any]) -> str:
    """Return the JSON of a group as one text, `manufacturer=Acme&priceTo=2000`, for tables."""
    pairs = [("manufacturer", value) for value in raw.get("manufacturers", ())]
    pairs += [("level", value) for value in raw.get("levels", ())]
    pairs += [(ATTRIBUTE + one["id"], value) for one in raw.get("attributes", ()) for value in one["values"]]
    pairs += [(name, str(raw[name])) for name in (*NUMBERS, "stock") if name in raw]
    return urlencode([*pairs, *([("onSale", "yes")] if raw.get("onSale") else [])])


def read_group(text: str) -> dict[str, Any]:
    """Return the JSON of what `group_text` wrote. Raises Invalid."""
    found: dict[str, Any] = {}
    attributes: dict[str, list[str]] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        if name in ("manufacturer", "level"):
            found.setdefault(f"{name}s", []).append(value)
        elif name.startswith(ATTRIBUTE):
            attributes.setdefault(name.removeprefix(ATTRIBUTE), []).append(value)
        else:
            found[name] = _read_condition(name, value, text)
    if attributes:
        found["attributes"] = [{"id": id, "values": values} for id, values in attributes.items()]
    if not found:
        raise _not_a_group(text)
    return found


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
