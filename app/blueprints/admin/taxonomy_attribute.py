"""The form of an attribute after one of its own buttons: another type, values added, moved or taken out. Nothing of the
draft changes by that."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.attribute_form import AttributeForm
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.taxonomy_editor import editor_page
from app.blueprints.admin.taxonomy_panel import panel_of
from app.domain.shared.problems import NotFound
from app.domain.taxonomy import editing as drafts
from app.htmx import wants_fragment
from app.permissions import Permission, requires

Answer = str | AnyResponse


@bp.post("/catalogue/taxonomy/<taxonomy_id>/attribute")
@requires(Permission.MANAGE_CATALOGUE)
def taxonomy_attribute(taxonomy_id: str) -> Answer:
    editing = drafts.open_draft(current_user.site_id, taxonomy_id, current_user.user_id)
    level_id, intent = request.form.get("level", ""), request.form.get("intent", "")
    if level_id not in editing.levels:
        raise NotFound("The level is not there any more. Reload the page.")
    panel = panel_of(editing, level_id, form=AttributeForm.typed(request.form).after(intent))
    if not wants_fragment():
        return editor_page(editing, level_id, panel)
    template = "_attribute_preview" if intent == "preview" else "_attribute_form"
    return render_template(
        f"admin/taxonomy/{template}.html",
        editing=editing,
        taxonomy=editing.taxonomy,
        level_id=level_id,
        panel=panel,
        form=panel.form,
        errors=panel.errors,
        changed=intent,
    )
