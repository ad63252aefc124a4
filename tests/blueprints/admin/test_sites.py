"""A superadmin creates sites, also as copies of others."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import ports
from app.domain.bundles import runs
from app.domain.bundles.models import BundleRun
from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.sites import site_at
from app.domain.work import leases
from app.domain.work.models import State, requested_now
from app.extensions import db
from app.jobs import catalogue
from app.transaction import transaction
from tests.factories import make_product
from tests.fakes.clock import StoppedClock
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


@pytest.fixture
def copy_id(app: Flask, owner: PageClient, site_id: int) -> int:
    """A site whose copy failed."""
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, site_id), "T-1", name="Tent")
    owner.post(PAGE, NEW | {"source": str(site_id)})
    with app.app_context(), transaction():
        run = db.session.scalars(select(BundleRun)).one()
        leases.end(runs.BUNDLE_RUN, ports.clock(), run, State.FAILED, "It broke off 3 times.")
        return run.site_id


def test_a_copy_that_failed_is_made_again(app: Flask, owner: PageClient, clock: StoppedClock, copy_id: int) -> None:
    shown = owner.client.get(PAGE).text
    assert "Copy failed" in shown and "It broke off 3 times." in shown and "Copy again" in shown
    clock.move(minutes=1)
    owner.get(PAGE)
    owner.post(f"{PAGE}/copy", {"site": str(copy_id)})
    shown = owner.client.get(PAGE).text
    assert "Garden is being copied again" in shown and "Copying" in shown and "Copy again" not in shown
    with app.app_context():
        again = db.session.scalars(select(BundleRun.id).where(BundleRun.state == State.WAITING)).one()
        assert activity.last_action(copy_id) == "bundle.request"
        assert catalogue.run_bundle(again)
        db.session.rollback()
        assert db.session.scalars(select(Product.name).where(Product.site_id == copy_id)).all() == ["Tent"]
    shown = owner.client.get(PAGE).text
    assert "Copy failed" not in shown and "Copy again" not in shown


@pytest.mark.parametrize("action", ["import", "transfer"])
def test_what_came_into_a_site_later_takes_the_place_of_the_copy_that_failed(
    app: Flask, owner: PageClient, clock: StoppedClock, copy_id: int, action: str
) -> None:
    def come(**columns: Any) -> None:
        clock.move(minutes=1)
        with app.app_context(), transaction():
            of_site = requested_now(Author(copy_id, "Mia", ports.clock())) | {"action": action, "follows": "another"}
            db.session.add(BundleRun(**of_site | {"state": State.DONE} | columns))

    come(is_dry_run=True)
    come(error="Cancelled.")
    assert "Copy failed" in owner.client.get(PAGE).text
    come()
    shown = owner.client.get(PAGE).text
    assert "Copy failed" not in shown and "Copy again" not in shown


def test_only_a_copy_that_failed_is_made_again(app: Flask, owner: PageClient, site_id: int) -> None:
    owner.post(PAGE, NEW | {"source": str(site_id)})
    with app.app_context():
        copy_id = site_at("garden.test").id
    for sent in (str(copy_id), str(site_id), "999", "x", ""):
        owner.get(PAGE)
        owner.post(f"{PAGE}/copy", {"site": sent})
        assert "This site has no copy that failed." in owner.client.get(PAGE).text
    assert count(app, BundleRun) == 1


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
    admin.post(f"{PAGE}/copy", {"site": "1"}, status=403)
    assert count(app, Site) == 1
