"""The page of one tree: its categories, what can be done with each at its place, and the places to which one may move.
Every change is saved at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number, sent_revision
from app.blueprints.admin.merchandising.trees import LIST, TREE
from app.blueprints.admin.redirect_choice import sent_choice
from app.blueprints.admin.shell import flash_with_undo, undo_address_of
from app.blueprints.callers import current_author
from app.domain.merchandising import nodes
from app.domain.merchandising.arrangement import Direction, Target, room_for
from app.domain.merchandising.facets import known_facets
from app.domain.merchandising.nodes import PlannedMove
from app.domain.merchandising.shop import read_shop
from app.domain.merchandising.trees import OutlineRow, TreeOutline, outline_of
from app.domain.search.listings.browsing import category_counts
from app.domain.seo.redirects.moved_addresses import addresses_left_by
from app.domain.shared.problems import Conflict, DomainError, Invalid
from app.domain.shared.records import existing
from app.domain.shared.text import numbered
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

CATEGORY = f"{LIST}/category/<int(max=2147483647):category_id>"
MOST_AT_ONCE = 200
MOST_PLACES = 50  # Shown at once, of those to which a category may move.
LONGEST_WORDS = 100
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


@bp.get(TREE)
@requires(Permission.MANAGE_MERCHANDISING)
def tree_page(tree_id: int) -> Answer:
    """The tree with one category chosen; for htmx the panel of that one alone."""
    category_id = sent_number(request.args.get("category", ""))
    context = _context(tree_id, category_id)
    if not wants_fragment():
        return _page(context)
    answer = make_response(render_template("admin/merchandising/tree/_panel.html", **context))
    answer.headers["HX-Replace-Url"] = _address(tree_id, category_id)
    return answer


@bp.post(f"{TREE}/categories")
@requires(Permission.MANAGE_MERCHANDISING)
def categories_add(tree_id: int) -> Answer:
    """Add categories, one a line, below `parent` (blank: at the top) or behind `after`."""
    parent_id, after_id = sent_number(request.form.get("parent", "")), sent_number(request.form.get("after", ""))
    try:
        names = _names(request.form.get("name", ""))
        with transaction():
            last_id = nodes.add_all(current_author(), tree_id, names, Target(parent_id, after_id=after_id))[-1].id
    except (Invalid, Conflict) as error:
        return _after_refusal(tree_id, parent_id, error)
    added = f"“{names[0]}”" if len(names) == 1 else numbered(len(names), "category", "categories")
    return _after_change(tree_id, last_id, f"Added {added}")


@bp.post(f"{CATEGORY}/name")
@requires(Permission.MANAGE_MERCHANDISING)
def category_rename(category_id: int) -> Answer:
    tree_id, before = _tree_of(category_id), _standing(category_id)
    try:
        with transaction():
            name = nodes.rename(
                current_author(), category_id, sent_revision(request.form), request.form.get("name", "")
            ).name
    except (Invalid, Conflict) as error:
        return _after_refusal(tree_id, category_id, error)
    return _after_change(tree_id, category_id, f"Renamed to “{name}”; its address stays", "category", before)


@bp.post(f"{CATEGORY}/visibility")
@requires(Permission.MANAGE_MERCHANDISING)
def category_visibility(category_id: int) -> Answer:
    visible, before = request.form.get("visible") == "1", _standing(category_id)
    with transaction():
        node = nodes.show(current_author(), category_id, visible)
        tree_id, name = node.tree_id, node.name
    summary = f"Shoppers see “{name}”" if visible else f"Hid “{name}” with all below it"
    return _after_change(tree_id, category_id, summary, "category", before)


@bp.post(f"{CATEGORY}/move")
@requires(Permission.MANAGE_MERCHANDISING)
def category_move(category_id: int) -> Answer:
    """Move a category by a step (`direction`), or below `parent`, `before` or `after` a sibling. A move that changes
    addresses in the shop is shown first, and done once it is `confirmed`."""
    tree_id, version, before = _tree_of(category_id), request.form.get("version"), _standing(category_id)
    try:
        where = _read_target(request.form)
        planned = nodes.plan_move(current_user.site_id, category_id, where, version)
        if planned.addresses and "confirmed" not in request.form:
            return _confirm_move(category_id, planned, version)
        with addresses_left_by(sent_choice()), transaction():
            name = nodes.move(current_author(), category_id, planned.target, version).name
    except (Invalid, Conflict) as error:
        return _after_refusal(tree_id, category_id, error)
    return _after_change(tree_id, category_id, f"Moved “{name}”", "category_place", before)


@bp.get(f"{CATEGORY}/move")
@requires(Permission.MANAGE_MERCHANDISING)
def category_places(category_id: int) -> str:
    """Show the places to which a category may move, found by words."""
    words = request.args.get("q", "")[:LONGEST_WORDS]
    outline = outline_of(current_user.site_id, nodes.node_of(current_user.site_id, category_id).tree_id)
    row = existing(outline.rows.get(category_id), nodes.MISSING)
    wanted = words.casefold().split()
    found = [
        (place, way)
        for place, way in _places(outline, row)
        if all(word in f"{way} {place.name}".casefold() for word in wanted)
    ]
    template = "admin/merchandising/tree/_places.html" if wants_fragment() else "admin/merchandising/tree/places.html"
    return render_template(
        template,
        outline=outline,
        row=row,
        words=words,
        places=found[:MOST_PLACES],
        more=max(0, len(found) - MOST_PLACES),
    )


@bp.get(f"{CATEGORY}/removal")
@requires(Permission.MANAGE_MERCHANDISING)
def category_removal(category_id: int) -> Answer:
    gone = nodes.removal(current_user.site_id, category_id)
    template = "admin/merchandising/tree/_removal.html" if wants_fragment() else "admin/merchandising/tree/removal.html"
    return render_template(template, category_id=category_id, gone=gone)


@bp.post(f"{CATEGORY}/removal")
@requires(Permission.MANAGE_MERCHANDISING)
def category_remove(category_id: int) -> Answer:
    """Delete a category, and show the one above it."""
    parent_id = nodes.node_of(current_user.site_id, category_id).parent_id
    with transaction():
        gone = nodes.delete(current_author(), category_id)
    return _after_change(gone.tree_id, parent_id, f"Deleted “{gone.name}”")


def _tree_of(category_id: int) -> int:
    return nodes.node_of(current_user.site_id, category_id).tree_id


def _standing(category_id: int) -> tuple[object, ...]:
    """Return what the page of a tree changes of a category."""
    node = nodes.node_of(current_user.site_id, category_id)
    return node.name, node.visible, node.parent_id, node.position


def _names(text: str) -> list[str]:
    """Return the lines that are not blank. Raises Invalid for none and for too many."""
    names = [line.strip() for line in text.splitlines() if line.strip()]
    if not names:
        raise Invalid.one("required", "A category needs a name.", "#/name")
    if len(names) > MOST_AT_ONCE:
        raise Invalid.one("too_many", f"At most {MOST_AT_ONCE} categories can be added at once.", "#/name")
    return names


def _read_target(form: MultiDict[str, str]) -> Direction | Target:
    """Return the direction or target of a move. Raises Invalid."""
    if "direction" not in form:
        before_id, after_id = sent_number(form.get("before", "")), sent_number(form.get("after", ""))
        return Target(sent_number(form.get("parent", "")), before_id, after_id)
    try:
        return Direction(form["direction"])
    except ValueError:
        raise Invalid.one("unknown_direction", "A category moves up, down, in or out.", "#/direction") from None


def _places(outline: TreeOutline, row: OutlineRow) -> list[tuple[OutlineRow, str]]:
    """Return the categories that can take the moved one, each with the names of those above it, in the order of the
    tree."""
    room = room_for({id: other.place for id, other in outline.rows.items()}, row.id)
    ways = ((outline.rows[id], " › ".join(above.name for above in outline.above(id))) for id in room)
    return sorted(ways, key=lambda place: (place[1].casefold(), place[0].name.casefold()))


def _context(tree_id: int, category_id: int | None, errors: FieldErrors = NO_ERRORS) -> dict[str, Any]:
    outline = outline_of(current_user.site_id, tree_id)
    return {
        "outline": outline,
        "tree": outline.tree,
        "chosen": outline.rows.get(category_id) if category_id is not None else None,
        "opened": _open_branches(outline, category_id),
        "counts": category_counts(ports.search_engine(), current_user.site_id),
        "errors": errors,
        "typed": request.form if errors else {},
    }


def _open_branches(outline: TreeOutline, category_id: int | None) -> frozenset[int]:
    """Return the branches that are open at first: all of a small tree, of a large one those above the chosen
    category."""
    return frozenset(row.id for row in outline.above(category_id)) if outline.is_large else frozenset(outline.rows)


def _page(context: dict[str, Any], status: int = 200) -> AnyResponse:
    shop = read_shop(current_user.site_id)
    names = {id: facet.name for id, facet in known_facets(shop.attributes, shop.taxonomy).items()}
    return make_response(render_template("admin/merchandising/tree/page.html", facet_names=names, **context), status)


def _after_change(
    tree_id: int, category_id: int | None, summary: str, kind: str = "", before: tuple[object, ...] = ()
) -> Answer:
    """Show the tree after a change, with its Undo where it is of a `kind` that has one and the category does not stand
    as `before`."""
    is_undoable = kind and category_id and _standing(category_id) != before
    undo = undo_address_of(kind, category_id) if is_undoable and category_id else None
    address = _address(tree_id, category_id)
    if not wants_fragment():
        if undo:
            flash_with_undo(f"{summary}.", undo, back=address)
        else:
            flash(f"{summary}.", "good")
        return redirect(address)
    at_top = request.endpoint == "admin.categories_add" and not request.form.get("parent")
    done = {"summary": summary, "added_at_top": at_top, "undo": undo, "back": address}
    return _changed_parts(_context(tree_id, category_id) | done, tree_id, category_id)


def _after_refusal(tree_id: int, category_id: int | None, error: DomainError) -> Answer:
    """Show a refusal: nothing was changed; the input stays, beside the tree as it is now."""
    errors = FieldErrors(error)
    context = _context(tree_id, category_id, errors)
    if not wants_fragment():
        return _page(context, errors.status)
    return _changed_parts(context | {"refusal": error.message}, tree_id, category_id, errors.status)


def _changed_parts(context: Mapping[str, Any], tree_id: int, category_id: int | None, status: int = 200) -> AnyResponse:
    answer = make_response(render_template("admin/merchandising/tree/_changes.html", **context), status)
    answer.headers["HX-Replace-Url"] = _address(tree_id, category_id)
    return answer


def _confirm_move(category_id: int, planned: PlannedMove, version: str | None) -> Answer:
    template = "admin/merchandising/tree/_move.html" if wants_fragment() else "admin/merchandising/tree/move.html"
    return render_template(template, category_id=category_id, planned=planned, version=version or "")


def _address(tree_id: int, category_id: int | None) -> str:
    return url_for("admin.tree_page", tree_id=tree_id, category=category_id)
