"""The form of a search rule: what was typed, kept as text, and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_revision
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import LAST_POSITION, MOST_PLACED, local_text, moment_of
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.shared.problems import Problem

MOST_SENT = MOST_PLACED + 1  # Of each list, so that one too many is refused and not dropped in silence.
LONGEST_SENT = 200
STEPS = {"up": -1, "down": 1}
HELD = {"pin": "pins", "boost": "boosts", "bury": "buries"}


@dataclass(frozen=True, slots=True)
class TypedPin:
    sku: str
    position: str

    @property
    def number(self) -> int | None:
        """The position as a number; None for what is no whole number of up to four digits."""
        text = self.position.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else None


@dataclass(frozen=True, slots=True)
class RuleForm:
    """The form of a ranking rule. `revision` 0 is a rule that is not saved yet. `starts` and `ends` are in the time
    zone of the shop."""

    term: str = ""
    pins: tuple[TypedPin, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    redirect_url: str = ""
    banner_text: str = ""
    banner_link_url: str = ""
    enabled: bool = True
    starts: str = ""
    ends: str = ""
    note: str = ""
    revision: int = 0

    @classmethod
    def of(cls, rule: SearchRule, zone: ZoneInfo) -> RuleForm:
        return cls(
            term=rule.term,
            pins=tuple(TypedPin(pin["sku"], str(pin["position"])) for pin in rule.pins),
            boosts=tuple(rule.boosts),
            buries=tuple(rule.buries),
            redirect_url=rule.redirect_url or "",
            banner_text=rule.banner_text or "",
            banner_link_url=rule.banner_link_url or "",
            enabled=rule.enabled,
            starts=local_text(rule.starts_at, zone),
            ends=local_text(rule.ends_at, zone),
            note=rule.note,
            revision=rule.revision,
        )

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> RuleForm:
        pins = zip(_skus(sent, "pin"), [*sent.getlist("position"), *[""] * MOST_SENT], strict=False)
        return cls(
            term=sent.get("term", ""),
            pins=tuple(TypedPin(sku, position) for sku, position in pins),
            boosts=tuple(_skus(sent, "boost")),
            buries=tuple(_skus(sent, "bury")),
            redirect_url=sent.get("redirectUrl", ""),
            banner_text=sent.get("bannerText", ""),
            banner_link_url=sent.get("bannerLinkUrl", ""),
            enabled="paused" not in sent,
            starts=sent.get("startsAt", ""),
            ends=sent.get("endsAt", ""),
            note=sent.get("note", ""),
            revision=sent_revision(sent),
        )

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    def on(self, revision: int) -> RuleForm:
        """Return the typed form, to be saved over another revision."""
        return replace(self, revision=revision)

    def rule(self, zone: ZoneInfo, stored: SearchRule | None, problems: list[Problem]) -> Rule:
        """Return the rule of the form. Times and positions that cannot be read are added to `problems`."""
        was_from, was_until = (stored.starts_at, stored.ends_at) if stored is not None else (None, None)
        return Rule(
            term=self.term,
            pins=tuple(PinnedSku(pin.sku, pin.number or 0) for pin in self.pins),
            boosts=self.boosts,
            buries=self.buries,
            redirect_url=self.redirect_url,
            banner=Banner(self.banner_text, self.banner_link_url),
            enabled=self.enabled,
            starts_at=moment_of(self.starts, zone, "#/startsAt", problems, was_from),
            ends_at=moment_of(self.ends, zone, "#/endsAt", problems, was_until),
            note=self.note,
        )

    def after(self, intent: str) -> RuleForm:
        """The form after a button of its products was pressed: `pin:SKU`, `boost:SKU`, `bury:SKU`, `remove:SKU`,
        `up:SKU`, `down:SKU`, `place:2:SKU`, to the third row, or `at:4:SKU`, whose position was typed
        and was 4. Pins come in the order of their positions."""
        action, _, sku = intent.partition(":")
        form = replace(self, pins=_by_position(self.pins))
        if action == "place":
            row, _, sku = sku.partition(":")
            return form._moved_to(sku, int(row)) if row.isascii() and row.isdigit() and len(row) < 4 else form
        if action == "at":
            before, _, sku = sku.partition(":")
            return self._put(sku, before)
        if action in STEPS:
            return form._moved_to(sku, form._row(sku) + STEPS[action])
        if action == "remove" or (action in HELD and sku and sku not in form._held(action)):
            return form._without(sku)._with(action, sku)
        return form

    def _held(self, action: str) -> tuple[str, ...]:
        return tuple(pin.sku for pin in self.pins) if action == "pin" else getattr(self, HELD[action])

    def _row(self, sku: str) -> int:
        return next((row for row, pin in enumerate(self.pins) if pin.sku == sku), 0)

    def _moved_to(self, sku: str, row: int) -> RuleForm:
        """Return the form with a pinned product moved to a row. The rows keep their positions; the products change
        places among them."""
        skus = [pin.sku for pin in self.pins]
        if sku not in skus:
            return self
        skus.remove(sku)
        skus.insert(max(0, min(row, len(skus))), sku)
        return replace(self, pins=tuple(map(TypedPin, skus, (pin.position for pin in self.pins))))

    def _put(self, sku: str, before: str) -> RuleForm:
        """Move the product to its typed position. Where another product has it, those between make room, as when it is
        dragged there."""
        typed = next((pin for pin in self.pins if pin.sku == sku), None)
        others = tuple(pin for pin in self.pins if pin.sku != sku)
        taken = {pin.number for pin in others}
        if typed is None or typed.number is None or typed.number not in taken:
            return replace(self, pins=_by_position(self.pins))
        was = TypedPin(sku, before)
        if was.number is None or was.number in taken:
            was = TypedPin(sku, str(self._next_position()))
        ordered = replace(self, pins=_by_position((*others, was)))
        row = next(row for row, pin in enumerate(ordered.pins) if pin.number == typed.number)
        return ordered._moved_to(sku, row)

    def _without(self, sku: str) -> RuleForm:
        return replace(
            self,
            pins=tuple(pin for pin in self.pins if pin.sku != sku),
            boosts=_apart_from(sku, self.boosts),
            buries=_apart_from(sku, self.buries),
        )

    def _with(self, action: str, sku: str) -> RuleForm:
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


def _skus(sent: MultiDict[str, str], name: str) -> list[str]:
    return [sku.strip()[:LONGEST_SENT] for sku in sent.getlist(name)[:MOST_SENT]]


def _apart_from(sku: str, skus: Iterable[str]) -> tuple[str, ...]:
    return tuple(other for other in skus if other != sku)


def _by_position(pins: tuple[TypedPin, ...]) -> tuple[TypedPin, ...]:
    """Sort the pins by position, those without a number last, so that no input is lost."""
    return tuple(sorted(pins, key=lambda pin: (pin.number is None, pin.number or 0)))
