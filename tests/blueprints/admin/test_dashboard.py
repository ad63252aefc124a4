"""The dashboard: what needs attention, and the count beside Orders in the menu of every page."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.search.index.runs import request_rebuild
from app.domain.search.models import OutboxEntry
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs import search
from app.ports import search_engine, worker_locks
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_golden, make_order, make_product, make_site, make_taxonomy
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.statements import statements


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


def attention(browser: PageClient) -> str:
    html = browser.client.get("/admin/", base_url=browser.base).text
    return " ".join(html.partition('id="attention"')[2].partition("</section>")[0].split())


def test_orders_that_wait_are_counted_with_those_that_wait_for_long(
    app: Flask, ada: PageClient, site_id: int, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_order(site)
        make_order(site, submitted_at=clock.now())
        make_order(site, status="COLLECTED")
    shown = attention(ada)
    assert "2 orders await collection, 1 of them for over 14 days." in shown
    assert 'href="/admin/orders?status=submitted"' in shown


def test_a_paid_basket_that_is_no_order_comes_first(app: Flask, ada: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_product(site, enabled=False)
        make_order(site, status="OPEN", submitted_at=None, paid_at=site.created_at, paid_amount=1_250)
    shown = attention(ada)
    assert "never built" in shown and "1 basket is paid and is no order yet." in shown
    assert shown.index("is no order yet") < shown.index("is hidden from the shop")


def test_a_merchandiser_sees_nothing_of_orders(app: Flask, site_id: int, signed_in: SignedIn) -> None:
    with app.app_context(), transaction():
        make_order(db.session.get_one(Site, site_id))
    mia = signed_in()
    assert "await collection" not in attention(mia) and "not handed over yet" not in mia.client.get("/admin/").text


def test_golden_searches_that_fail_are_counted(app: Flask, ada: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_golden(site, "MUG-1", passes=False)
        make_golden(site, "MUG-2", passes=True)
        make_golden(site, "MUG-3")
    shown = attention(ada)
    assert "1 golden search fails" in shown and 'href="/admin/search/golden"' in shown


def test_products_without_a_level_are_counted_while_a_taxonomy_is_active(
    app: Flask, ada: PageClient, site_id: int
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        make_product(site)
        make_product(site, taxonomy_level_id="kettles")
    assert "no level" not in attention(ada)
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, site_id), [{"name": "Kettles"}], active=True)
    shown = attention(ada)
    assert "1 product has no level." in shown and "/admin/catalogue/products?completeness=unclassified" in shown


def test_an_index_that_differs_from_the_catalogue_is_out_of_date(
    app: Flask, ada: PageClient, site_id: int, clock: StoppedClock
) -> None:
    with app.app_context():
        with transaction():
            make_product(db.session.get_one(Site, site_id))
        with transaction():
            run, _ = request_rebuild(Author(site_id, "Mia Moss", clock), search_engine(), worker_locks(), "ALL")
            run_id = run.id
        search.rebuild(run_id)
    assert "out of date" not in attention(ada)
    with app.app_context():
        with transaction():
            db.session.query(Product).one().enabled = False
        with transaction():
            db.session.query(OutboxEntry).delete()
    assert "The product index is out of date: 1 product in it, 0 in the shop. Rebuild it." in attention(ada)


def test_when_all_is_well_nothing_needs_attention(
    app: Flask, ada: PageClient, site_id: int, clock: StoppedClock
) -> None:
    with app.app_context():
        with transaction():
            make_product(db.session.get_one(Site, site_id))
        with transaction():
            run, _ = request_rebuild(Author(site_id, "Mia Moss", clock), search_engine(), worker_locks(), "ALL")
            run_id = run.id
        search.rebuild(run_id)
    assert "Nothing needs attention" in attention(ada)


def test_the_menu_counts_the_orders_of_this_shop_that_wait_in_one_statement_a_page(
    app: Flask, ada: PageClient, site_id: int
) -> None:
    assert "not handed over yet</span>" not in ada.client.get("/admin/password").text
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        for _ in range(3):
            make_order(site)
        make_order(make_site("other.test"))
    with statements(app) as seen:
        html = ada.client.get("/admin/password").text
    assert '3<span class="unseen"> not handed over yet</span>' in html
    assert len([one for one in seen if "FROM orders" in one]) == 1
