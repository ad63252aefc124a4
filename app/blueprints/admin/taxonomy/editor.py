"""The taxonomy editor: its page, and the small edits of its draft.

Also the form of an attribute after one of its own buttons, which changes nothing of the draft, and the places to which
a level may move.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import sent_revision
from app.blueprints.admin.taxonomy.attribute_form import AttributeForm, attribute_edit
from app.blueprints.admin.taxonomy.panel import Panel, panel_of
from app.blueprints.admin.taxonomy.tasks import banner_of, to_restore
from app.blueprints.admin.taxonomy.tree import ShownTree, drawn_levels, level_edits, shown_tree
from app.blueprints.callers import current_author
from app.domain.shared.problems import DomainError, Invalid, NotFound, StaleRevision
from app.domain.shared.text import numbered
from app.domain.taxonomy.editor import drafts
from app.domain.taxonomy.editor.drafts import Edited, Editing, StaleDraft
from app.domain.taxonomy.editor.level_edits import Edit
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.sent_tree import DEEPEST
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

EDITOR = "/catalogue/taxonomy/<taxonomy_id>"
MOST_MARKED = 2_000
OF_PANEL = ("attribute.",)
OTHER_WINDOW = "You changed this taxonomy in another window. This is how it is now."
Answer = str | AnyResponse
MOST_SHOWN = 50
LONGEST_WORDS = 100


@bp.get(EDITOR)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_editor(taxonomy_id: str) -> Answer:
    editing = _open_draft(taxonomy_id)
    level_id = _level_in(editing, request.args.get("level"))
    return editor_page(editing, level_id, panel_of(editing, level_id))


@bp.get(f"{EDITOR}/level")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_level(taxonomy_id: str) -> Answer:
    """Show the panel of one level; without htmx the page with it. A window whose `version` is not the draft's gets the
    tree as well, since another window changed the draft."""
    editing = _open_draft(taxonomy_id)
    level_id = _level_in(editing, request.args.get("level"))
    attribute_id = request.args.get("attribute") if level_id else None
    page = url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id, level=level_id, attribute=attribute_id or None)
    if not wants_fragment():
        return redirect(page)
    is_current = request.args.get("version", editing.token) == editing.token
    drawn = [level_id] if is_current and level_id else None
    context = _context(editing, level_id, panel_of(editing, level_id), drawn)
    if is_current:
        answer = make_response(render_template("admin/taxonomy/editor/_level.html", **context))
    else:
        late = {"refusal": OTHER_WINDOW, "whole": True, "keeps_panel": False}
        answer = make_response(render_template("admin/taxonomy/editor/_changes.html", **context | late))
    answer.headers["HX-Replace-Url"] = page
    return answer


@bp.post(f"{EDITOR}/draft")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_draft(taxonomy_id: str) -> Answer:
    """Apply one edit, which the field `edit` names, to the draft."""
    try:
        with transaction():
            edited = drafts.edit(current_author(), taxonomy_id, current_user.user_id, _requested_edits, _token())
    except StaleDraft as error:
        return _answer_late_window(taxonomy_id, error)
    except NotFound:
        raise
    except DomainError as error:
        return _answer_refusal(taxonomy_id, error)
    return _answer_edit(edited, edited.step.label if edited.step else "No changes")


@bp.post(f"{EDITOR}/draft/undo")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_undo(taxonomy_id: str) -> Answer:
    return _answer_turn(taxonomy_id, drafts.undo, "Undone: {}", "There is nothing to undo")


@bp.post(f"{EDITOR}/draft/redo")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_redo(taxonomy_id: str) -> Answer:
    return _answer_turn(taxonomy_id, drafts.redo, "Redone: {}", "There is nothing to redo")


@bp.post(f"{EDITOR}/draft/discard")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_discard(taxonomy_id: str) -> Answer:
    with transaction():
        editing = drafts.discard(current_user.site_id, taxonomy_id, current_user.user_id)
    flash("Unsaved changes discarded. This is the taxonomy as last saved.", "good")
    return _to_editor(taxonomy_id, _level_in(editing, request.form.get("level")))


@bp.post(f"{EDITOR}/details")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_details(taxonomy_id: str) -> Answer:
    """Save the taxonomy's own name and description at once, without the draft. On an old revision the form comes back,
    and saving again overwrites the texts that another user saved."""
    user_id, revision = current_user.user_id, sent_revision(request.form)
    texts = request.form.get("name", ""), request.form.get("description", "")
    try:
        with transaction():
            drafts.change_details(current_author(), taxonomy_id, user_id, revision, *texts)
    except (Invalid, StaleRevision) as error:
        return _answer_refusal(taxonomy_id, error)
    flash("Saved the name and the description.", "good")
    return _to_editor(taxonomy_id, None)


def editor_page(editing: Editing, level_id: str | None, panel: Panel, status: int = 200) -> AnyResponse:
    banner = banner_of(current_user.site_id, editing.taxonomy)
    context = _context(editing, level_id, panel) | {
        "banner": banner,
        "restorable": to_restore(current_user.site_id) if banner else 0,
    }
    return make_response(render_template("admin/taxonomy/editor/page.html", **context), status)


def _context(
    editing: Editing, level_id: str | None, panel: Panel, drawn: Collection[str] | None = None
) -> dict[str, Any]:
    tree = shown_tree(editing, level_id, drawn)
    return {
        "editing": editing,
        "taxonomy": editing.taxonomy,
        "tree": tree,
        "level_id": level_id,
        "level": editing.levels.get(level_id) if level_id else None,
        "panel": panel,
    }


def _open_draft(taxonomy_id: str) -> Editing:
    return drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)


def _level_in(editing: Editing, level_id: str | None) -> str | None:
    return level_id if level_id in editing.levels else None


def _marked_levels() -> list[str]:
    """The levels at whose rows the window shows the sign of a problem."""
    return request.form.get("marked", "").split()[:MOST_MARKED]


def _token() -> str | None:
    return request.form.get("version") or None


def _requested_edits(tree: TaxonomyTree) -> Edit | Sequence[Edit]:
    if request.form.get("edit", "").startswith(OF_PANEL):
        return attribute_edit(request.form)
    return level_edits(request.form, tree)


def _answer_turn(taxonomy_id: str, turn: Callable[..., Edited], label: str, nothing: str) -> Answer:
    try:
        with transaction():
            edited = turn(current_author(), taxonomy_id, current_user.user_id, _token())
    except StaleDraft as error:
        return _answer_late_window(taxonomy_id, error)
    return _answer_edit(edited, label.format(edited.step.label) if edited.step else nothing)


def _answer_edit(edited: Edited, summary: str) -> Answer:
    """Return the changed parts of the page; without htmx the page anew."""
    editing = edited.after
    level_id = _level_to_look_at(edited)
    drawn = drawn_levels(edited.before, editing, level_id, _marked_levels())
    context = _context(editing, level_id, panel_of(editing, level_id), drawn)
    tree: ShownTree = context["tree"]
    losing = sum((tree.products or {}).get(gone, 0) for gone in edited.before.levels if gone not in editing.levels)
    if losing:
        loses = "loses its level" if losing == 1 else "lose their level"
        summary = f"{summary}: {numbered(losing, 'product')} {loses} when you save"
    if not wants_fragment():
        flash(f"{summary}.", "plain")
        return _to_editor(editing.taxonomy.id, level_id)
    change = {
        "change": tree.since(edited.before, _marked_levels()),
        "summary": summary,
        "losing": losing,
        # Unlike all other forms, the one that adds levels at the top is not about a level.
        "added_at_top": request.form.get("edit") == "level.add" and "level" not in request.form,
    }
    return _changed_parts(context | change, level_id)


def _level_to_look_at(edited: Edited) -> str | None:
    """The level that the step was about. Where it is gone, the one before it or above it."""
    levels, before = edited.after.levels, edited.before.tree
    level_id = edited.step.level_id if edited.step else request.form.get("level")
    if level_id is None or level_id in levels or level_id not in before.levels:
        return _level_in(edited.after, level_id) or _level_in(edited.after, request.form.get("level"))
    parent_id = before.levels[level_id].parent_id
    beside = before.siblings(parent_id)
    near = [*reversed(beside[: beside.index(level_id)]), parent_id]
    return next((found for found in near if found in levels), None)


def _changed_parts(context: dict[str, Any], level_id: str | None, status: int = 200) -> AnyResponse:
    """Return the changed parts of the page. `keep` is sent by a window whose panel holds what a user types: it stays as
    it is."""
    keeps = {"keeps_panel": "keep" in request.form}
    answer = make_response(render_template("admin/taxonomy/editor/_changes.html", **keeps | context), status)
    taxonomy_id = context["taxonomy"].id
    if not keeps["keeps_panel"]:
        answer.headers["HX-Replace-Url"] = url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id, level=level_id)
    return answer


def _answer_late_window(taxonomy_id: str, error: StaleDraft) -> Answer:
    """Return the tree as another window of this user changed it. The panel keeps what was typed, so that it can be sent
    again."""
    editing = _open_draft(taxonomy_id)
    level_id = _level_in(editing, request.form.get("level"))
    panel = panel_of(editing, level_id, typed=request.form, error=error)
    if not wants_fragment():
        return editor_page(editing, level_id, panel, 409)
    context = _context(editing, level_id, panel) | {"refusal": error.message, "whole": True, "keeps_panel": True}
    return _changed_parts(context, level_id, 409)


def _answer_refusal(taxonomy_id: str, error: DomainError) -> Answer:
    """Show a refusal; nothing was changed. A form of the panel comes back with its input and the reason, and where
    another user saved since with the tree as it is now."""
    is_late = isinstance(error, StaleRevision)
    status = 409 if is_late else 400
    editing = _open_draft(taxonomy_id)
    level_id = _level_in(editing, request.form.get("level"))
    panel = panel_of(editing, level_id, typed=request.form, error=error)
    if not wants_fragment():
        return editor_page(editing, level_id, panel, status)
    context = _context(editing, level_id, panel) | {"refusal": error.message, "whole": is_late}
    return _changed_parts(context | ({} if _is_of_panel() else {"keeps_panel": True}), level_id, status)


def _is_of_panel() -> bool:
    return request.form.get("edit", "").startswith((*OF_PANEL, "level.change")) or "edit" not in request.form


def _to_editor(taxonomy_id: str, level_id: str | None) -> AnyResponse:
    address = url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id, level=level_id)
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.post("/catalogue/taxonomy/<taxonomy_id>/attribute")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_attribute(taxonomy_id: str) -> Answer:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    level_id, intent = request.form.get("level", ""), request.form.get("intent", "")
    if level_id not in editing.levels:
        raise NotFound("The level is not there any more. Reload the page.")
    form, error = _press(AttributeForm.typed(request.form), intent)
    panel = panel_of(editing, level_id, form=form, error=error)
    status = panel.errors.status if panel.errors else 200
    if not wants_fragment():
        return editor_page(editing, level_id, panel, status)
    page = render_template(
        "admin/taxonomy/editor/_attribute_preview.html"
        if intent == "preview"
        else "admin/taxonomy/editor/_attribute_form.html",
        editing=editing,
        taxonomy=editing.taxonomy,
        level_id=level_id,
        panel=panel,
        form=panel.form,
        errors=panel.errors,
        changed=intent,
    )
    return make_response(page, status)


def _press(form: AttributeForm, intent: str) -> tuple[AttributeForm, Invalid | None]:
    """Return the form after a button was pressed; unchanged, with the error, where the button may not do that."""
    try:
        return form.after(intent), None
    except Invalid as error:
        return form, error


@dataclass(frozen=True, slots=True)
class MoveTarget:
    """A level that could take another below it; `way` names those above it."""

    level_id: str
    name: str
    way: str


@bp.get(f"{EDITOR}/move")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_move(taxonomy_id: str) -> str:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    level_id, words = request.args.get("level", ""), request.args.get("q", "")[:LONGEST_WORDS]
    if level_id not in editing.levels:
        raise NotFound("There is no such level any more.")
    wanted = words.casefold().split()
    targets = _move_targets(editing.tree, level_id)
    found = [one for one in targets if all(word in f"{one.way} {one.name}".casefold() for word in wanted)]
    context = {
        "editing": editing,
        "taxonomy": editing.taxonomy,
        "level_id": level_id,
        "level": editing.levels[level_id],
        "words": words,
        "places": found[:MOST_SHOWN],
        "more": max(0, len(found) - MOST_SHOWN),
    }
    template = "admin/taxonomy/editor/_move_dialog.html" if wants_fragment() else "admin/taxonomy/editor/move.html"
    return render_template(template, **context)


def _move_targets(tree: TaxonomyTree, level_id: str) -> Iterator[MoveTarget]:
    """Yield the levels below which a level could be moved: none of its own branch, not its parent, and none so deep
    that the branch would not fit."""
    own = set(tree.below(level_id))
    depths = {found: len(tree.path(found)) for found in tree.levels}
    height = max(depths[found] for found in own) - depths[level_id] + 1
    for level in tree.levels.values():
        if level.id in own or level.id == tree.levels[level_id].parent_id or depths[level.id] + height > DEEPEST:
            continue
        yield MoveTarget(level.id, level.name, " › ".join(above.name for above in tree.path(level.id)[:-1]))
