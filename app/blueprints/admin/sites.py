"""The sites of the server: listed, created, also as copies of others."""

from __future__ import annotations

from zoneinfo import available_timezones

from flask import current_app, flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.callers import current_author
from app.config import Config
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.site_creation import NewSite, copy_again, create_site, listed_sites
from app.domain.shared import currencies
from app.domain.shared.problems import Conflict, Invalid
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

NO_REGIONS = ("Etc/", "SystemV/", "US/", "posix/", "right/")  # Other names of zones, which the list leaves out.


@bp.get("/settings/sites")
@requires(Permission.MANAGE_SITES)
def sites_page() -> str:
    """Show the page; its list reloads itself while a site is being copied."""
    if wants_fragment():
        return render_template("admin/sites/_list.html", listed=listed_sites(ports.clock()))
    return _page(NewSite(), FieldErrors())


@bp.post("/settings/sites")
@requires(Permission.MANAGE_SITES)
def site_create() -> Response | tuple[str, int]:
    new = _sent_site()
    try:
        with transaction():
            site = create_site(current_author(), current_user.user_id, new, _new_file())
            created = f"Created {site.name} at {site.primary_host}."
    except Invalid as invalid:
        return _page(new, FieldErrors(invalid)), 400
    copied = " The copy is being made; its line shows how far it is." if new.source_site_id else ""
    flash(f"{created}{copied}", "good")
    return redirect(url_for("admin.sites_page"))


@bp.post("/settings/sites/copy")
@requires(Permission.MANAGE_SITES)
def site_copy_again() -> Response:
    site_id = sent_number(request.form.get("site", "")) or 0
    try:
        with transaction():
            copied = copy_again(current_author(), current_user.user_id, site_id, _new_file()).name
        flash(f"{copied} is being copied again; its line shows how far it is.", "good")
    except Conflict as conflict:
        flash(conflict.message, "bad")
    return redirect(url_for("admin.sites_page"))


@bp.app_template_filter("address_of_host")
def address_of_host(host: str) -> str:
    """Return the address of a site's shop, at the port of this admin."""
    _, colon, port = request.host.partition(":")
    return f"{request.scheme}://{host}{colon}{port}/"


def _new_file() -> str:
    config: Config = current_app.config["SHOP"]
    return BundleFolder(config.bundle_folder).new_name()


def _sent_site() -> NewSite:
    sent = request.form
    source = sent.get("source", "")
    return NewSite(
        host=sent.get("host", ""),
        name=sent.get("name", ""),
        currency=sent.get("currency", "").strip().lower(),
        time_zone=sent.get("timeZone", ""),
        staging="staging" in sent,
        source_site_id=(sent_number(source) or 0) if source else None,
    )


def _page(new: NewSite, errors: FieldErrors) -> str:
    zones = {zone for zone in available_timezones() if "/" in zone and not zone.startswith(NO_REGIONS)}
    return render_template(
        "admin/sites/page.html",
        listed=listed_sites(ports.clock()),
        new=new,
        currencies=currencies.NAMES,
        zones=sorted(zones | {"UTC", new.time_zone}),
        errors=errors,
    )
