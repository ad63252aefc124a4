"""The ranking settings: a form whose effect is previewed before it is saved, and the same as JSON."""

from __future__ import annotations

from collections.abc import Mapping

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, changes_since, shown_settings
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.orders.sales import products_with_sales
from app.domain.search import settings
from app.domain.search.ranking_settings import RANKING, of_json, ranking_of, stored_form
from app.domain.shared.problems import Invalid
from app.domain.sites.settings import settings_of
from app.errors import wants_json
from app.permissions import Permission, requires
from app.transaction import transaction

PATH = "/search/ranking/settings"


@bp.get(PATH)
@requires(Permission.MANAGE_SEARCH)
def search_ranking_settings() -> str | Response:
    """Show the settings as a page or as JSON, by the kind of request."""
    stored = ranking_of(settings_of(current_user.site_id))
    if wants_json():
        return jsonify(stored.as_json())
    return _page(stored.as_json(), shown_settings(stored_form(stored)))


@bp.post(PATH)
@requires(Permission.MANAGE_SEARCH)
def search_ranking_settings_save() -> Response | tuple[str, int]:
    sent, shown = {name: request.form.get(name, "") for name in RANKING.fields}, request.form.get("shown", "")
    try:
        saved = _save(changes_since(shown, stored_form(of_json(RANKING.load(sent)))))
    except Invalid as invalid:
        return _page(sent, shown, FieldErrors(invalid)), 400
    address = url_for("admin.search_ranking_settings")
    if saved.changed:
        flash_undoable(f"Saved: {', '.join(saved.changed)}. Live within two seconds.", "settings", "search", address)
    else:
        flash("No changes to save.", "good")
    return redirect(address)


@bp.put(PATH)
@requires(Permission.MANAGE_SEARCH)
def search_ranking_settings_change() -> Response:
    """Replace all of the settings with those of the JSON body."""
    wanted = of_json(json_body(RANKING))
    _save(stored_form(wanted))
    return jsonify(wanted.as_json())


def _save(values: Mapping[str, object]) -> settings.SavedSettings:
    with transaction():
        return settings.change_ranking(current_author(), values)


def _page(form: dict[str, str], shown: str, errors: FieldErrors | None = None) -> str:
    return render_template(
        "admin/search/ranking_settings/page.html",
        form=form,
        shown=shown,
        errors=errors or FieldErrors(),
        sold=products_with_sales(current_user.site_id),
    )
