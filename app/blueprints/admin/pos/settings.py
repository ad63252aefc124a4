"""The settings of Mobile POS: the switch, limits and the processor’s ids."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.pos.agent_form import read_limit
from app.blueprints.admin.shown_settings import changes_since, shown_settings
from app.blueprints.author import current_author, is_superadmin
from app.domain.pos import locations, settings
from app.domain.pos.settings import PosSettings, stored_form
from app.domain.shared.money import decimal_text
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites.sites import currency_of
from app.permissions import Permission, requires
from app.transaction import transaction

LARGEST = "posMaxTransactionAmount"


@bp.get("/pos/settings")
@requires(Permission.MANAGE_POS)
def pos_settings() -> str:
    stored = settings.stored_settings(current_user.site_id)
    largest = decimal_text(stored.largest or 0, currency_of(current_user.site_id))
    return _page(stored, largest, shown_settings(stored_form(stored)), FieldErrors())


@bp.post("/pos/settings")
@requires(Permission.MANAGE_POS)
def pos_settings_save() -> str | Response | tuple[str, int]:
    problems: list[Problem] = []
    wanted, shown = _typed(request.form, problems), request.form.get("shown", "")
    try:
        if problems:
            raise Invalid(problems)
        with transaction():
            changes = changes_since(shown, stored_form(wanted))
            changed = settings.change(current_author(), changes, may_share=is_superadmin())
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _page(wanted, request.form.get(LARGEST, ""), shown, errors), errors.status
    flash(f"Saved: {', '.join(changed)}." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.pos_settings"))


def _typed(sent: MultiDict[str, str], problems: list[Problem]) -> PosSettings:
    currency = currency_of(current_user.site_id)
    return PosSettings(
        is_enabled="posEnabled" in sent,
        location_id=sent.get("posProcessorLocationId", "").strip(),
        account_id=sent.get("posProcessorAccountId", "").strip(),
        allows_quick_payments="posAllowQuickPayments" in sent,
        largest=read_limit(problems, sent, LARGEST, currency, required=True),
    )


def _page(form: PosSettings, largest: str, shown: str, errors: FieldErrors) -> str:
    site_id = current_user.site_id
    return render_template(
        "admin/pos/settings/page.html",
        form=form,
        largest=largest,
        shown=shown,
        errors=errors,
        places=locations.list_locations(site_id),
        currency=currency_of(site_id),
        processor=ports.payment_processor().name,
    )
