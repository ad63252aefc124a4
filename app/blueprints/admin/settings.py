"""The settings of the shop as a whole."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.author import current_author
from app.domain.shared.problems import Invalid
from app.domain.sites import shop_settings
from app.permissions import Permission, requires
from app.transaction import transaction


@bp.get("/settings")
@requires(Permission.MANAGE_SETTINGS)
def settings() -> str:
    shop = shop_settings.shop_settings(current_user.site_id)
    return _page(shop.name, str(shop.page_size), FieldErrors())


@bp.post("/settings")
@requires(Permission.MANAGE_SETTINGS)
def settings_save() -> str | Response | tuple[str, int]:
    name, typed = request.form.get("name", ""), request.form.get("pageSize", "").strip()
    page_size = int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 10 else None
    try:
        with transaction():
            changed = shop_settings.save(current_author(), name, page_size)
    except Invalid as invalid:
        return _page(name, typed, FieldErrors(invalid)), 400
    flash("Saved. Shoppers see it at once." if changed else "Nothing had changed.", "good")
    return redirect(url_for("admin.settings"))


def _page(name: str, page_size: str, errors: FieldErrors) -> str:
    shop = shop_settings.shop_settings(current_user.site_id)
    return render_template("admin/settings.html", shop=shop, name=name, page_size=page_size, errors=errors)
