"""The inspector: what search engines learn of one page."""

from __future__ import annotations

from functools import partial

from flask import render_template, request
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.merchandising.shop import read_shop
from app.domain.seo.inspector import InspectedAddress, InspectedShop, Inspection, inspect_page, read_address
from app.domain.seo.redirects.stored_redirects import redirect_at
from app.domain.seo.sitemap.entries import ExactCounts
from app.domain.shared.problems import Invalid
from app.domain.sites.settings import shop_settings
from app.web.htmx import wants_fragment
from app.web.in_process import pages_of
from app.web.permissions import Permission, requires

Answer = str | tuple[str, int]


@bp.get("/seo/inspector")
@requires(Permission.MANAGE_MERCHANDISING)
def seo_inspector() -> Answer:
    """Show the inspection of an address. `url` is an address or path of the shop; without one the page is a form
    alone."""
    text = request.args.get("url", "").strip()
    if not text:
        return _page("")
    try:
        address = read_address(text, shop_settings(current_user.site_id).hosts)
    except Invalid as invalid:
        return _page(text, problem=invalid.problems[0].message), 400
    return _page(text, _inspect(address))


def _inspect(address: InspectedAddress) -> Inspection:
    shop, engine = read_shop(current_user.site_id), ports.search_engine()
    landing_pages_of = partial(ports.landing_directory().of, engine, ports.clock(), shop)
    counts = ExactCounts.of_site(engine, shop.site_id)
    follower_of = partial(redirect_at, shop, landing_pages_of)
    return inspect_page(InspectedShop(shop, pages_of(address.host), landing_pages_of, counts.of, follower_of), address)


def _page(text: str, inspection: Inspection | None = None, problem: str = "") -> str:
    template = "admin/seo/inspector/_inspection.html" if wants_fragment() else "admin/seo/inspector/page.html"
    return render_template(template, url=text, inspection=inspection, problem=problem)
