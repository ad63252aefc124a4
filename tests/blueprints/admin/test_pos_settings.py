"""The settings of Mobile POS, and the places where the shop takes cards."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.receipt_printer import NetworkPrinter
from app.domain.pos import locations
from app.domain.pos.models import PosLocation
from app.domain.pos.processor import NoProcessor
from app.domain.pos.receipt_printer import PrinterReach
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings, settings_of
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.factories import make_location, make_site, make_user
from tests.fakes.payment_processor import FakeProcessor
from tests.fakes.receipt_printer import network_printer
from tests.page_client import PageClient
from tests.snapshots import built

SETTINGS, NEW = "/admin/pos/settings", "/admin/pos/locations/new"
FORM = {"posEnabled": "on", "posMaxTransactionAmount": "250", "posProcessorLocationId": " tml_1 "}
FAIR = {"displayName": "Fair", "line1": "1 High Street", "city": "Leeds", "postalCode": "LS1 1AA", "country": "gb"}


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, _shop)


def _shop() -> int:
    with transaction():
        site = make_site()
        make_user(site, Role.ADMIN, email="admin@shop.test")
        return site.id


@pytest.fixture
def admin(app: Flask, site_id: int) -> PageClient:
    return PageClient(app).signed_in("admin@shop.test")


def test_settings_are_saved_and_the_named_location_is_added(app: Flask, site_id: int, admin: PageClient) -> None:
    page = admin.get(SETTINGS)
    assert (page.value("posMaxTransactionAmount"), page.value("posProcessorLocationId")) == ("1000.00", "")
    admin.post(SETTINGS, FORM | {"posProcessorAccountId": "acct_1"})
    with app.app_context():
        settings = settings_of(site_id)
        assert (settings["posEnabled"], settings["posAllowQuickPayments"]) == (True, False)
        assert (settings["posMaxTransactionAmount"], settings["posProcessorAccountId"]) == (25_000, "acct_1")
        assert locations.location_at(site_id, "tml_1").display_name == "Fern & Fell"
        assert db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all() == [
            "settings.pos",
            "pos_location.add",
        ]
    page = admin.get(SETTINGS)
    assert page.value("posProcessorLocationId") == "tml_1"
    assert "/admin/pos/locations/tml_1" in [link.get("href") for link in page.all("a")]


def test_cash_its_rounding_and_tips_are_settings(app: Flask, site_id: int, admin: PageClient) -> None:
    page = admin.get(SETTINGS)
    assert "checked" in next(field for field in page.all("input") if field.get("name") == "posAllowCash")
    assert "Exact amount" in page.texts["option"] and "To the nearest £0.05" in page.texts["option"]
    admin.post(SETTINGS, FORM | {"posCashRounding": "5", "posTipsEnabled": "on"})
    with app.app_context():
        settings = settings_of(site_id)
        saved = [settings[name] for name in ("posAllowCash", "posCashRounding", "posTipsEnabled")]
        assert saved == [False, 5, True]


def test_quick_unlock_is_required_until_an_admin_leaves_it_to_agents(
    app: Flask, site_id: int, admin: PageClient
) -> None:
    page = admin.get(SETTINGS)
    assert "checked" in next(field for field in page.all("input") if field.get("name") == "posUnlockRequired")
    for sent, required in ((FORM, False), (FORM | {"posUnlockRequired": "on"}, True)):
        admin.post(SETTINGS, sent)
        with app.app_context():
            assert settings_of(site_id)["posUnlockRequired"] is required


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("posMaxTransactionAmount", ""),
        ("posMaxTransactionAmount", "0"),
        ("posMaxTransactionAmount", "12.345"),
        ("posMaxTransactionAmount", "1000000"),
        ("posMaxTransactionAmount", "0.10"),
        ("posProcessorLocationId", "../tml"),
        ("posProcessorAccountId", "acct 1"),
    ],
)
def test_what_no_setting_can_be_is_refused_at_its_field(
    app: Flask, site_id: int, admin: PageClient, name: str, typed: str
) -> None:
    page = admin.post(SETTINGS, FORM | {name: typed}, 400)
    assert f"#f-{name}" in [link.get("href") for link in page.all("a")]
    assert page.value(name) == typed
    with app.app_context():
        assert not settings_of(site_id)["posEnabled"]


@pytest.mark.parametrize("typed", ["7", "-5", "some"])
def test_cash_is_rounded_to_what_the_page_offers_alone(admin: PageClient, typed: str) -> None:
    page = admin.post(SETTINGS, FORM | {"posCashRounding": typed}, 400)
    assert "#f-posCashRounding" in [link.get("href") for link in page.all("a")]
    assert "Cash is rounded to 0, 5 or 10." in page.texts["p"]


def test_a_largest_payment_is_within_one_range_that_names_the_currency(admin: PageClient) -> None:
    for typed, says in (
        ("0.29", "The largest payment must be an amount from £0.30 to £999,999.99."),
        ("99999999", "The largest amount is £999,999.99."),
    ):
        page = admin.post(SETTINGS, FORM | {"posMaxTransactionAmount": typed}, 400)
        assert says in page.texts["p"]


def test_a_location_is_created_at_the_processor(app: Flask, admin: PageClient, processor: FakeProcessor) -> None:
    admin.get(NEW)
    assert admin.post(NEW, FAIR | {"processorAccountId": "acct"}).status_code == 302
    with app.app_context():
        place = db.session.scalars(select(PosLocation)).one()
        (created,) = processor.accounts["acct"].locations.values()
        assert (place.location_id, created["display_name"]) == (created["id"], "Fair")
        assert (place.country, place.postal_code) == ("GB", "LS1 1AA")


def test_a_processor_that_refuses_is_named_and_what_was_typed_stays(app: Flask, admin: PageClient) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=NoProcessor())
    page = admin.post(NEW, FAIR, 502)
    assert (page.value("displayName"), page.value("line1")) == ("Fair", "1 High Street")
    assert "No payment processor is set up." in page.texts["p"]


def test_a_location_is_taken_over_edited_and_disabled(app: Flask, site_id: int, admin: PageClient) -> None:
    admin.post(NEW, FAIR | {"id": "tml_known"})
    assert "#f-id" in [link.get("href") for link in admin.post(NEW, FAIR | {"id": "a/b"}, 400).all("a")]
    admin.post(NEW, FAIR | {"id": "tml_known"}, 409)
    place = "/admin/pos/locations/tml_known"
    assert admin.get(place).value("displayName") == "Fair"
    admin.post(place, FAIR | {"displayName": "Autumn fair", "revision": "1"})
    with app.app_context():
        known = locations.location_at(site_id, "tml_known")
        assert (known.display_name, known.enabled) == ("Autumn fair", False)
    admin.post(place, FAIR | {"revision": "1"}, 409)
    page = admin.post(place, FAIR | {"country": "England", "revision": "2"}, 400)
    assert "#f-address-country" in [link.get("href") for link in page.all("a")]
    admin.get("/admin/pos/locations/nothing", 404)


def test_a_location_of_another_shop_is_refused_at_its_field_unless_a_superadmin_enters_it(
    app: Flask, site_id: int, admin: PageClient
) -> None:
    with app.app_context(), transaction():
        make_location(make_site("other.localhost", "Other"), "tml_theirs")
        make_user(db.session.get_one(Site, site_id), Role.SUPERADMIN, email="root@shop.test")
    theirs = FAIR | {"id": "tml_theirs"}
    page = admin.post(NEW, theirs, 400)
    assert "#f-id" in [link.get("href") for link in page.all("a")] and page.value("id") == "tml_theirs"
    page = admin.post(SETTINGS, FORM | {"posProcessorLocationId": "tml_theirs"}, 400)
    assert "#f-posProcessorLocationId" in [link.get("href") for link in page.all("a")]
    superadmin = PageClient(app).signed_in("root@shop.test")
    assert superadmin.post(NEW, theirs).status_code == 302


def test_an_account_of_another_shop_is_refused_at_its_field_unless_a_superadmin_enters_it(
    app: Flask, site_id: int, admin: PageClient
) -> None:
    with app.app_context(), transaction():
        change_settings(make_site("other.localhost", "Other").id, {"posProcessorAccountId": "acct_theirs"})
        make_user(db.session.get_one(Site, site_id), Role.SUPERADMIN, email="root@shop.test")
    page = admin.post(SETTINGS, FORM | {"posProcessorAccountId": "acct_theirs"}, 400)
    assert "#f-posProcessorAccountId" in [link.get("href") for link in page.all("a")]
    theirs = FAIR | {"id": "tml_9", "processorAccountId": "acct_theirs"}
    page = admin.post(NEW, theirs, 400)
    assert "#f-processorAccountId" in [link.get("href") for link in page.all("a")]
    superadmin = PageClient(app).signed_in("root@shop.test")
    superadmin.post(SETTINGS, FORM | {"posProcessorAccountId": "acct_theirs"})
    assert superadmin.post(NEW, theirs).status_code == 302


PRINTER = "/admin/pos/locations/tml_fair/printer"


@pytest.fixture
def fair(app: Flask, site_id: int) -> str:
    with app.app_context(), transaction():
        make_location(db.session.get(Site, site_id), "tml_fair", display_name="Fair")
        make_location(make_site("other.localhost", "Other"), "tml_other")
    return "/admin/pos/locations/tml_fair"


def test_a_receipt_printer_is_set_up_and_removed(app: Flask, site_id: int, admin: PageClient, fair: str) -> None:
    assert "Print a test page" not in admin.get(fair).texts["button"]
    admin.post(PRINTER, {"printerAddress": " 192.168.1.50 ", "revision": "1"})
    page = admin.get(fair)
    assert page.value("printerAddress") == "192.168.1.50:9100" and "Print a test page" in page.texts["button"]
    admin.post(PRINTER, {"printerAddress": "192.168.1.50:9100", "revision": "2"})
    assert "No changes to save." in admin.get(fair).texts["p"]
    admin.post(fair, FAIR | {"revision": "2"})
    admin.post(PRINTER, {"printerAddress": "", "revision": "3"})
    with app.app_context():
        assert locations.location_at(site_id, "tml_fair").printer_address == ""
        changes = select(AuditEntry.before, AuditEntry.after).where(AuditEntry.action == "pos_location.printer")
        assert [tuple(change) for change in db.session.execute(changes.order_by(AuditEntry.id))] == [
            ({"printerAddress": ""}, {"printerAddress": "192.168.1.50:9100"}),
            ({"printerAddress": "192.168.1.50:9100"}, {"printerAddress": ""}),
        ]


def test_a_printer_that_cannot_be_is_refused_at_its_field(admin: PageClient, fair: str) -> None:
    page = admin.post(PRINTER, {"printerAddress": "printer:99999", "revision": "1"}, 400)
    assert "#f-printerAddress" in [link.get("href") for link in page.all("a")]
    assert page.value("printerAddress") == "printer:99999"
    admin.post(PRINTER, {"printerAddress": "printer", "revision": "7"}, 409)
    admin.post("/admin/pos/locations/tml_other/printer", {"printerAddress": "printer", "revision": "1"}, 404)


def test_a_test_page_is_printed(app: Flask, admin: PageClient, fair: str) -> None:
    reach = PrinterReach(includes_server=True)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], receipt_printer=NetworkPrinter(reach, timeout=0.5))
    with network_printer() as printer:
        admin.post(PRINTER, {"printerAddress": printer.address, "revision": "1"})
        admin.post(f"{PRINTER}/test", {})
        page = printer.next_job()
        assert b"Fern & Fell\nFair\n" in page
    assert "The printer took a test page." in admin.get(fair).texts["p"]
    admin.post(f"{PRINTER}/test", {})
    assert "The printer does not answer" in admin.get(fair).texts["p"]


def test_a_test_page_needs_a_printer(admin: PageClient, fair: str) -> None:
    admin.post(f"{PRINTER}/test", {})
    assert "This location has no network printer." in admin.get(fair).texts["p"]
    admin.post("/admin/pos/locations/tml_other/printer/test", {}, 404)
