"""Subscriptions: the plan's capabilities, and how much of its limits is in use."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.factories import make_product
from tests.page_client import PageClient
from tests.statements import statements

PAGE = "/admin/subscriptions"


def text_of(client: PageClient, path: str = PAGE) -> str:
    return client.client.get(path, base_url=client.base).text


def capabilities(app: Flask, site_id: int) -> list[str]:
    with app.app_context():
        return db.session.get_one(Site, site_id).capabilities


def test_mobile_pos_stands_right_after_subscriptions(signed_in: SignedIn) -> None:
    links = re.findall(r'<a href="(/admin/[^"]*)"[^>]*>(?:<svg.*?</svg>)([^<]+)</a>', text_of(signed_in(Role.ADMIN)))
    labels = [label for _, label in links]
    assert labels[labels.index("Subscriptions") + 1] == "Mobile POS"
    assert dict((label, href) for href, label in links)["Mobile POS"] == "/admin/pos"


@pytest.mark.parametrize("address", ["/admin/pos", "/admin/pos/nothing-here"])
def test_mobile_pos_is_current_at_any_address_below_it(signed_in: SignedIn, address: str) -> None:
    page = text_of(signed_in(Role.ADMIN), address)
    assert '<a href="/admin/pos" aria-current="page">' in page or "<h1" in page


def test_a_merchandiser_sees_neither(signed_in: SignedIn) -> None:
    page = text_of(signed_in(Role.MERCHANDISER), "/admin/")
    assert "Mobile POS" not in page and "Subscriptions" not in page


def test_an_admin_reads_what_the_plan_includes_and_changes_nothing(
    app: Flask, signed_in: SignedIn, site_id: int
) -> None:
    ada = signed_in(Role.ADMIN)
    page = ada.get(PAGE)
    assert "Taxonomy engine" in text_of(ada) and "Included" in text_of(ada)
    assert not [form for form in page.all("form") if form.get("action") == PAGE]
    ada.post(PAGE, {"capability": []}, status=403)
    assert capabilities(app, site_id) == ["TAXONOMY_ENGINE"]


def test_use_is_counted_in_one_statement_however_much_there_is(app: Flask, signed_in: SignedIn, site_id: int) -> None:
    ada = signed_in(Role.ADMIN)
    with statements(app) as few:
        ada.get(PAGE)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        for _ in range(12):
            make_product(site)
    with statements(app) as many:
        ada.get(PAGE)
    of_use = [one for one in many if "count(*)" in one and "FROM orders" not in one]  # The menu counts orders.
    assert len(many) == len(few) and len(of_use) == 1
    assert re.search(r'Products<br>.*?class="n">12<', text_of(ada), re.DOTALL)


def test_a_superadmin_takes_a_capability_away_and_gives_it_back(app: Flask, signed_in: SignedIn, site_id: int) -> None:
    sue = signed_in(Role.SUPERADMIN)
    sue.get(PAGE)
    sue.post(PAGE, {"offered": "TAXONOMY_ENGINE"})
    assert capabilities(app, site_id) == []
    sue.post(PAGE, {"offered": "TAXONOMY_ENGINE", "capability": "TAXONOMY_ENGINE"})
    assert capabilities(app, site_id) == ["TAXONOMY_ENGINE"]
    with app.app_context():
        entries = db.session.query(AuditEntry).filter_by(action="site.capabilities").order_by(AuditEntry.id).all()
        assert [(e.before, e.after, e.actor) for e in entries] == [
            (["TAXONOMY_ENGINE"], [], "The Superadmin"),
            ([], ["TAXONOMY_ENGINE"], "The Superadmin"),
        ]


def test_saving_what_stands_already_is_no_change(app: Flask, signed_in: SignedIn) -> None:
    sue = signed_in(Role.SUPERADMIN)
    sue.get(PAGE)
    sue.post(PAGE, {"offered": "TAXONOMY_ENGINE", "capability": "TAXONOMY_ENGINE"})
    assert "No changes to save." in text_of(sue)


def test_an_unknown_capability_is_refused_and_one_that_a_bundle_brought_is_kept(
    app: Flask, signed_in: SignedIn, site_id: int
) -> None:
    with app.app_context(), transaction():
        db.session.get_one(Site, site_id).capabilities = ["LOYALTY", "TAXONOMY_ENGINE"]
    sue = signed_in(Role.SUPERADMIN)
    sue.get(PAGE)
    sue.post(PAGE, {"capability": "FREE_MONEY"}, status=400)
    assert "LOYALTY" in capabilities(app, site_id)
    sue.post(PAGE, {"offered": ["TAXONOMY_ENGINE"], "capability": ["TAXONOMY_ENGINE"]})
    assert set(capabilities(app, site_id)) == {"LOYALTY", "TAXONOMY_ENGINE"}
