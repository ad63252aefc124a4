"""The Settings of the Search section."""

from __future__ import annotations

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.search.settings_form import SearchSettingsForm
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.domain.search import settings
from app.domain.search.engine import IndexName
from app.domain.search.sentence_model import state_of
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.shared.problems import Invalid
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

NO_ERRORS = FieldErrors()


@bp.get("/settings/search")
@requires(Permission.MANAGE_SEARCH)
def search_settings() -> str:
    return _page(SearchSettingsForm.of(settings.stored_settings(current_user.site_id)))


@bp.post("/settings/search")
@requires(Permission.MANAGE_SEARCH)
def search_settings_save() -> str | Response | tuple[str, int]:
    form = SearchSettingsForm.typed(request.form, settings.stored_settings(current_user.site_id))
    if intent := request.form.get("intent"):
        return _after_button(form.after(intent))
    try:
        with transaction():
            saved = settings.change(current_author(), form.changes())
    except Invalid as invalid:
        return _page(form, FieldErrors(invalid)), 400
    address = url_for("admin.search_settings")
    if saved.changed:
        flash_undoable(f"Saved: {', '.join(saved.changed)}.", "settings", "search", address)
    else:
        flash("No changes to save.", "good")
    if saved.content_search_came_on:
        flash("Rebuild pages and collections on the Overview, so that search holds all of them.", "plain")
    return redirect(address)


def _after_button(form: SearchSettingsForm) -> str:
    """Show the changed list of filters; nothing is saved."""
    if not wants_fragment():
        return _page(form)
    return render_template("admin/search/settings/_filters.html", form=form, errors=NO_ERRORS, **_choices())


def _page(form: SearchSettingsForm, errors: FieldErrors = NO_ERRORS) -> str:
    engine = ports.search_engine()
    return render_template(
        "admin/search/settings/page.html",
        form=form,
        errors=errors,
        days_kept=KEEP_WORDS.days,
        engine_name=current_app.config["SHOP"].search_engine,
        products=engine.status(current_user.site_id, IndexName.PRODUCTS),
        content=engine.status(current_user.site_id, IndexName.CONTENT),
        model=state_of(ports.sentence_model()),
        **_choices(),
    )


def _choices() -> dict[str, object]:
    return {"choices": settings.filter_choices(current_user.site_id), "most": settings.MOST_FILTERS}
