"""The form of a search rule as it was typed, and what the buttons of its products do to it; nothing here saves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.forms import sent_revision
from app.blueprints.admin.search.group_form import BOOST, BURY, LONGEST_CONDITION, GroupRow, joined
from app.blueprints.admin.search.placed_products import BEFORE, PlacedProducts, TypedPin
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_levels import RuleChoices
from app.domain.search.serving.product_groups import MOST_GROUPS, ProductGroup
from app.domain.search.serving.rules import USUAL_PRIORITY, PinnedSku, Rule
from app.domain.search.serving.term_index import Match
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import TypedForm, split_texts

TEXTS = Rule.text_names()
MOST_LABELS = 200  # Levels or categories that a form may send.


@dataclass(frozen=True, slots=True)
class NamedLabels:
    """The labels of a field: those that are known as `chips`, which are the text that is sent, a label and no problem
    each, and the others as they were typed."""

    chips: tuple[tuple[str, str, str], ...]
    unknown: str

    @classmethod
    def of(cls, text: str, id_of: Callable[[str], str], labels: Mapping[str, str]) -> NamedLabels:
        typed = tuple(dict.fromkeys(split_texts(text)))
        known = [label for label in typed if id_of(label) in labels]
        return cls(
            tuple((joined([label]), labels[id_of(label)], "") for label in known),
            joined(one for one in typed if one not in known),
        )


@dataclass(frozen=True, slots=True)
class RuleForm:
    """The form of a ranking rule. `texts` are those of its other fields, by the names under which they are sent, times
    in the time zone of the shop. `before` are the products before the latest step, None where nothing can be undone.
    `levels` and `categories` are by their labels. `revision` 0 is a rule that is not saved yet."""

    texts: Mapping[str, str]
    placed: PlacedProducts = field(default_factory=PlacedProducts)
    before: PlacedProducts | None = None
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
            placed=PlacedProducts.of(rule),
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
        return cls(
            texts={name: sent.get(name, "") for name in TEXTS},
            placed=PlacedProducts.sent(sent),
            before=PlacedProducts.sent(sent, BEFORE) if "undoable" in sent else None,
            levels=_sent_labels(sent, "levels"),
            categories=_sent_labels(sent, "categories"),
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
    def pins(self) -> tuple[TypedPin, ...]:
        return self.placed.pins

    @property
    def boosts(self) -> tuple[str, ...]:
        return self.placed.boosts

    @property
    def buries(self) -> tuple[str, ...]:
        return self.placed.buries

    @property
    def skus(self) -> tuple[str, ...]:
        return self.placed.skus

    def named_levels(self, choices: RuleChoices) -> NamedLabels:
        return NamedLabels.of(self.levels, choices.level_id, choices.levels)

    def named_categories(self, choices: RuleChoices) -> NamedLabels:
        return NamedLabels.of(self.categories, choices.category_path, choices.categories)

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
        """Return the form after a button of its products was pressed (`PlacedProducts.after`), of its levels and
        categories (`levels-add`, `levels-remove:Tents`) or of its groups:
        `group:` adds one, `ungroup:1` removes the second, and `number:1` adds a condition on a number to it. `undo`
        takes back the latest step with products, until a group was changed."""
        action, _, name = intent.partition(":")
        match action:
            case "group":
                return replace(self._with_group(), before=None)
            case "ungroup":
                return replace(self._without_group(name), before=None)
            case "number":
                return replace(self._with_number(name), before=None)
            case "levels-add" | "categories-add":
                return self  # What is typed is sent with the others.
            case "levels-remove":
                return replace(self, levels=_without_label(self.levels, name))
            case "categories-remove":
                return replace(self, categories=_without_label(self.categories, name))
            case "undo":
                return self if self.before is None else replace(self, placed=self.before, before=None)
        before, placed = self.placed.before(intent), self.placed.after(intent)
        return replace(self, placed=placed, before=self.before if placed == before.in_order() else before)

    def _with_group(self) -> RuleForm:
        most = 2 * MOST_GROUPS
        return self if len(self.groups) >= most else replace(self, groups=(*self.groups, GroupRow()))

    def _with_number(self, place: str) -> RuleForm:
        return replace(
            self, groups=tuple(row.with_number() if str(at) == place else row for at, row in enumerate(self.groups))
        )

    def _without_group(self, place: str) -> RuleForm:
        return replace(self, groups=tuple(row for at, row in enumerate(self.groups) if str(at) != place))


def _sent_labels(sent: MultiDict[str, str], name: str) -> str:
    """Return the labels of a field that is sent several times, each time with one or with several."""
    texts = (text[:LONGEST_CONDITION] for text in sent.getlist(name)[:MOST_LABELS])
    return joined(dict.fromkeys(label for text in texts for label in split_texts(text)))


def _without_label(text: str, label: str) -> str:
    return joined(one for one in split_texts(text) if joined([one]) != label)
