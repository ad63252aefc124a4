"""The review of a draft before it is saved: its changes, their effects on products and shoppers, a note, and Save.

Also the conflict of a draft whose taxonomy another user saved first: both changes, rebase and discard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author
from app.domain.seo.shopper_impact import ShopperImpact, shopper_impact
from app.domain.shared.problems import Conflict, Invalid, StaleRevision
from app.domain.shared.text import numbered
from app.domain.taxonomy.editor import drafts
from app.domain.taxonomy.editor.drafts import Editing, StaleDraft, draft_conflict
from app.domain.taxonomy.impact import AttributeImpact, Impact, InvalidValuesImpact, ValueImpact, impact
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.taxonomies import is_active
from app.domain.taxonomy.tree import AttributeType, TaxonomyTree
from app.transaction import transaction
from app.web.permissions import Permission, requires

REVIEW = "/catalogue/taxonomy/<taxonomy_id>/review"
NO_ERRORS = FieldErrors()
TYPE_WORDS = {
    AttributeType.STRING: "a text",
    AttributeType.NUMBER: "a number",
    AttributeType.BOOLEAN: "a yes or no",
    AttributeType.SINGLE_SELECT: "one of a list",
    AttributeType.MULTI_SELECT: "several of a list",
}
CHANGED = "The draft was changed in another window since this page was opened. This is what a save would do now."
Answer = str | AnyResponse
CONFLICT = "/catalogue/taxonomy/<taxonomy_id>/conflict"
MOST_NAMED = 10


def shoppers_of(taxonomy: Taxonomy, tree: TaxonomyTree) -> ShopperImpact:
    """Return what shoppers lose by the changed tree; without landing pages while search does not answer."""
    pages_of = partial(ports.landing_directory().of, ports.search_engine(), ports.clock())
    return shopper_impact(taxonomy, tree, pages_of)


@dataclass(frozen=True, slots=True)
class Consequence:
    """An effect of a save on products. `link` are the parameters of the list of those products; `loses` marks an effect
    that takes something from them."""

    text: str
    products: int
    link: dict[str, str]
    loses: bool = True


@bp.get(REVIEW)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_review(taxonomy_id: str) -> Answer:
    return _review(taxonomy_id)


@bp.post(REVIEW)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_review_save(taxonomy_id: str) -> Answer:
    site_id, user_id = current_user.site_id, current_user.user_id
    note, token = request.form.get("note", ""), request.form.get("version", "")
    try:
        prepared = drafts.prepare_draft(site_id, taxonomy_id, user_id, token, note)
        with transaction():
            saved = drafts.save_draft(current_author(), user_id, token, prepared)
            summary = f"Saved {saved.taxonomy.name} as revision {saved.taxonomy.revision:,}."
    except StaleDraft:
        return _review(taxonomy_id, FieldErrors(Conflict(CHANGED)), note, 409)
    except StaleRevision:
        return redirect(url_for("admin.taxonomy_conflict", taxonomy_id=taxonomy_id))
    except Invalid as error:
        editing = drafts.open_draft(site_id, taxonomy_id, user_id)
        return _review_page(editing, FieldErrors(None if editing.problems else error), note, 400)
    except Conflict as error:
        flash(error.message, "plain")
        return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))
    flash(summary, "good")
    edited = request.form.get("level", "")  # The level that was edited last, by the id that it had then.
    level_id = saved.ids.get(edited, edited) or None
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id, level=level_id, saved=1))


def _review(taxonomy_id: str, errors: FieldErrors = NO_ERRORS, note: str = "", status: int = 200) -> Answer:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    if editing.is_stale:
        return redirect(url_for("admin.taxonomy_conflict", taxonomy_id=taxonomy_id))
    if editing.changes.is_empty:
        flash("There is nothing to save: the taxonomy is as it was.", "plain")
        return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))
    return _review_page(editing, errors, note, status)


def _review_page(editing: Editing, errors: FieldErrors = NO_ERRORS, note: str = "", status: int = 200) -> Answer:
    """Show the review, with the effects on products where the tree can be saved."""
    taxonomy = editing.taxonomy
    found = shoppers = None
    if not editing.problems:
        found = impact(taxonomy.site_id, taxonomy, editing.proposal, editing.renames)
        shoppers = shoppers_of(taxonomy, editing.proposal)
    page = render_template(
        "admin/taxonomy/review/page.html",
        editing=editing,
        taxonomy=taxonomy,
        active=is_active(taxonomy),
        consequences=[] if found is None else list(consequences(found)),
        truncated=found is not None and found.values_truncated,
        shoppers=shoppers,
        errors=errors,
        note=note,
    )
    return make_response(page, status)


def _holders(entry: AttributeImpact | ValueImpact | InvalidValuesImpact) -> dict[str, str]:
    """Return the parameters of the list of products at the level and below that hold the entry."""
    found = {"level": entry.level_id, "attribute": entry.attribute_id}
    return found | ({"value": entry.value} if isinstance(entry, ValueImpact) else {})


def consequences(found: Impact) -> Iterator[Consequence]:
    """Yield the effects of a save on products, those that take most first."""
    for level in found.levels_removed:
        text = f"The level “{level.name}” goes; its products are no longer classified."
        yield Consequence(text, level.products, {"level": level.level_id})
    for lost in found.attributes_removed:
        text = f"“{lost.name}” goes; products lose their value of it."
        yield Consequence(text, lost.products, _holders(lost))
    for lost in found.attributes_lost:
        text = f"“{lost.name}” does not hold any more where products are moved to; they lose their value of it."
        yield Consequence(text, lost.products, _holders(lost))
    for value in found.values_removed:
        text = f"“{value.value}” is no longer a value of “{value.name}”; products lose it."
        yield Consequence(text, value.products, _holders(value))
    yield from _redefinition_consequences(found)
    for value in found.values_renamed:
        products = numbered(value.products, "product")
        text = f"“{value.value}” of “{value.name}” becomes “{value.renamed}”: {products} will be updated."
        yield Consequence(text, value.products, _holders(value), loses=False)
    for level in found.levels_moved:
        text = f"The level “{level.name}” moves; its products stay in it."
        yield Consequence(text, level.products, {"level": level.level_id}, loses=False)
    for level in found.levels_renamed:
        text = f"The level “{level.name}” becomes “{level.renamed}”; its products show the new name."
        yield Consequence(text, level.products, {"level": level.level_id}, loses=False)


def _redefinition_consequences(found: Impact) -> Iterator[Consequence]:
    """Yield the effects of attributes that get another type or other rules."""
    for invalid in found.values_invalid:
        what = f"becomes {TYPE_WORDS[invalid.type]}" if invalid.is_retyped else "gets other rules"
        text = f"“{invalid.name}” {what}; products whose value does not fit have no valid one then."
        yield Consequence(text, invalid.products, _holders(invalid))
    for required in found.attributes_required:
        text = f"“{required.name}” becomes required; products without it count as incomplete."
        yield Consequence(text, required.products, {"level": required.level_id}, loses=False)


@bp.get(CONFLICT)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_conflict(taxonomy_id: str) -> Answer:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    if not editing.is_stale:
        return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))
    return render_template(
        "admin/taxonomy/conflict.html", editing=editing, taxonomy=editing.taxonomy, conflict=draft_conflict(editing)
    )


@bp.post(CONFLICT)
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_rebase(taxonomy_id: str) -> Answer:
    """Apply the user's own edits again, to what is stored now. Nothing is saved by that."""
    with transaction():
        rebased = drafts.rebase_draft(current_author(), taxonomy_id, current_user.user_id)
    for sentence in rebased.refused[:MOST_NAMED]:
        flash(f"Not reapplied: {sentence}", "warn")
    if len(rebased.refused) > MOST_NAMED:
        flash(f"… and {len(rebased.refused) - MOST_NAMED:,} more of your changes.", "warn")
    if rebased.steps:
        flash("Your changes were reapplied on the newest revision. Check them, then save.", "good")
    else:
        flash(
            "None of your changes is left to save: the newest revision has them already, or they cannot be applied.",
            "good",
        )
    return redirect(url_for("admin.taxonomy_editor", taxonomy_id=taxonomy_id))
