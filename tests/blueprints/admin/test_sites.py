"""A superadmin creates sites, also as copies of others."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.bundles.models import BundleRun
from app.domain.catalogue.models import Product
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.sites import site_at
from app.extensions import db
from app.jobs import catalogue
from app.transaction import transaction
from tests.factories import make_product
from tests.page_client import PageClient

PAGE = "/admin/settings/sites"
NEW = {"host": "garden.test", "name": "Garden", "currency": "EUR", "timeZone": "Europe/Berlin", "source": ""}


@pytest.fixture
def owner(signed_in) -> PageClient:
    browser: PageClient = signed_in(Role.SUPERADMIN)
    browser.get(PAGE)
    return browser


def count(app: Flask, model: type) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(model)) or 0


def test_an_empty_site_is_created_listed_and_can_be_worked_on(app: Flask, owner: PageClient) -> None:
    owner.post(PAGE, NEW)
    page = owner.client.get(PAGE).text
    assert "Created Garden at garden.test." in page and "http://garden.test/" in page
    with app.app_context():
        site = site_at("garden.test")
        assert (site.name, site.currency, site.time_zone, site.staging) == ("Garden", "eur", "Europe/Berlin", False)
        site_id = site.id
        assert activity.last_action(site_id) == "site.create"
        assert activity.last_action(site_at("localhost").id) == "site.create"
    owner.get(PAGE)
    owner.post("/admin/site", {"site": str(site_id)})
    assert "Garden" in owner.get("/admin/").texts["title"] or "Garden" in owner.client.get("/admin/").text


def test_a_copy_gets_products_currency_and_plan_of_the_other_site(app: Flask, owner: PageClient, site_id: int) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        site.capabilities = ["MOBILE_POS"]
        make_product(site, "T-1", name="Tent")
    owner.post(PAGE, NEW | {"host": "staging.test", "source": str(site_id), "staging": "on"})
    shown = owner.client.get(PAGE).text
    assert "The copy is being made" in shown and "Copying" in shown and "every 1500ms" in shown
    with app.app_context():
        run_id = db.session.scalars(select(BundleRun.id)).one()
        assert catalogue.run_bundle(run_id)
        db.session.rollback()
        assert db.session.get_one(BundleRun, run_id).error is None
        copy = site_at("staging.test")
        assert (copy.currency, copy.staging, copy.capabilities) == ("gbp", True, ["MOBILE_POS"])
        copied = select(Product.name).where(Product.site_id == copy.id)
        assert db.session.scalars(copied).all() == ["Tent"]
        assert copy.primary_host == "staging.test" and copy.name == "Garden"
    done = owner.client.get(PAGE, headers={"HX-Request": "true"}).text
    assert "Copying" not in done and "every 1500ms" not in done and "Staging" in done


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"host": "https://garden.test"}, "is not a host name such as shop.example"),
        ({"host": "localhost"}, "localhost belongs to another site."),
        ({"name": ""}, "The name of the site"),
        ({"currency": "XXQ"}, "There is no currency “xxq”."),
        ({"timeZone": "Mars/Base"}, "There is no time zone “Mars/Base”."),
        ({"source": "999"}, "This site no longer exists."),
        ({"source": "x"}, "This site no longer exists."),
    ],
)
def test_what_cannot_be_is_named_at_its_field(
    app: Flask, owner: PageClient, sent: dict[str, str], message: str
) -> None:
    page = owner.post(PAGE, NEW | sent, status=400)
    field = next(iter(sent))
    assert [link for link in page.all("a") if link.get("href") == f"#f-{field}"]
    html = owner.client.post(PAGE, data=NEW | sent | {"csrf_token": owner.token}).text
    assert message in html
    assert count(app, Site) == 1 and count(app, BundleRun) == 0


def test_the_currencies_that_exist_are_offered(owner: PageClient) -> None:
    offered = owner.client.get(PAGE).text
    assert '<option value="GBP" selected>GBP – Pound sterling</option>' in offered and ">EUR – Euro<" in offered


def test_all_problems_are_named_at_once(owner: PageClient) -> None:
    page = owner.post(PAGE, {"host": "a b", "name": "", "currency": "x", "timeZone": "y"}, status=400)
    named = {link["href"] for link in page.all("a") if link.get("href", "").startswith("#f-")}
    assert named == {"#f-host", "#f-name", "#f-currency", "#f-timeZone"}


def test_admins_of_one_shop_create_none(app: Flask, signed_in) -> None:
    admin = signed_in(Role.ADMIN)
    assert PAGE not in admin.client.get("/admin/settings").text
    admin.get("/admin/settings")
    admin.post(PAGE, NEW, status=403)
    assert count(app, Site) == 1
