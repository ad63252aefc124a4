"""The form of a search rule as it was typed, and what the buttons of its products do to it; nothing here saves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import sent_revision
from app.blueprints.admin.search.group_form import BOOST, BURY, LONGEST_CONDITION, MOST_SENT, GroupRow, joined
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import LAST_POSITION
from app.domain.relevance.rule_levels import RuleChoices
from app.domain.search.serving.product_groups import MOST_GROUPS, ProductGroup
from app.domain.search.serving.rules import USUAL_PRIORITY, PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import TypedForm, split_texts

LONGEST_SENT = 200
STEPS = {"up": -1, "down": 1}
LISTS_BY_ACTION = {"pin": "pins", "boost": "boosts", "bury": "buries"}
TEXTS = Rule.text_names()


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
    """The form of a ranking rule. `texts` are those of its other fields, by the names under which they are sent, times
    in the time zone of the shop. `levels` and `categories` are by their labels. `revision` 0 is a rule that is not
    saved yet."""

    texts: Mapping[str, str]
    pins: tuple[TypedPin, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    levels: str = ""
    categories: str = ""
    groups: tuple[GroupRow, ...] = ()
    enabled: bool = True
    revision: int = 0

    @classmethod
    def about(cls, term: str) -> RuleForm:
        """Return the form of a new rule for a search."""
        usual = {"match": Match.EXACT.value, "priority": str(USUAL_PRIORITY)}
        return cls({**dict.fromkeys(TEXTS, ""), **usual, "term": term})

    @classmethod
    def of(cls, row: SearchRule, zone: ZoneInfo, choices: RuleChoices) -> RuleForm:
        rule = row.value
        return cls(
            texts=rule.as_typed(zone),
            pins=tuple(TypedPin(pin.sku, str(pin.position)) for pin in rule.pins),
            boosts=rule.boosts,
            buries=rule.buries,
            levels=joined(map(choices.level_label, rule.levels)),
            categories=joined(map(choices.category_label, rule.categories)),
            groups=(
                *(GroupRow.of(BOOST, group, choices) for group in rule.boost_groups),
                *(GroupRow.of(BURY, group, choices) for group in rule.bury_groups),
            ),
            enabled=rule.enabled,
            revision=row.revision,
        )

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> RuleForm:
        pins = zip(_sent_skus(sent, "pin"), [*sent.getlist("position"), *[""] * MOST_SENT], strict=False)
        return cls(
            texts={name: sent.get(name, "") for name in TEXTS},
            pins=tuple(TypedPin(sku, position) for sku, position in pins),
            boosts=tuple(_sent_skus(sent, "boost")),
            buries=tuple(_sent_skus(sent, "bury")),
            levels=sent.get("levels", "")[:LONGEST_CONDITION],
            categories=sent.get("categories", "")[:LONGEST_CONDITION],
            groups=GroupRow.sent(sent),
            enabled="paused" not in sent,
            revision=sent_revision(sent),
        )

    @property
    def term(self) -> str:
        return self.texts["term"]

    @property
    def match(self) -> Match:
        text = self.texts["match"].strip()
        return Match(text) if text in set(Match) else Match.EXACT

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    def on(self, revision: int) -> RuleForm:
        """Return the typed form, to be saved over another revision."""
        return replace(self, revision=revision)

    @property
    def typed_groups(self) -> Iterator[tuple[str, GroupRow]]:
        """Yield each row of groups with its place in the JSON of the rule, such as `boostGroups/0`; a blank row, which
        is no group, has none."""
        counts = {BOOST: 0, BURY: 0}
        for row in self.groups:
            if row.is_blank:
                yield "", row
                continue
            effect = BURY if row.effect == BURY else BOOST
            yield f"{effect}Groups/{counts[effect]}", row
            counts[effect] += 1

    def _groups(self, effect: str, choices: RuleChoices, problems: list[Problem]) -> tuple[ProductGroup, ...]:
        placed = ((at, row) for at, row in self.typed_groups if at.startswith(effect))
        return tuple(row.group(choices, f"#/{at}", problems) for at, row in placed)

    def rule(
        self,
        zone: ZoneInfo,
        stored: SearchRule | None,
        problems: list[Problem],
        choices: RuleChoices,
        *,
        takes_zone: bool = False,
    ) -> Rule:
        """Return the rule of the form. What cannot be read of it is added to `problems`. `takes_zone`: times that name
        their zone are taken too."""
        return Rule(
            pins=tuple(PinnedSku(pin.sku, pin.number or 0) for pin in self.pins),
            boosts=self.boosts,
            buries=self.buries,
            levels=tuple(map(choices.level_id, split_texts(self.levels))),
            categories=tuple(map(choices.category_path, split_texts(self.categories))),
            boost_groups=self._groups(BOOST, choices, problems),
            bury_groups=self._groups(BURY, choices, problems),
            enabled=self.enabled,
            **Rule.read_typed(TypedForm(self.texts, zone, problems, stored, takes_zone)),
        )

    def after(self, intent: str) -> RuleForm:
        """Return the form after a button of its products was pressed: `pin:SKU`, `boost:SKU`, `bury:SKU`, `remove:SKU`,
        `up:SKU`, `down:SKU`, `place:2:SKU`, to the third row, or `at:4:SKU`, whose position was typed and was 4. Pins
        come in the order of their positions. `group:` adds a group, `ungroup:1` removes the second, and `number:1` adds
        a condition on a number to it."""
        action, _, sku = intent.partition(":")
        form = replace(self, pins=_by_position(self.pins))
        if action in ("group", "ungroup"):
            return self._with_group() if action == "group" else self._without_group(sku)
        if action == "number":
            return self._with_number(sku)
        if action == "place":
            row, _, sku = sku.partition(":")
            return form._moved_to(sku, int(row)) if row.isascii() and row.isdigit() and len(row) < 4 else form
        if action == "at":
            before, _, sku = sku.partition(":")
            return self._put(sku, before)
        if action in STEPS:
            return form._moved_to(sku, form._row(sku) + STEPS[action])
        if action == "remove" or (action in LISTS_BY_ACTION and sku and sku not in form._skus_in(action)):
            return form._without(sku)._with(action, sku)
        return form

    def _with_group(self) -> RuleForm:
        most = 2 * MOST_GROUPS
        return self if len(self.groups) >= most else replace(self, groups=(*self.groups, GroupRow()))

    def _with_number(self, place: str) -> RuleForm:
        return replace(
            self, groups=tuple(row.with_number() if str(at) == place else row for at, row in enumerate(self.groups))
        )

    def _without_group(self, place: str) -> RuleForm:
        return replace(self, groups=tuple(row for at, row in enumerate(self.groups) if str(at) != place))

    def _skus_in(self, action: str) -> tuple[str, ...]:
        return tuple(pin.sku for pin in self.pins) if action == "pin" else getattr(self, LISTS_BY_ACTION[action])

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
            boosts=tuple(other for other in self.boosts if other != sku),
            buries=tuple(other for other in self.buries if other != sku),
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


def _sent_skus(sent: MultiDict[str, str], name: str) -> list[str]:
    return [sku.strip()[:LONGEST_SENT] for sku in sent.getlist(name)[:MOST_SENT]]


def _by_position(pins: tuple[TypedPin, ...]) -> tuple[TypedPin, ...]:
    """Sort the pins by position, those without a number last, so that no input is lost."""
    return tuple(sorted(pins, key=lambda pin: (pin.number is None, pin.number or 0)))
