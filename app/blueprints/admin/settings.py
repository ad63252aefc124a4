"""The settings of the shop as a whole, and its subscriptions: what its plan includes, its limits, and how much of them
is in use."""

from __future__ import annotations

from dataclasses import replace

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, changes_since, sent_number, shown_settings
from app.blueprints.admin.shell import Tab, flash_saved, section_tabs, shell
from app.blueprints.callers import current_author
from app.blueprints.storefront.home_preview import drawn_home
from app.domain.merchandising.shop import read_shop
from app.domain.plan import capabilities, change_capabilities, usage
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import settings as site_settings
from app.domain.sites.settings import THEME, SiteSettings, settings_of
from app.domain.sites.sites import currency_of
from app.transaction import transaction
from app.web.permissions import Permission, allowed, requires
from app.web.themes.drawing import themes
from app.web.tokens import issue_theme_preview

PAGES = (
    ("General", "admin.settings"),
    ("Appearance", "admin.appearance"),
    ("Delivery", "admin.delivery"),
    ("Emails", "admin.emails"),
    ("Import and export", "admin.bundles_page"),
    ("Sites", "admin.sites_page"),
    ("Backups", "admin.backups_page"),
    ("System", "admin.system"),
)


@bp.app_template_global("settings_tabs")
def settings_tabs() -> list[Tab]:
    return section_tabs(PAGES)


@bp.get("/settings")
@requires(Permission.MANAGE_SETTINGS)
def settings() -> str:
    shop = site_settings.shop_settings(current_user.site_id)
    shown = shown_settings(site_settings.stored_shop_form(shop.name, shop.page_size, shop.theme))
    return _settings_page(shop.name, str(shop.page_size), shop.theme, shown, FieldErrors())


@bp.post("/settings")
@requires(Permission.MANAGE_SETTINGS)
def settings_save() -> str | Response | tuple[str, int]:
    """Save the settings. A form without a theme leaves the one that the shop has."""
    name, theme, shown = request.form.get("name", ""), request.form.get("theme"), request.form.get("shown", "")
    typed = request.form.get("pageSize", "").strip()
    page_size = sent_number(typed)
    try:
        with transaction():
            changes = changes_since(shown, site_settings.stored_shop_form(name, page_size, theme))
            changed = site_settings.change_shop_settings(current_author(), changes, themes().by_name)
    except Invalid as invalid:
        return _settings_page(name, typed, theme or "", shown, FieldErrors(invalid)), 400
    address = url_for("admin.settings")
    flash_saved(changed, "Saved. Shoppers see it at once.", "settings_shop", "shop", address)
    return redirect(address)


@bp.get("/settings/themes/<name>/preview")
@requires(Permission.MANAGE_SETTINGS)
def theme_preview(name: str) -> Response:
    """Redirect to the shop's own host, which may be another than the admin's, with a token for this browser alone."""
    if name not in themes().by_name:
        raise NotFound("This theme no longer exists.")
    token = issue_theme_preview(current_user.site_id, name, ports.clock().now())
    return redirect(f"{shell().shop_url}theme-preview?token={token}")


@bp.get("/settings/themes/<name>/home")
@requires(Permission.MANAGE_SETTINGS)
def theme_home(name: str) -> Response:
    """Return the home page in a theme, as its picture beside its name."""
    if name not in themes().by_name:
        raise NotFound("This theme no longer exists.")
    shop = read_shop(current_user.site_id)
    return drawn_home(replace(shop, settings=SiteSettings(shop.settings | {THEME: name})))


def _settings_page(name: str, page_size: str, theme: str, shown: str, errors: FieldErrors) -> str:
    return render_template(
        "admin/settings.html",
        shop=site_settings.shop_settings(current_user.site_id),
        name=name,
        page_size=page_size,
        theme=theme,
        themes=themes(),
        shown=shown,
        errors=errors,
    )


@bp.get("/subscriptions")
@requires(Permission.MANAGE_SETTINGS)
def subscriptions() -> str:
    return _subscriptions_page(FieldErrors())


@bp.post("/subscriptions")
@requires(Permission.MANAGE_SITES)
def subscriptions_save() -> str | Response | tuple[str, int]:
    try:
        with transaction():
            sent = request.form
            changed = change_capabilities(current_author(), sent.getlist("capability"), sent.getlist("offered"))
    except Invalid as invalid:
        return _subscriptions_page(FieldErrors(invalid)), 400
    flash("Saved." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.subscriptions"))


def _subscriptions_page(errors: FieldErrors) -> str:
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
