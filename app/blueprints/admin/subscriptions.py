"""Subscriptions: what the shop's plan includes, its limits, and how much of them is in use."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.author import current_author
from app.domain.plan.capabilities import capabilities, change_capabilities
from app.domain.plan.usage import usage
from app.domain.shared.problems import Invalid
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import currency_of
from app.permissions import Permission, allowed, requires
from app.transaction import transaction


@bp.get("/subscriptions")
@requires(Permission.MANAGE_SETTINGS)
def subscriptions() -> str:
    return _page(FieldErrors())


@bp.post("/subscriptions")
@requires(Permission.MANAGE_SITES)
def subscriptions_save() -> str | Response | tuple[str, int]:
    try:
        with transaction():
            sent = request.form
            changed = change_capabilities(current_author(), sent.getlist("capability"), sent.getlist("offered"))
    except Invalid as invalid:
        return _page(FieldErrors(invalid)), 400
    flash("Saved." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.subscriptions"))


def _page(errors: FieldErrors) -> str:
    site_id = current_user.site_id
    return render_template(
        "admin/subscriptions.html",
        capabilities=capabilities(site_id),
        usage=usage(site_id),
        currency=currency_of(site_id),
        largest_payment=settings_of(site_id)["posMaxTransactionAmount"],
        may_edit=allowed(current_user.roles, Permission.MANAGE_SITES),
        errors=errors,
    )
