"""The editor of a search rule: the form as typed, its buttons, which change only the form, and saving.

The lookup of products is here too; other pages of the Search section use it as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_revision
from app.blueprints.admin.search.rules import DAYS, RULE, applied_counts
from app.blueprints.admin.shell import flash_undoable, undoable_entry
from app.blueprints.callers import current_author
from app.domain.catalogue import queries
from app.domain.catalogue.listing import LONGEST_WORDS
from app.domain.relevance import rules
from app.domain.relevance.models import SearchRule
from app.domain.relevance.previews import skus_not_found
from app.domain.relevance.rule_definition import (
    LAST_POSITION,
    MOST_PLACED,
    deletion_effects,
    state_of,
)
from app.domain.relevance.rules import missing_pages
from app.domain.search.engine import SearchUnavailable
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import LONGEST_TERM, PinnedSku, Rule
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.record_fields import TypedForm
from app.domain.sites.settings import shop_settings
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

MOST_SENT = MOST_PLACED + 1  # Of each list, so that one too many is refused and not dropped in silence.
LONGEST_SENT = 200
STEPS = {"up": -1, "down": 1}
LISTS_BY_ACTION = {"pin": "pins", "boost": "boosts", "bury": "buries"}
TEXTS = Rule.text_names()
NOT_REFUSED = FieldErrors()
LOOK_UP = "look"
FOLLOWS = "Live within two seconds."
PLAIN = "pick"
CHOICES = {PLAIN, "rule"}  # Purposes for which a product can be chosen.


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
    in the time zone of the shop. `revision` 0 is a rule that is not saved yet."""

    texts: Mapping[str, str]
    pins: tuple[TypedPin, ...] = ()
    boosts: tuple[str, ...] = ()
    buries: tuple[str, ...] = ()
    enabled: bool = True
    revision: int = 0

    @classmethod
    def about(cls, term: str) -> RuleForm:
        """Return the form of a new rule for a search."""
        return cls({**dict.fromkeys(TEXTS, ""), "term": term})

    @classmethod
    def of(cls, row: SearchRule, zone: ZoneInfo) -> RuleForm:
        rule = row.value
        return cls(
            texts=rule.as_typed(zone),
            pins=tuple(TypedPin(pin.sku, str(pin.position)) for pin in rule.pins),
            boosts=rule.boosts,
            buries=rule.buries,
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
            enabled="paused" not in sent,
            revision=sent_revision(sent),
        )

    @property
    def term(self) -> str:
        return self.texts["term"]

    @property
    def skus(self) -> tuple[str, ...]:
        return (*(pin.sku for pin in self.pins), *self.boosts, *self.buries)

    def on(self, revision: int) -> RuleForm:
        """Return the typed form, to be saved over another revision."""
        return replace(self, revision=revision)

    def rule(
        self, zone: ZoneInfo, stored: SearchRule | None, problems: list[Problem], *, takes_zone: bool = False
    ) -> Rule:
        """Return the rule of the form. Times and positions that cannot be read are added to `problems`. `takes_zone`:
        times that name their zone are taken too."""
        return Rule(
            pins=tuple(PinnedSku(pin.sku, pin.number or 0) for pin in self.pins),
            boosts=self.boosts,
            buries=self.buries,
            enabled=self.enabled,
            **Rule.read_typed(TypedForm(self.texts, zone, problems, stored, takes_zone)),
        )

    def after(self, intent: str) -> RuleForm:
        """Return the form after a button of its products was pressed: `pin:SKU`, `boost:SKU`, `bury:SKU`, `remove:SKU`,
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
        if action == "remove" or (action in LISTS_BY_ACTION and sku and sku not in form._skus_in(action)):
            return form._without(sku)._with(action, sku)
        return form

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


@bp.get("/search/ranking/new")
@requires(Permission.MANAGE_SEARCH)
def search_rule_new() -> Response:
    """Show the editor of a new rule. `term` fills in its search, or leads to the rule that this search has; `pin` is a
    SKU to begin with."""
    term = " ".join(request.args.get("term", "")[:LONGEST_TERM].split())
    known = rules.rule_for(current_user.site_id, term) if term else None
    if known is not None:
        return redirect(url_for("admin.search_rule", rule_id=known.id))
    form = RuleForm.about(term)
    return _show_editor(None, form.after(f"pin:{request.args['pin'][:64]}") if request.args.get("pin") else form)


@bp.post("/search/ranking/new")
@requires(Permission.MANAGE_SEARCH)
def search_rule_add() -> Response:
    form = RuleForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _show_placing(None, form.after(intent))
    try:
        with transaction():
            rule = rules.add(current_author(), _read_rule(form, None))
            rule_id, term = rule.id, rule.term
    except (Invalid, Conflict) as error:
        return _show_editor(None, form, FieldErrors(error))
    flash_undoable(f"Added the rule for “{term}”. {FOLLOWS}", "rule", rule_id, url_for("admin.search_ranking"))
    address = url_for("admin.search_rule", rule_id=rule_id)
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.get(RULE)
@requires(Permission.MANAGE_SEARCH)
def search_rule(rule_id: int) -> Response:
    rule = rules.rule_of(current_user.site_id, rule_id)
    return _show_editor(rule, RuleForm.of(rule, _time_zone()))


@bp.post(RULE)
@requires(Permission.MANAGE_SEARCH)
def search_rule_save(rule_id: int) -> Response:
    form, site_id = RuleForm.typed(request.form), current_user.site_id
    if intent := request.form.get("intent"):
        return _show_placing(rules.rule_of(site_id, rule_id), form.after(intent))
    try:
        with transaction():
            sent = _read_rule(form, rules.rule_of(site_id, rule_id))
            rule, changed = rules.change(current_author(), rule_id, form.revision, sent)
    except (Invalid, Conflict) as error:
        return _show_editor(rules.rule_of(site_id, rule_id), form, FieldErrors(error))
    if wants_fragment():
        return _show_editor(rule, RuleForm.of(rule, _time_zone()), saved=changed)
    address = url_for("admin.search_rule", rule_id=rule_id)
    if changed:
        flash_undoable(f"Saved. {FOLLOWS}", "rule", rule_id, address)
    else:
        flash("No changes to save.", "good")
    return redirect(address)


def _read_rule(form: RuleForm, stored: SearchRule | None) -> Rule:
    """Return the rule of the form. Raises Invalid with every problem, those of reading the form among them."""
    problems: list[Problem] = []
    rule = form.rule(_time_zone(), stored, problems)
    if not problems:
        return rule
    try:
        rules.check_for_site(current_user.site_id, rule, stored)
    except Invalid as invalid:
        problems.extend(invalid.problems)
    raise Invalid(problems)


def _time_zone() -> ZoneInfo:
    return ZoneInfo(shop_settings(current_user.site_id).time_zone)


def _show_placing(rule: SearchRule | None, form: RuleForm) -> Response:
    """Return the form with the lists of products as the pressed button changes them; nothing is saved."""
    if not wants_fragment():
        return _show_editor(rule, form)
    intent = request.form["intent"]
    context: dict[str, Any] = {"rule": rule, "form": form, "errors": NOT_REFUSED, "changed": True}
    context |= {"rows": queries.products_by_sku(current_user.site_id, form.skus), "idle": _idle_skus(form)}
    if "beside" not in request.form:  # Focus stays on a button of the preview.
        context |= {
            "moved_focus": intent.startswith("remove"),
            "pins_another": intent.startswith(tuple(LISTS_BY_ACTION)),
        }
    return make_response(render_template("admin/search/rule_editor/_placing.html", **context))


def _show_editor(
    rule: SearchRule | None,
    form: RuleForm,
    errors: FieldErrors = NOT_REFUSED,
    saved: tuple[str, ...] | None = None,
) -> Response:
    """Show the editor of a rule, or of a new one. Over a stale revision it shows what was typed beside the stored
    rule."""
    context: dict[str, Any] = {"rule": rule, "errors": errors, "saved": saved, "stored": None, "changed": False}
    zone = shop_settings(current_user.site_id).time_zone
    if rule is not None and errors.is_stale:
        context["stored"] = RuleForm.of(rule, ZoneInfo(zone))
        form = form.on(rule.revision)
    template = "admin/search/rule_editor/_edit.html" if wants_fragment() else "admin/search/rule_editor/edit.html"
    context |= {"form": form, "rows": queries.products_by_sku(current_user.site_id, form.skus), "time_zone": zone}
    context["undo"] = undoable_entry("rule", rule.id) if rule is not None and saved else None
    context |= _rule_facts(rule) | {"idle": _idle_skus(form), "same": None}
    if any(problem.code == "duplicate_term" for problem in errors.problems):
        context["same"] = rules.rule_for(current_user.site_id, form.term)
    if request.form.get("intent") == LOOK_UP:  # From a browser without JavaScript.
        words = request.form.get("lookup", "")[:LONGEST_WORDS].strip()
        context |= {"looked": queries.find_products(current_user.site_id, words), "words": words}
    return make_response(render_template(template, **context), errors.status if errors else 200)


def _idle_skus(form: RuleForm) -> tuple[str, ...]:
    """Return the boosted and buried products that the search does not find; none while search does not answer."""
    site_id, now = current_user.site_id, ports.clock().now()
    skus = (*form.boosts, *form.buries)[: 2 * MOST_PLACED]
    try:
        return skus_not_found(
            ports.search_engine(), site_id, form.term[:LONGEST_TERM], skus, configuration.served(site_id), now
        )
    except SearchUnavailable:
        return ()


def _rule_facts(rule: SearchRule | None) -> dict[str, Any]:
    if rule is None:
        return {}
    now = ports.clock().now()
    counts = applied_counts()
    return {
        "state": state_of(rule, now),
        "is_synced": configuration.is_live(rule, configuration.serving_state(rule.site_id)),
        "consequences": deletion_effects(rule, now),
        "nowhere": missing_pages(rule.site_id, rule.value.paths),
        "applied": counts.get(rule.normalized_term, 0) if counts is not None else None,
        "days": DAYS,
    }


@bp.get("/search/products")
@requires(Permission.MANAGE_SEARCH)
def search_products() -> str:
    """Find products by `q`, or by the parameter that `field` names; `for` is the purpose."""
    words = request.args.get("q") or request.args.get(request.args.get("field", ""), "")
    words = words[:LONGEST_WORDS].strip()
    chosen_for = request.args.get("for", PLAIN)
    return render_template(
        "admin/search/rule_editor/_found.html",
        found=queries.find_products(current_user.site_id, words),
        words=words,
        chosen_for=chosen_for if chosen_for in CHOICES else PLAIN,
    )
