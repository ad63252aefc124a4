"""Visits of bots, from a request to the report and the decisions on it."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.jobs import counting
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.factories import make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.snapshots import built

BOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
SHOPPER = "Mozilla/5.0 (X11; Linux x86_64) Firefox/120.0"
REPORT = "/admin/seo/crawlers"


def shop_with_staff() -> int:
    site_id = small_shop.build()
    with transaction():
        for role in (Role.MERCHANDISER, Role.ADMIN):
            make_user(db.session.get_one(Site, site_id), role, email=f"{role.value.lower()}@shop.test")
    return site_id


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, shop_with_staff)


@pytest.fixture
def admin(app: Flask, site_id: int) -> PageClient:
    return PageClient(app, "shop.test").signed_in("admin@shop.test")


@pytest.fixture
def merchandiser(app: Flask, site_id: int) -> PageClient:
    return PageClient(app, "shop.test").signed_in("merchandiser@shop.test")


def visit(app: Flask, path: str, agent: str = BOT) -> TestResponse:
    return app.test_client().get(path, base_url="http://shop.test", headers={"User-Agent": agent})


def text_of(client: PageClient, query: str = "") -> str:
    with client.client.application.app_context():
        counting.drain()
    return " ".join(client.client.get(REPORT + query, base_url=client.base).text.split())


def test_only_bots_on_pages_that_are_not_indexable_are_counted(app: Flask, admin: PageClient):
    assert "No bot visits" in text_of(admin)
    for path in ("/c/camping?ref=mail", "/c/camping?ref=post", "/c/camping?sort=name", "/search?q=tent"):
        visit(app, path)
    visit(app, "/c/camping")
    visit(app, "/c/nothing?ref=mail")
    visit(app, "/c/camping?ref=mail", SHOPPER)

    page = text_of(admin)

    assert "4 visits to pages that are not indexable" in page
    assert "<code>ref</code>" in page and "<code>sort</code>" in page
    assert "No parameter (search results" in page
    assert "Googlebot" in page and "Bingbot" not in page


def test_a_period_holds_its_days(app: Flask, admin: PageClient, clock: StoppedClock):
    visit(app, "/c/camping?ref=mail")
    text_of(admin)
    clock.move(days=7)
    admin = PageClient(app, "shop.test").signed_in("admin@shop.test")

    assert "No bot visits in 7 days" in text_of(admin, "?days=7")
    assert "1 visit to pages" in text_of(admin, "?days=90")
    assert "1 visit to pages" in text_of(admin, "?days=rubbish")


def test_a_parameter_is_treated_as_tracking_at_one_click_and_as_a_filter_again_at_another(
    app: Flask, admin: PageClient, clock: StoppedClock
):
    visit(app, "/c/camping?ref=mail")
    assert "Treat as tracking" in text_of(admin)
    admin.get(REPORT)

    admin.post(f"{REPORT}/tracking", {"parameter": "ref"})
    clock.move(seconds=2)
    assert visit(app, "/c/camping?ref=mail").headers["X-Robots-Tag"] == "index, follow"
    assert "Treated as tracking" in text_of(admin)
    admin.post(f"{REPORT}/tracking", {"parameter": "ref", "undo": "1"})
    clock.move(seconds=2)

    assert visit(app, "/c/camping?ref=mail").headers["X-Robots-Tag"] == "noindex, follow"
    with app.app_context():
        actions = list(db.session.scalars(select(AuditEntry.action)))
    assert actions == ["settings.seo", "settings.seo"]


def test_bots_are_asked_to_skip_a_parameter(app: Flask, admin: PageClient, clock: StoppedClock):
    visit(app, "/c/camping?price_min=3")
    text_of(admin)
    admin.get(REPORT)

    admin.post(f"{REPORT}/skipped", {"parameter": "price"})
    clock.move(seconds=2)

    robots = visit(app, "/robots.txt").text
    assert "Disallow: /*?price_min=" in robots and "Disallow: /*&price_max=" in robots
    assert "Bots asked to skip it" in text_of(admin)
    admin.post(f"{REPORT}/skipped", {"parameter": "price", "undo": "1"})
    clock.move(seconds=2)
    assert "price" not in visit(app, "/robots.txt").text


@pytest.mark.parametrize("name", ["colour", "weight_min", "price", "sort", "a b", "", "x\nDisallow: /"])
def test_what_filters_or_is_no_name_is_never_treated_as_tracking(app: Flask, admin: PageClient, name: str):
    admin.get(REPORT)
    admin.post(f"{REPORT}/tracking", {"parameter": name})

    page = admin.client.get(REPORT, base_url=admin.base).text
    assert "cannot be" in page
    assert "is treated as tracking" not in page


def test_a_filter_of_the_shop_is_named_as_one_and_offers_no_such_button(app: Flask, admin: PageClient):
    visit(app, "/c/camping?colour=Fern")

    page = text_of(admin)

    assert "Filter of the shop" in page
    assert "Treat as tracking: colour" not in page and "Ask bots to skip it: colour" in page


def test_bots_are_not_asked_to_skip_the_pages_of_a_list(app: Flask, admin: PageClient):
    visit(app, "/c/camping?p=many")

    page = text_of(admin)

    assert "<code>p</code>" in page and "Ask bots to skip it: p" not in page
    admin.post(f"{REPORT}/skipped", {"parameter": "p"})
    assert "is the page number" in text_of(admin)
    assert "p=" not in visit(app, "/robots.txt").text


def test_merchandisers_read_the_report_and_admins_decide(app: Flask, merchandiser: PageClient):
    visit(app, "/c/camping?ref=mail")

    page = text_of(merchandiser)

    assert "<code>ref</code>" in page and "Only admins can change this" in page
    assert f'action="{REPORT}' not in page
    merchandiser.get(REPORT)
    merchandiser.post(f"{REPORT}/tracking", {"parameter": "ref"}, status=403)


def test_what_a_bot_invents_is_shown_as_text(app: Flask, admin: PageClient):
    visit(app, "/c/camping?%3Cscript%3E=1")

    page = text_of(admin)

    assert "<code>&lt;script&gt;</code>" in page
    assert "Treat as tracking:" not in page
