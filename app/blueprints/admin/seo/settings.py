"""The Settings of the SEO section."""

from __future__ import annotations

from collections.abc import Mapping

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.author import current_author
from app.domain.merchandising.shop import read_shop
from app.domain.seo import settings
from app.domain.seo.settings import SeoSettings, cleaned_parameters, fingerprint
from app.domain.shared.problems import Conflict, Invalid
from app.permissions import Permission, requires
from app.transaction import transaction

NO_ERRORS = FieldErrors()


@bp.get("/seo/settings")
@requires(Permission.MANAGE_SETTINGS)
def seo_settings() -> str:
    stored = settings.stored_settings(current_user.site_id)
    return _page(stored, str(stored.least_products), NO_ERRORS, fingerprint(stored))


@bp.post("/seo/settings")
@requires(Permission.MANAGE_SETTINGS)
def seo_settings_save() -> str | Response | tuple[str, int]:
    wanted = _typed(request.form)
    shop = read_shop(current_user.site_id)
    try:
        with transaction():
            changed = settings.save(
                current_author(), wanted, settings.filter_parameters(shop), request.form.get("seen") or None
            )
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _page(wanted, request.form.get("leastProducts", ""), errors, _seen(errors)), errors.status
    flash(f"Saved: {', '.join(changed)}." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.seo_settings"))


def _typed(form: Mapping[str, str]) -> SeoSettings:
    least = form.get("leastProducts", "").strip()
    return SeoSettings(
        least_products=int(least) if least.isascii() and least.isdigit() and len(least) < 10 else None,
        stale_counts="staleCounts" in form,
        drop_canonical="dropCanonical" in form,
        tracking=cleaned_parameters(form.get("tracking", "")),
        skipped=cleaned_parameters(form.get("skipped", "")),
    )


def _seen(errors: FieldErrors) -> str:
    """Return the fingerprint for another try: over settings that another user changed they are saved by saving
    again."""
    if errors.conflict:
        return fingerprint(settings.stored_settings(current_user.site_id))
    return request.form.get("seen", "")


def _page(form: SeoSettings, least: str, errors: FieldErrors, seen: str) -> str:
    return render_template("admin/seo/settings/page.html", form=form, least=least, errors=errors, seen=seen)
