"""The form of landing rules: what was typed, kept as text, and what it means. Fields are named by their place, such as
`rules/0/overrides/2/value`, as are the problems of saving."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_number
from app.domain.seo.landing.rules import LandingMode, Rule, mode_of
from app.domain.seo.landing.stored_rules import rules_fingerprint
from app.domain.shared.problems import Invalid

TEXTS = ("value", "heading", "metaTitle", "metaDescription", "intro")
RULE_TEXTS = ("facetId", "pathSegment", "minProducts")
LABELS = {
    "facetId": "Values of",
    "pathSegment": "Address",
    "minProducts": "Minimum",
    "value": "Value",
    "heading": "Heading",
    "metaTitle": "Title for search engines",
    "metaDescription": "Description for search engines",
    "intro": "Text under the heading",
}
PLACE = re.compile(
    rf"rules/([0-9]{{1,3}})/(?:({'|'.join(RULE_TEXTS)})|overrides/([0-9]{{1,3}})/({'|'.join(TEXTS)}|excluded))",
    re.ASCII,
)
WHOLE = re.compile(r"-?[0-9]{1,12}", re.ASCII)


def by_labels(refusal: Invalid) -> Invalid:
    """Return the same problems with the form's labels for the fields, which programs know by their names in JSON."""
    problems = []
    for problem in refusal.problems:
        name = problem.pointer.rpartition("/")[2]
        message = problem.message.replace(f"“{name}” ", f"“{LABELS.get(name, name)}” ")
        problems.append(replace(problem, message=message))
    return Invalid(problems)


@dataclass(frozen=True, slots=True)
class TypedOverride:
    texts: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(TEXTS, ""))
    excluded: bool = False

    @property
    def is_blank(self) -> bool:
        return not self.excluded and not any(text.strip() for text in self.texts.values())

    @property
    def says_something(self) -> bool:
        """Whether the override changes anything for its value."""
        return self.excluded or any(text for name, text in self.texts.items() if name != "value")

    def is_about(self, value: str) -> bool:
        return self.texts["value"].strip().casefold() == value.casefold()

    def raw(self) -> dict[str, Any]:
        return {**self.texts, "excluded": self.excluded}


@dataclass(frozen=True, slots=True)
class TypedRule:
    facet_id: str = ""
    path_segment: str = ""
    min_products: str = ""
    overrides: tuple[TypedOverride, ...] = ()

    @classmethod
    def of(cls, rule: Rule) -> TypedRule:
        overrides = tuple(
            TypedOverride({name: stored.get(name, "") for name in TEXTS}, bool(stored.get("excluded")))
            for stored in rule.get("overrides", ())
        )
        least = rule.get("minProducts")
        return cls(rule["facetId"], rule.get("pathSegment", ""), "" if least is None else str(least), overrides)

    def raw(self) -> Rule:
        """Return the rule as programs send it; what is no number stays a text, which is refused in its place."""
        least = self.min_products.strip()
        return {
            "facetId": self.facet_id,
            "pathSegment": self.path_segment,
            "minProducts": int(least) if WHOLE.fullmatch(least) else least or None,
            "overrides": [override.raw() for override in self.overrides],
        }

    def excluding(self, value: str, excluded: bool) -> TypedRule:
        """Return the rule with a value excluded, or no longer. An override that then changes nothing is left out."""
        if excluded and not any(override.is_about(value) for override in self.overrides):
            added = TypedOverride({**dict.fromkeys(TEXTS, ""), "value": value}, excluded=True)
            return replace(self, overrides=(*self.overrides, added))
        changed = (replace(one, excluded=excluded) if one.is_about(value) else one for one in self.overrides)
        return replace(self, overrides=tuple(one for one in changed if one.says_something or not one.is_about(value)))


@dataclass(frozen=True, slots=True)
class LandingForm:
    """The form of landing rules. `seen` is the fingerprint of the rules that were shown. `added` names the field of a
    row that was just added."""

    mode: LandingMode
    rules: tuple[TypedRule, ...]
    seen: str
    added: str | None = None

    @classmethod
    def of(cls, stored: Sequence[Rule] | None) -> LandingForm:
        return cls(mode_of(stored), tuple(map(TypedRule.of, stored or ())), rules_fingerprint(stored))

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> LandingForm:
        mode = sent.get("mode", LandingMode.OWN)
        known = LandingMode(mode) if mode in tuple(LandingMode) else LandingMode.OWN
        return cls(known, _typed_rules(sent), sent.get("seen", ""))

    def raw(self) -> list[Rule] | None:
        """Return the rules as programs send them; None to inherit, an empty list for no landing pages."""
        if self.mode is LandingMode.INHERIT:
            return None
        return [rule.raw() for rule in self.rules] if self.mode is LandingMode.OWN else []

    def without_blank_rows(self) -> LandingForm:
        rules = (
            replace(rule, overrides=tuple(one for one in rule.overrides if not one.is_blank)) for rule in self.rules
        )
        return replace(self, rules=tuple(rule for rule in rules if rule != TypedRule()))

    def on(self, stored: Sequence[Rule] | None) -> LandingForm:
        """Return the typed form, to be saved over other rules."""
        return replace(self, seen=rules_fingerprint(stored))

    def after(self, intent: str, inherited: Sequence[Rule]) -> LandingForm:
        """The form after a button was pressed that changes only the form. Where the category has no rules of its own
        they begin as a copy of those that it inherits."""
        action, _, rest = intent.partition(":")
        form = self._with_own(inherited) if action in ("copy", "exclude", "include", "minimum") else self
        numbers = map(sent_number, rest.split(":")[:2])
        place = [-1 if number is None else number for number in numbers]
        match action:
            case "add-rule":
                added = f"rules/{len(self.rules)}/facetId"
                return replace(self, mode=LandingMode.OWN, rules=(*self.rules, TypedRule()), added=added)
            case "remove-rule":
                return replace(self, rules=_without(self.rules, place[0]))
            case "add-override" | "remove-override":
                return self._changing_override(action, place)
            case "exclude" | "include":
                facet_id, _, value = rest.partition(":")
                return form._excluding(facet_id, value[:5_000], action == "exclude")
            case "minimum":
                return replace(form, rules=tuple(replace(rule, min_products=rest[:12]) for rule in form.rules))
        return form

    def _changing_override(self, action: str, place: Sequence[int]) -> LandingForm:
        index = place[0]
        if not 0 <= index < len(self.rules):
            return self
        rule = self.rules[index]
        if action == "add-override":
            added = f"rules/{index}/overrides/{len(rule.overrides)}/value"
            return replace(self._with(index, (*rule.overrides, TypedOverride())), added=added)
        return self._with(index, _without(rule.overrides, place[1] if len(place) > 1 else -1))

    def _with(self, index: int, overrides: tuple[TypedOverride, ...]) -> LandingForm:
        changed = replace(self.rules[index], overrides=overrides)
        return replace(self, rules=(*self.rules[:index], changed, *self.rules[index + 1 :]))

    def _with_own(self, inherited: Sequence[Rule]) -> LandingForm:
        if self.mode is LandingMode.OWN and self.rules:
            return self
        return replace(self, mode=LandingMode.OWN, rules=tuple(map(TypedRule.of, inherited)))

    def _excluding(self, facet_id: str, value: str, excluded: bool) -> LandingForm:
        rules = (rule.excluding(value, excluded) if rule.facet_id == facet_id else rule for rule in self.rules)
        return replace(self, rules=tuple(rules))


def _without(rows: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return tuple(row for place, row in enumerate(rows) if place != index)


def _typed_rules(sent: MultiDict[str, str]) -> tuple[TypedRule, ...]:
    """Return the typed rules in the order of their places; a place that is left out makes no gap."""
    rules: dict[int, dict[str, str]] = {}
    overrides: dict[int, dict[int, dict[str, str]]] = {}
    for name, value in sent.items():
        if place := PLACE.fullmatch(name):
            rule, text, override, override_text = place.groups()
            fields = rules.setdefault(int(rule), {})
            if text:
                fields[text] = value
            else:
                overrides.setdefault(int(rule), {}).setdefault(int(override), {})[override_text] = value
    return tuple(_typed_rule(rules[index], overrides.get(index, {})) for index in sorted(rules))


def _typed_rule(texts: Mapping[str, str], overrides: Mapping[int, Mapping[str, str]]) -> TypedRule:
    typed = (
        TypedOverride({name: overrides[index].get(name, "") for name in TEXTS}, "excluded" in overrides[index])
        for index in sorted(overrides)
    )
    facet_id, path_segment, min_products = (texts.get(name, "") for name in RULE_TEXTS)
    return TypedRule(facet_id, path_segment, min_products, tuple(typed))
