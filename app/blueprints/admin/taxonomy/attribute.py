"""The form of an attribute after one of its own buttons: another type, values added, moved or taken out. Nothing of the
draft changes by that."""

from __future__ import annotations

from flask import make_response, render_template, request
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.taxonomy.attribute_form import AttributeForm
from app.blueprints.admin.taxonomy.editor import editor_page
from app.blueprints.admin.taxonomy.panel import panel_of
from app.domain.shared.problems import Invalid, NotFound
from app.domain.taxonomy.editor import drafts
from app.htmx import wants_fragment
from app.permissions import Permission, requires

Answer = str | AnyResponse


@bp.post("/catalogue/taxonomy/<taxonomy_id>/attribute")
@requires(Permission.MANAGE_TAXONOMY)
def taxonomy_attribute(taxonomy_id: str) -> Answer:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    level_id, intent = request.form.get("level", ""), request.form.get("intent", "")
    if level_id not in editing.levels:
        raise NotFound("The level is not there any more. Reload the page.")
    form, error = _after(AttributeForm.typed(request.form), intent)
    panel = panel_of(editing, level_id, form=form, error=error)
    status = panel.errors.status if panel.errors else 200
    if not wants_fragment():
        return editor_page(editing, level_id, panel, status)
    page = render_template(
        "admin/taxonomy/attribute/_preview.html" if intent == "preview" else "admin/taxonomy/attribute/_form.html",
        editing=editing,
        taxonomy=editing.taxonomy,
        level_id=level_id,
        panel=panel,
        form=panel.form,
        errors=panel.errors,
        changed=intent,
    )
    return make_response(page, status)


def _after(form: AttributeForm, intent: str) -> tuple[AttributeForm, Invalid | None]:
    """Return the form after a button was pressed; unchanged, with the error, where the button may not do that."""
    try:
        return form.after(intent), None
    except Invalid as error:
        return form, error
