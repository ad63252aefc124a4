"""The SEO section: sitemap, site check, inspector, crawlers and settings, each with its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.admin.section_tabs import Tab, section_tabs
from app.blueprints.admin.shown_settings import changes_since, shown_settings
from app.blueprints.author import current_author
from app.domain.merchandising.shop import read_shop
from app.domain.seo import settings, site_check
from app.domain.seo.crawler_hits import PERIODS, crawler_report, names_in_addresses
from app.domain.seo.inspector import InspectedAddress, InspectedShop, Inspection, inspect_page, read_address
from app.domain.seo.settings import SeoSettings, split_parameters, stored_form
from app.domain.seo.site_crawl import MOST_ADDRESSES, MOST_SAMPLES
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import latest_build, sitemap_overview
from app.domain.seo.sitemap.entries import ExactCounts
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites.shop_settings import shop_settings
from app.htmx import wants_fragment
from app.in_process import pages_of
from app.permissions import Permission, allowed, requires
from app.transaction import transaction

Answer = str | tuple[str, int]

NO_ERRORS = FieldErrors()
PAGES = (
    ("Sitemap", "admin.seo_sitemap"),
    ("Site check", "admin.seo_check"),
    ("Inspector", "admin.seo_inspector"),
    ("Crawlers", "admin.seo_crawlers"),
    ("Settings", "admin.seo_settings"),
)


@bp.app_template_global("seo_tabs")
def seo_tabs(tab_of: str | None = None) -> list[Tab]:
    return section_tabs(PAGES, tab_of)


@bp.get("/seo/sitemap")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_sitemap() -> str:
    return _sitemap_page("admin/seo/sitemap/page.html")


@bp.get("/seo/sitemap/build")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_sitemap_build() -> str:
    """Show the card of the latest build, which the page reloads while it is unfinished. Once its state is another than
    the page knows (`was`), the other cards come along and the change is announced."""
    latest = latest_build(ports.clock(), current_user.site_id)
    if latest is None or latest.state == request.args.get("was"):
        return render_template("admin/seo/sitemap/_build.html", build=latest)
    return _sitemap_page("admin/seo/sitemap/_build_changed.html")


@bp.post("/seo/sitemap/build")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_sitemap_request() -> str | Response:
    try:
        with transaction():
            builds.request_build(current_author(), is_noted=True)
    except builds.StagingSite as refused:
        flash(refused.message, "bad")
    if wants_fragment():
        return _sitemap_page("admin/seo/sitemap/_build_changed.html")
    return redirect(url_for("admin.seo_sitemap"))


def _sitemap_page(template: str) -> str:
    shown = sitemap_overview(ports.clock(), ports.search_engine(), ports.sitemaps(), current_user.site_id)
    return render_template(template, shown=shown, build=shown.build)


@bp.get("/seo/check")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_check() -> str:
    """Show the latest check; the page reloads it while it is unfinished."""
    template = "admin/seo/check/_check.html" if wants_fragment() else "admin/seo/check/page.html"
    check = site_check.latest_check(ports.clock(), current_user.site_id)
    return render_template(template, check=check, most=MOST_ADDRESSES, samples=MOST_SAMPLES)


@bp.post("/seo/check")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_check_request() -> Response:
    try:
        with transaction():
            site_check.request_check(current_author())
    except Conflict as conflict:
        flash(conflict.message, "bad")
    return redirect(url_for("admin.seo_check"))


@bp.get("/seo/inspector")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_inspector() -> Answer:
    """Show the inspection of an address. `url` is an address or path of the shop; without one the page is a form
    alone."""
    text = request.args.get("url", "").strip()
    if not text:
        return _inspector_page("")
    try:
        address = read_address(text, shop_settings(current_user.site_id).hosts)
    except Invalid as invalid:
        return _inspector_page(text, problem=invalid.problems[0].message), 400
    return _inspector_page(text, _inspect(address))


def _inspect(address: InspectedAddress) -> Inspection:
    shop, engine = read_shop(current_user.site_id), ports.search_engine()
    landing_pages_of = partial(ports.landing_directory().of, engine, ports.clock(), shop)
    counts = ExactCounts.of_site(engine, shop.site_id)
    return inspect_page(InspectedShop(shop, pages_of(address.host), landing_pages_of, counts.of), address)


def _inspector_page(text: str, inspection: Inspection | None = None, problem: str = "") -> str:
    template = "admin/seo/inspector/_inspection.html" if wants_fragment() else "admin/seo/inspector/page.html"
    return render_template(template, url=text, inspection=inspection, problem=problem)


@bp.get("/seo/crawlers")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_crawlers() -> str:
    days = _chosen_days(request.args.get("days", ""))
    filters = settings.filter_parameters(read_shop(current_user.site_id))
    found = crawler_report(ports.clock(), current_user.site_id, days, filters)
    may_decide = allowed(current_user.roles, Permission.MANAGE_SETTINGS)
    return render_template("admin/seo/crawlers/page.html", report=found, periods=PERIODS, may_decide=may_decide)


@bp.post("/seo/crawlers/tracking")
@requires(Permission.MANAGE_SETTINGS)
def seo_crawlers_tracking() -> Response:
    """Treat `parameter` as one that only tracks visitors; with `undo` no more."""
    name, is_undone = _posted_parameter()
    known = settings.filter_parameters(read_shop(current_user.site_id))
    done = f"“{name}” counts as a filter again." if is_undone else f"“{name}” is now treated as tracking."
    return _save_decision(
        done, lambda: settings.treat_as_tracking(current_author(), name, known, is_tracking=not is_undone)
    )


@bp.post("/seo/crawlers/skipped")
@requires(Permission.MANAGE_SETTINGS)
def seo_crawlers_skipped() -> Response:
    """Add `parameter` to those whose addresses robots.txt disallows for bots; with `undo` remove it."""
    name, is_undone = _posted_parameter()
    done = f"Bots may crawl addresses with “{name}” again." if is_undone else f"robots.txt asks bots to skip “{name}”."

    def decide() -> bool:
        names = names_in_addresses(name)
        return any([settings.skip_in_robots(current_author(), one, is_skipped=not is_undone) for one in names])

    return _save_decision(done, decide)


def _save_decision(done: str, decide: Callable[[], bool]) -> Response:
    try:
        with transaction():
            changed = decide()
    except Invalid as invalid:
        flash(" ".join(problem.message for problem in invalid.problems), "bad")
    else:
        flash(done if changed else "No changes to save.", "good")
    return redirect(url_for("admin.seo_crawlers", days=_chosen_days(request.form.get("days", ""))))


def _posted_parameter() -> tuple[str, bool]:
    return request.form.get("parameter", "").strip(), "undo" in request.form


def _chosen_days(text: str) -> int:
    return next((days for days in PERIODS if str(days) == text), PERIODS[1])


@bp.get("/seo/settings")
@requires(Permission.MANAGE_SETTINGS)
def seo_settings() -> str:
    stored = settings.stored_settings(current_user.site_id)
    return _settings_page(stored, str(stored.least_products), shown_settings(stored_form(stored)), NO_ERRORS)


@bp.post("/seo/settings")
@requires(Permission.MANAGE_SETTINGS)
def seo_settings_save() -> str | Response | tuple[str, int]:
    wanted, shown = _posted_settings(request.form), request.form.get("shown", "")
    shop = read_shop(current_user.site_id)
    try:
        with transaction():
            changes = changes_since(shown, stored_form(wanted))
            changed = settings.change_seo_settings(current_author(), changes, settings.filter_parameters(shop))
    except Invalid as invalid:
        return _settings_page(wanted, request.form.get("leastProducts", ""), shown, FieldErrors(invalid)), 400
    flash(f"Saved: {', '.join(changed)}." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.seo_settings"))


def _posted_settings(form: Mapping[str, str]) -> SeoSettings:
    return SeoSettings(
        least_products=sent_number(form.get("leastProducts", "").strip()),
        stale_counts="staleCounts" in form,
        drop_canonical="dropCanonical" in form,
        tracking=split_parameters(form.get("tracking", "")),
        skipped=split_parameters(form.get("skipped", "")),
    )


def _settings_page(form: SeoSettings, least: str, shown: str, errors: FieldErrors) -> str:
    return render_template("admin/seo/settings/page.html", form=form, least=least, shown=shown, errors=errors)
