"""The landing rules of a category and the default ones of a tree. The buttons of their form change only the form;
saving writes it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.admin.merchandising.landing_form import LandingForm, by_labels
from app.blueprints.admin.merchandising.tree import CATEGORY
from app.blueprints.admin.merchandising.trees import TREE
from app.blueprints.author import current_author
from app.domain.merchandising.models import Node, Tree
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.merchandising.tree import Facet
from app.domain.search.engine import SearchUnavailable
from app.domain.seo.landing import stored_rules
from app.domain.seo.landing.overview import LandingOverview, alike_in_size, find_near_twins, landing_overview
from app.domain.seo.landing.rules import (
    LandingMode,
    Rule,
    describe_move,
    effective_rules,
    facet_choices,
    moved_segments,
)
from app.domain.seo.landing.stored_rules import categories_with_own_rules
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

NOT_REFUSED = FieldErrors()
FOLLOWS = "Live within two seconds."
NO_RULES = "Add a rule, or choose that there are no landing pages here."
Answer = str | AnyResponse


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
    return _answered(_tree(tree_id))


@bp.get(f"{CATEGORY}/landing")
@requires(Permission.MANAGE_MERCHANDISING)
def category_landing(category_id: int) -> Answer:
    edited = _category(category_id)
    return _editor(edited, LandingForm.of(edited.stored))


@bp.post(f"{CATEGORY}/landing")
@requires(Permission.MANAGE_MERCHANDISING)
def category_landing_save(category_id: int) -> Answer:
    return _answered(_category(category_id))


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
        found = find_near_twins(ports.search_engine(), edited.shop.site_id, category_id, _overview(edited).pages)
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


def _current(edited: Edited) -> Edited:
    """Return the same record as it is stored by now. Raises NotFound."""
    return _category(edited.node.id) if edited.node else _tree(edited.tree.id)


def _answered(edited: Edited) -> Answer:
    form = LandingForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _changed_form(edited, form.after(intent, edited.default))
    form, before = form.without_blank_rows(), edited.in_force
    try:
        _save(edited, form)
    except (Invalid, Conflict) as error:
        return _refused(edited, form, error)
    saved = _current(edited)
    _warn_of_moved_pages(saved, moved_segments(before, saved.in_force))
    if wants_fragment():
        return _editor(saved, LandingForm.of(saved.stored), is_saved=True)
    flash(f"Saved. {FOLLOWS}", "good")
    return redirect(edited.address)


def _warn_of_moved_pages(saved: Edited, moved: Sequence[tuple[str, str]]) -> None:
    for old, new in moved if saved.is_browsed else ():
        flash(describe_move(saved.folder, old, new), "warn")


def _save(edited: Edited, form: LandingForm) -> None:
    """Save the typed rules. Raises NotFound, Invalid, Conflict."""
    rules = form.raw()
    if edited.node and form.mode is LandingMode.OWN and not rules:
        raise Invalid.one("no_rules", NO_RULES, "#/rules")
    with transaction():
        if edited.node:
            stored_rules.set_node_rules(current_author(), edited.node.id, rules, form.seen)
        else:
            stored_rules.set_tree_rules(current_author(), edited.tree.id, rules or [], form.seen)


def _refused(edited: Edited, form: LandingForm, error: Invalid | Conflict) -> Answer:
    """Show the form again with the typed rules; over rules that another user changed they are saved by saving again."""
    current = _current(edited)
    kept = form.on(current.stored) if isinstance(error, Conflict) else form
    return _editor(current, kept, FieldErrors(by_labels(error) if isinstance(error, Invalid) else error))


def _changed_form(edited: Edited, form: LandingForm) -> Answer:
    """Show the form as the pressed button changes it; nothing is saved."""
    if not wants_fragment():
        return _editor(edited, form)
    context = _context(edited) | {"form": form, "errors": NOT_REFUSED, "changed": True}
    return render_template("admin/merchandising/landing/_rules.html", **context)


def _editor(edited: Edited, form: LandingForm, errors: FieldErrors = NOT_REFUSED, is_saved: bool = False) -> Answer:
    context = _context(edited) | {"form": form, "errors": errors, "is_saved": is_saved, "changed": False}
    if wants_fragment():
        page = render_template("admin/merchandising/landing/_saved.html", **context)
    else:
        page = render_template("admin/merchandising/landing/page.html", **context)
    return make_response(page, errors.status if errors else 200)


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
    return context | {"found": found, "compared": bool(alike_in_size(found.pages))}


def _overview(edited: Edited, least: int | None = None) -> LandingOverview:
    assert edited.node is not None, "trees have no pages of their own"
    shop = edited.shop
    node = shop.tree.nodes[edited.node.id]
    return landing_overview(ports.landing_directory(), ports.search_engine(), ports.clock(), shop, node, least)
