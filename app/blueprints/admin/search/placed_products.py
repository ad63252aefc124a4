"""The products that the form of a search rule names, as they were typed: pinned, boosted and buried, and what the
buttons of the form do to them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.search.group_form import MOST_SENT
from app.domain.relevance.rule_definition import LAST_POSITION
from app.domain.search.serving.rules import Rule

LONGEST_SENT = 200
STEPS = {"up": -1, "down": 1}
LISTS_BY_ACTION = {"pin": "pins", "boost": "boosts", "bury": "buries"}
BEFORE = "Before"  # The end of the names under which the products before the latest step are sent.


@dataclass(frozen=True, slots=True)
class TypedPin:
    sku: str
    position: str

    @property
    def number(self) -> int | None:
        """The position as a number; None for what is no whole number of up to four digits."""
        return _number(self.position)


@dataclass(frozen=True, slots=True)
class PlacedProducts:
    """The products by their SKUs; those that are pinned with their positions as typed."""

    pins: tuple[TypedPin, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls(tuple(TypedPin(pin.sku, str(pin.position)) for pin in rule.pins), rule.boosts, rule.buries)

    @classmethod
    def sent(cls, sent: MultiDict[str, str], end: str = "") -> Self:
        positions = [*sent.getlist(f"position{end}"), *[""] * MOST_SENT]
        pins = zip(_sent_skus(sent, f"pin{end}"), positions, strict=False)
        return cls(
            tuple(TypedPin(sku, position) for sku, position in pins),
            tuple(_sent_skus(sent, f"boost{end}")),
            tuple(_sent_skus(sent, f"bury{end}")),
        )

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    def position_of(self, sku: str) -> str | None:
        return next((pin.position for pin in self.pins if pin.sku == sku), None)

    def before(self, intent: str) -> PlacedProducts:
        """Return the products as they were before the step: a position that was typed (`at:4:SKU`) was another."""
        action, _, rest = intent.partition(":")
        if action != "at":
            return self
        position, _, sku = rest.partition(":")
        pins = (replace(pin, position=position) if pin.sku == sku else pin for pin in self.pins)
        return replace(self, pins=tuple(pins))

    def after(self, intent: str) -> PlacedProducts:
        """Return the products after a button was pressed: `pin:SKU`, `boost:SKU`, `bury:SKU`, `remove:SKU`, `up:SKU`,
        `down:SKU`; `place:2:SKU`, to the third row; `put:3:SKU`, pinned to the position 3; or `at:4:SKU`, whose
        position was typed and was 4. Pins come in the order of their positions."""
        action, _, sku = intent.partition(":")
        placed = self.in_order()
        number, _, moved = sku.partition(":")
        if action == "at":
            return self._put(moved, number)
        if action == "put":
            return placed._pinned_at(moved, _number(number))
        if action == "place":
            row = _number(number)
            return placed if row is None else placed._moved_to(moved, row)
        if action in STEPS:
            return placed._moved_to(sku, placed._row(sku) + STEPS[action])
        if action == "remove" or (action in LISTS_BY_ACTION and sku and sku not in placed._skus_in(action)):
            return placed._without(sku)._with(action, sku)
        return placed

    def in_order(self) -> PlacedProducts:
        """Return the products with the pins by position, those without a number last, so that no input is lost."""
        return replace(self, pins=_by_position(self.pins))

    def _skus_in(self, action: str) -> tuple[str, ...]:
        return tuple(pin.sku for pin in self.pins) if action == "pin" else getattr(self, LISTS_BY_ACTION[action])

    def _row(self, sku: str) -> int:
        return next((row for row, pin in enumerate(self.pins) if pin.sku == sku), 0)

    def _moved_to(self, sku: str, row: int) -> PlacedProducts:
        """Move a pinned product to a row. The rows keep their positions; the products change places among them."""
        skus = [pin.sku for pin in self.pins]
        if sku not in skus:
            return self
        skus.remove(sku)
        skus.insert(max(0, min(row, len(skus))), sku)
        return replace(self, pins=tuple(map(TypedPin, skus, (pin.position for pin in self.pins))))

    def _put(self, sku: str, before: str) -> PlacedProducts:
        """Move the product to its typed position. Where another product has it, those between make room, as when it is
        dragged there."""
        typed = next((pin for pin in self.pins if pin.sku == sku), None)
        others = tuple(pin for pin in self.pins if pin.sku != sku)
        taken = {pin.number for pin in others}
        if typed is None or typed.number is None or typed.number not in taken:
            return self.in_order()
        was = TypedPin(sku, before)
        if was.number is None or was.number in taken:
            was = TypedPin(sku, str(self._next_position()))
        ordered = replace(self, pins=_by_position((*others, was)))
        row = next(row for row, pin in enumerate(ordered.pins) if pin.number == typed.number)
        return ordered._moved_to(sku, row)

    def _pinned_at(self, sku: str, position: int | None) -> PlacedProducts:
        """Pin a product to a position, wherever it stood. Pins in its way make room one by one, towards the position
        that it leaves, or to the back; all others stay where they are."""
        if not sku or position is None or not 1 <= position <= LAST_POSITION:
            return self
        was = _number(self.position_of(sku) or "")
        step = -1 if was is not None and was < position else 1
        rest = self._without(sku)
        by_place = {pin.number: pin for pin in rest.pins if pin.number is not None}
        unplaced = tuple(pin for pin in rest.pins if pin not in by_place.values())
        place, moving = position, TypedPin(sku, "")
        while place in by_place:
            moving, by_place[place] = by_place[place], replace(moving, position=str(place))
            place += step
        by_place[place] = replace(moving, position=str(place))
        return replace(rest, pins=_by_position((*by_place.values(), *unplaced)))

    def _without(self, sku: str) -> PlacedProducts:
        return PlacedProducts(
            pins=tuple(pin for pin in self.pins if pin.sku != sku),
            boosts=tuple(other for other in self.boosts if other != sku),
            buries=tuple(other for other in self.buries if other != sku),
        )

    def _with(self, action: str, sku: str) -> PlacedProducts:
        match action:
            case "pin":
                return replace(self, pins=(*self.pins, TypedPin(sku, str(self._next_position()))))
            case "boost":
                return replace(self, boosts=(*self.boosts, sku))
            case "bury":
                return replace(self, buries=(*self.buries, sku))
        return self

    def _next_position(self) -> int:
        taken = {pin.number for pin in self.pins}
        return next((place for place in range(1, LAST_POSITION + 1) if place not in taken), LAST_POSITION)


def sku_of(intent: str) -> str:
    """Return the SKU that a button names; empty where it names none."""
    action, _, rest = intent.partition(":")
    return rest.partition(":")[2] if action in ("put", "place", "at") else rest


def describe_step(intent: str, placed: PlacedProducts, names: Mapping[str, str]) -> str:
    """Return what a screen reader says after a button of the products was pressed; empty where the page says it.
    `names` are by SKU."""
    action, sku = intent.partition(":")[0], sku_of(intent)
    if action == "undo":
        return "The last step is undone."
    name, position = names.get(sku, sku), placed.position_of(sku)
    if action in ("put", "place", "at", "pin", *STEPS):
        return f"{name} is pinned at place {position}." if position else ""
    done = {"boost": "boosted", "bury": "buried", "remove": "taken out"}
    return f"{name} is {done[action]}." if action in done else ""


def _sent_skus(sent: MultiDict[str, str], name: str) -> list[str]:
    return [sku.strip()[:LONGEST_SENT] for sku in sent.getlist(name)[:MOST_SENT]]


def _number(text: str) -> int | None:
    """Return a whole number of up to four digits; None for anything else."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 4 else None


def _by_position(pins: Sequence[TypedPin]) -> tuple[TypedPin, ...]:
    return tuple(sorted(pins, key=lambda pin: (pin.number is None, pin.number or 0)))
