"""The Settings of the SEO section."""

from __future__ import annotations

from collections.abc import Mapping

from flask import redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, changes_since, sent_number, shown_settings
from app.blueprints.admin.shell import flash_saved
from app.blueprints.callers import current_author
from app.domain.merchandising.shop import read_shop
from app.domain.seo import settings
from app.domain.seo.settings import PAGE, SeoSettings, split_parameters
from app.domain.shared.problems import Invalid
from app.transaction import transaction
from app.web.permissions import Permission, requires

NO_ERRORS = FieldErrors()


@bp.get("/seo/settings")
@requires(Permission.MANAGE_SETTINGS)
def seo_settings() -> str:
    stored = settings.stored_settings(current_user.site_id)
    return _page(stored, str(stored.least_products), shown_settings(PAGE.stored_form(stored)), NO_ERRORS)


@bp.post("/seo/settings")
@requires(Permission.MANAGE_SETTINGS)
def seo_settings_save() -> str | Response | tuple[str, int]:
    wanted, shown = _posted_settings(request.form), request.form.get("shown", "")
    shop = read_shop(current_user.site_id)
    try:
        with transaction():
            changes = changes_since(shown, PAGE.stored_form(wanted))
            changed = settings.change_seo_settings(current_author(), changes, settings.filter_parameters(shop))
    except Invalid as invalid:
        return _page(wanted, request.form.get("leastProducts", ""), shown, FieldErrors(invalid)), 400
    address = url_for("admin.seo_settings")
    flash_saved(changed, f"Saved: {', '.join(changed)}.", "settings_seo", "seo", address)
    return redirect(address)


def _posted_settings(form: Mapping[str, str]) -> SeoSettings:
    return SeoSettings(
        least_products=sent_number(form.get("leastProducts", "").strip()),
        stale_counts="staleCounts" in form,
        drop_canonical="dropCanonical" in form,
        tracking=split_parameters(form.get("tracking", "")),
        skipped=split_parameters(form.get("skipped", "")),
        redirects="redirects" in form,
    )


def _page(form: SeoSettings, least: str, shown: str, errors: FieldErrors) -> str:
    return render_template("admin/seo/settings/page.html", form=form, least=least, shown=shown, errors=errors)
