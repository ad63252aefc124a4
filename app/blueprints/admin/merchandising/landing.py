"""The landing rules of a category and the default ones of a tree. The buttons of their form change only the form;
saving writes it.

The form keeps what was typed as text. Fields are named by their place, such as `rules/0/overrides/2/value`, as are the
problems of saving.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.admin.merchandising.tree import CATEGORY
from app.blueprints.admin.merchandising.trees import TREE
from app.blueprints.admin.redirect_choice import redirects_old_address, sent_choice
from app.blueprints.admin.shell import flash_saved, undo_address_of
from app.blueprints.callers import current_author
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.merchandising.tree import Facet
from app.domain.search.engine import SearchUnavailable
from app.domain.search.listings.facet_values import CarriedValue, CarriedValues, carried_values
from app.domain.seo.landing import overview as near_twins
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.overview import LandingOverview, landing_overview
from app.domain.seo.landing.rules import (
    OVERRIDE,
    RULE,
    LandingMode,
    Rule,
    describe_move,
    effective_rules,
    facet_choices,
    mode_of,
    moved_segments,
)
from app.domain.seo.landing.stored_rules import categories_with_own_rules, rules_fingerprint
from app.domain.seo.redirects.moved_addresses import addresses_left_by
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.schema import Items, Strict, Text
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

NO_ERRORS = FieldErrors()
FOLLOWS = "Live within two seconds."
NO_RULES = "Add a rule, or choose that there are no landing pages here."
Answer = str | AnyResponse
TEXTS = tuple(name for name, known in OVERRIDE.fields.items() if isinstance(known, Text))
RULE_TEXTS = tuple(name for name, known in RULE.fields.items() if not isinstance(known, Items))
LABELS = {name: known.label for record in (RULE, OVERRIDE) for name, known in record.fields.items() if known.label}
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
    texts: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(RULE_TEXTS, ""))
    overrides: tuple[TypedOverride, ...] = ()

    @classmethod
    def of(cls, rule: Rule) -> TypedRule:
        overrides = tuple(
            TypedOverride({name: stored.get(name, "") for name in TEXTS}, bool(stored.get("excluded")))
            for stored in rule.get("overrides", ())
        )
        return cls({name: str(rule.get(name, "")) for name in RULE_TEXTS}, overrides)

    def offers(self, carried: CarriedValues) -> list[CarriedValue]:
        """Return the values that can still have an override."""
        values = carried.get(self.texts["facetId"], ())
        return [one for one in values if not any(override.is_about(one.value) for override in self.overrides)]

    def raw(self) -> Rule:
        """Return the rule as programs send it; what is no number stays a text, which is refused in its place."""
        sent = {name: _sent_value(RULE.fields[name], text) for name, text in self.texts.items()}
        return sent | {"overrides": [override.raw() for override in self.overrides]}

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
        """Return the form after a button was pressed that changes only the form. Where the category has no rules of its
        own they begin as a copy of those that it inherits."""
        action, _, rest = intent.partition(":")
        form = self._with_own(inherited) if action in ("copy", "exclude", "include", "minimum") else self
        numbers = map(sent_number, rest.split(":")[:2])
        place = [-1 if number is None else number for number in numbers]
        match action:
            case "add-rule":
                added = f"rules/{len(self.rules)}/facetId"
                return replace(self, mode=LandingMode.OWN, rules=(*self.rules, TypedRule()), added=added)
            case "remove-rule":
                return replace(self, rules=_without_row(self.rules, place[0]))
            case "add-override" | "remove-override":
                return self._change_override(action, place)
            case "exclude" | "include":
                facet_id, _, value = rest.partition(":")
                return form._exclude(facet_id, value[:5_000], action == "exclude")
            case "minimum":
                return form._with_minimum(rest[:12])
        return form

    def _change_override(self, action: str, place: Sequence[int]) -> LandingForm:
        index = place[0]
        if not 0 <= index < len(self.rules):
            return self
        rule = self.rules[index]
        if action == "add-override":
            added = f"rules/{index}/overrides/{len(rule.overrides)}/value"
            return replace(self._with(index, (*rule.overrides, TypedOverride())), added=added)
        return self._with(index, _without_row(rule.overrides, place[1] if len(place) > 1 else -1))

    def _with(self, index: int, overrides: tuple[TypedOverride, ...]) -> LandingForm:
        changed = replace(self.rules[index], overrides=overrides)
        return replace(self, rules=(*self.rules[:index], changed, *self.rules[index + 1 :]))

    def _with_own(self, inherited: Sequence[Rule]) -> LandingForm:
        if self.mode is LandingMode.OWN and self.rules:
            return self
        return replace(self, mode=LandingMode.OWN, rules=tuple(map(TypedRule.of, inherited)))

    def _with_minimum(self, least: str) -> LandingForm:
        rules = (replace(rule, texts={**rule.texts, "minProducts": least}) for rule in self.rules)
        return replace(self, rules=tuple(rules))

    def _exclude(self, facet_id: str, value: str, excluded: bool) -> LandingForm:
        rules = (rule.excluding(value, excluded) if rule.texts["facetId"] == facet_id else rule for rule in self.rules)
        return replace(self, rules=tuple(rules))


def _sent_value(known: Strict, text: str) -> str | int | None:
    if isinstance(known, Text):
        return text
    number = text.strip()
    return int(number) if WHOLE.fullmatch(number) else number or None


def _without_row(rows: tuple[Any, ...], index: int) -> tuple[Any, ...]:
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
    return TypedRule({name: texts.get(name, "") for name in RULE_TEXTS}, tuple(typed))


@dataclass(frozen=True, slots=True)
class Edited:
    """The subject of the form: a category, or where `node` is None the tree. `default` are the rules of the tree."""

    tree: Tree
    node: Node | None
    shop: Shop
    stored: Sequence[Rule] | None
    default: Sequence[Rule]

    @property
    def name(self) -> str:
        return self.node.name if self.node else self.tree.name

    @property
    def address(self) -> str:
        if self.node:
            return url_for("admin.category_landing", category_id=self.node.id)
        return url_for("admin.tree_landing", tree_id=self.tree.id)

    @property
    def changed(self) -> tuple[str, int]:
        """The kind of change that a save makes, and the id of what it changes."""
        return ("category_landing_rules", self.node.id) if self.node else ("tree_landing_rules", self.tree.id)

    @property
    def in_force(self) -> Sequence[Rule]:
        return effective_rules(self.stored, self.default)

    @property
    def folder(self) -> str:
        """The beginning of the addresses of its landing pages."""
        return f"/c/{self.node.path}" if self.node else "/c/…"

    @property
    def is_browsed(self) -> bool:
        return self.tree.id == self.shop.tree.primary_tree_id

    @property
    def facets(self) -> Sequence[Facet]:
        return self.shop.tree.facets(self.node.id) if self.node else [*map(Facet.read, self.tree.facets)]


@bp.get(f"{TREE}/landing")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_landing(tree_id: int) -> Answer:
    edited = _tree(tree_id)
    return _editor(edited, LandingForm.of(edited.stored))


@bp.post(f"{TREE}/landing")
@requires(Permission.MANAGE_MERCHANDISING)
def tree_landing_save(tree_id: int) -> Answer:
    return _answer_form(_tree(tree_id))


@bp.get(f"{CATEGORY}/landing")
@requires(Permission.MANAGE_MERCHANDISING)
def category_landing(category_id: int) -> Answer:
    edited = _category(category_id)
    return _editor(edited, LandingForm.of(edited.stored))


@bp.post(f"{CATEGORY}/landing")
@requires(Permission.MANAGE_MERCHANDISING)
def category_landing_save(category_id: int) -> Answer:
    return _answer_form(_category(category_id))


@bp.get(f"{CATEGORY}/landing/pages")
@requires(Permission.MANAGE_MERCHANDISING)
def category_landing_pages(category_id: int) -> Answer:
    """Return the landing pages of a category, and the values that would have one if `least` products were enough."""
    edited = _category(category_id)
    if not wants_fragment():
        return redirect(url_for("admin.category_landing", category_id=category_id, least=request.args.get("least")))
    return render_template("admin/merchandising/landing/_pages.html", **_context(edited))


@bp.get(f"{CATEGORY}/landing/twins")
@requires(Permission.MANAGE_MERCHANDISING)
def category_landing_twins(category_id: int) -> Answer:
    """Return the landing pages of a category that show nearly the same products."""
    edited = _category(category_id)
    found = None
    with suppress(SearchUnavailable):
        found = near_twins.find_near_twins(
            ports.search_engine(), edited.shop.site_id, category_id, _overview(edited).pages
        )
    return render_template("admin/merchandising/landing/_twins.html", edited=edited, found=found)


def _tree(tree_id: int) -> Edited:
    """Return the tree to edit. Raises NotFound."""
    tree = stored_rules.tree_of(current_user.site_id, tree_id)
    rules = tree.default_landing_rules
    return Edited(tree, None, read_shop(tree.site_id), rules, rules)


def _category(category_id: int) -> Edited:
    """Return the category to edit. Raises NotFound."""
    rules = stored_rules.node_rules(current_user.site_id, category_id)
    tree = stored_rules.tree_of(current_user.site_id, rules.node.tree_id)
    return Edited(tree, rules.node, read_shop(tree.site_id), rules.own, rules.default)


def _reload(edited: Edited) -> Edited:
    """Return the same record as it is stored by now. Raises NotFound."""
    return _category(edited.node.id) if edited.node else _tree(edited.tree.id)


def _answer_form(edited: Edited) -> Answer:
    form = LandingForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _form_changed(edited, form.after(intent, edited.default))
    form, before = form.without_blank_rows(), edited.in_force
    try:
        _save(edited, form)
    except (Invalid, Conflict) as error:
        return _after_refusal(edited, form, error)
    saved = _reload(edited)
    _warn_of_moved_pages(saved, moved_segments(before, saved.in_force))
    is_changed = saved.stored != edited.stored
    if wants_fragment():
        return _editor(saved, LandingForm.of(saved.stored), is_saved=True, is_changed=is_changed)
    flash_saved(is_changed, f"Saved. {FOLLOWS}", *edited.changed, edited.address)
    return redirect(edited.address)


def _warn_of_moved_pages(saved: Edited, moved: Sequence[tuple[str, str]]) -> None:
    for old, new in moved if saved.is_browsed else ():
        flash(describe_move(saved.folder, old, new, redirected=redirects_old_address()), "warn")


def _save(edited: Edited, form: LandingForm) -> None:
    """Save the typed rules. Raises NotFound, Invalid, Conflict."""
    rules = form.raw()
    if edited.node and form.mode is LandingMode.OWN and not rules:
        raise Invalid.one("no_rules", NO_RULES, "#/rules")
    with addresses_left_by(sent_choice()), transaction():
        if edited.node:
            stored_rules.set_node_rules(current_author(), edited.node.id, rules, form.seen)
        else:
            stored_rules.set_tree_rules(current_author(), edited.tree.id, rules or [], form.seen)


def _after_refusal(edited: Edited, form: LandingForm, error: Invalid | Conflict) -> Answer:
    """Show the form again with the typed rules; over rules that another user changed they are saved by saving again."""
    current = _reload(edited)
    kept = form.on(current.stored) if isinstance(error, Conflict) else form
    return _editor(current, kept, FieldErrors(by_labels(error) if isinstance(error, Invalid) else error))


def _form_changed(edited: Edited, form: LandingForm) -> Answer:
    """Show the form as the pressed button changes it; nothing is saved."""
    if not wants_fragment():
        return _editor(edited, form)
    context = _context(edited) | {"form": form, "errors": NO_ERRORS, "changed": True, "carried": _carried(edited, form)}
    return render_template("admin/merchandising/landing/_rules.html", **context)


def _editor(
    edited: Edited, form: LandingForm, errors: FieldErrors = NO_ERRORS, is_saved: bool = False, is_changed: bool = False
) -> Answer:
    context = _context(edited) | {"form": form, "errors": errors, "is_saved": is_saved, "changed": False}
    context["undo"] = undo_address_of(*edited.changed) if is_changed else None
    context["carried"] = _carried(edited, form)
    if wants_fragment():
        page = render_template("admin/merchandising/landing/_saved.html", **context)
    else:
        page = render_template("admin/merchandising/landing/page.html", **context)
    return make_response(page, errors.status if errors else 200)


def _carried(edited: Edited, form: LandingForm) -> CarriedValues:
    """Return the values that products of the category, or of the shop, have of the facets for which there can be
    pages."""
    choices = facet_choices(edited.shop, edited.facets)
    facets = [id for rule in form.rules if (id := rule.texts["facetId"]) in {*choices.shown, *choices.others}]
    node_id = edited.node.id if edited.node else None
    return carried_values(ports.search_engine(), edited.shop.site_id, facets, node_id)


def _context(edited: Edited) -> dict[str, Any]:
    least = sent_number(request.values.get("least", "")) or None
    context: dict[str, Any] = {
        "edited": edited,
        "choices": facet_choices(edited.shop, edited.facets),
        "default_minimum": edited.shop.settings["facet-landing-min-products"],
        "least": least,
    }
    if edited.node is None:
        return context | {"exceptions": categories_with_own_rules(edited.tree.id), "found": None, "compared": False}
    found = _overview(edited, least)
    return context | {"found": found, "compared": bool(near_twins.alike_in_size(found.pages))}


def _overview(edited: Edited, least: int | None = None) -> LandingOverview:
    assert edited.node is not None, "trees have no pages of their own"
    shop = edited.shop
    node = shop.tree.nodes[edited.node.id]
    return landing_overview(ports.landing_directory(), ports.search_engine(), ports.clock(), shop, node, least)
