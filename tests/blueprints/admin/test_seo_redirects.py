"""Redirects in the admin: the list, the form of one, files of many, and the choice beside an address."""

from __future__ import annotations

from io import BytesIO
from typing import NoReturn

import pytest
from flask import Flask
from sqlalchemy import select

from app.blueprints.admin import csv_import
from app.blueprints.admin.csv_import import CsvImport
from app.domain.catalogue.models import Page, Product
from app.domain.merchandising.models import Node
from app.domain.seo.models import Redirect
from app.domain.seo.redirects.redirect_table import MOST_LINES
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.landing import MOOR, Rules, changing
from tests.factories import make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient
from tests.snapshots import built

LIST = "/admin/seo/redirects"
NEW, IMPORT = f"{LIST}/new", f"{LIST}/import"


def shop_with_staff() -> int:
    site_id = small_shop.build()
    with transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="merchandiser@shop.test")
    return site_id


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, shop_with_staff)


@pytest.fixture
def mia(app: Flask, site_id: int) -> PageClient:
    return PageClient(app, "shop.test").signed_in("merchandiser@shop.test")


@pytest.fixture
def change(app: Flask, site_id: int, clock: StoppedClock) -> Rules:
    return changing(app, site_id, clock)


def stored(app: Flask) -> dict[str, str]:
    with app.app_context():
        rows = db.session.scalars(select(Redirect).order_by(Redirect.old_path))
        return {row.old_path: f"{row.new_path}{'?' if row.new_query else ''}{row.new_query}" for row in rows}


def text_of(mia: PageClient, path: str) -> str:
    return mia.client.get(path, base_url=mia.base).text


def actions(app: Flask) -> list[str]:
    with app.app_context():
        return list(db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def test_without_redirects_the_page_says_where_they_come_from(mia: PageClient) -> None:
    assert "No redirects yet" in mia.get(LIST).texts["p"]


def test_a_redirect_is_added_changed_and_deleted(app: Flask, mia: PageClient) -> None:
    mia.get(NEW)
    mia.post(NEW, {"from": "/Shop/Tents.html", "to": "https://shop.test/c/camping/tents?sort=name"})
    assert stored(app) == {"/shop/tents.html": "/c/camping/tents?sort=name"}
    page = text_of(mia, LIST)
    assert "/shop/tents.html leads to /c/camping/tents?sort=name from now on" in page
    assert "By hand" in page and "merchandiser@shop.test" in page
    with app.app_context():
        one = f"{LIST}/{db.session.scalars(select(Redirect.id)).one()}"
    revision = mia.get(one).value("revision")
    mia.post(one, {"from": "/shop/tents.html", "to": "/c/gifts", "revision": revision})
    assert stored(app) == {"/shop/tents.html": "/c/gifts"}
    late = mia.post(one, {"from": "/shop/tents.html", "to": "/c/camping", "revision": revision}, status=409)
    assert "saved this redirect while you worked on it" in late.texts["p"]
    mia.post(f"{one}/delete", {})
    assert stored(app) == {}
    assert [act for act in actions(app) if act.startswith("redirect.")] == [
        "redirect.create",
        "redirect.save",
        "redirect.delete",
    ]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("/p/tent-4", "/p/tent-6", "/p/tent-4 has a page"),
        ("/c/camping", "/p/tent-6", "/c/camping has a page"),
        ("/admin/x", "/p/tent-6", "always has a page of its own"),
        ("old", "/p/tent-6", "must be a path of this shop"),
        ("/old", "/old", "are the same"),
        ("/old", "//evil.test", "must be a path of this shop"),
        ("/old", "javascript:alert(1)", "The new address"),
        ("/taken", "/p/tent-6", "/taken is redirected already"),
        ("/p/tent-99", "/taken", "leads back to /p/tent-99"),
        ("", "", "The old address is missing"),
    ],
)
def test_what_cannot_be_is_refused_in_words_and_stays_in_the_form(
    app: Flask, mia: PageClient, old: str, new: str, says: str
) -> None:
    mia.get(NEW)
    mia.post(NEW, {"from": "/taken", "to": "/p/tent-99"})
    page = mia.post(NEW, {"from": old, "to": new}, status=400)
    assert says in f"{page.texts['a']} {page.texts['p']}"
    assert (page.value("from"), page.value("to")) == (old, new)
    assert stored(app) == {"/taken": "/p/tent-99"}


def test_a_redirect_to_one_that_leads_on_is_stored_as_where_it_ends_and_the_earlier_ones_follow(
    app: Flask, mia: PageClient
) -> None:
    mia.get(NEW)
    for old, new in (("/b", "/p/tent-4"), ("/a", "/b?x=1"), ("/c1", "/d"), ("/d", "/p/tent-6")):
        mia.post(NEW, {"from": old, "to": new})
    assert stored(app) == {"/a": "/p/tent-4?x=1", "/b": "/p/tent-4", "/c1": "/p/tent-6", "/d": "/p/tent-6"}


def test_the_list_is_filtered_by_words_and_by_what_made_a_redirect(app: Flask, mia: PageClient) -> None:
    mia.get(NEW)
    mia.post(NEW, {"from": "/first", "to": "/p/tent-4"})
    assert "/first" in text_of(mia, LIST)
    with app.app_context(), transaction():
        db.session.query(Product).filter_by(seo_name="tent-6").one().seo_name = "moor"
    assert "/first" not in text_of(mia, f"{LIST}?source=product")
    assert "/p/tent-6" in text_of(mia, f"{LIST}?q=moor")
    assert "No redirect matches" in text_of(mia, f"{LIST}?q=nothing")


def test_a_redirect_rests_while_a_page_has_its_address(app: Flask, mia: PageClient) -> None:
    with app.app_context(), transaction():
        product = db.session.query(Product).filter_by(seo_name="tent-6").one()
        product.enabled = False
    mia.get(NEW)
    mia.post(NEW, {"from": "/p/tent-6", "to": "/p/tent-4"})
    assert "A page has this address" not in text_of(mia, LIST)
    with app.app_context(), transaction():
        db.session.query(Product).filter_by(seo_name="tent-6").one().enabled = True
    assert "A page has this address" in text_of(mia, LIST)
    assert mia.client.get("/p/tent-6", base_url=mia.base).status_code == 200


def test_a_file_is_previewed_then_imported_and_exported_again(app: Flask, mia: PageClient) -> None:
    mia.get(NEW)
    mia.post(NEW, {"from": "/known", "to": "/p/tent-4"})
    mia.post(NEW, {"from": "/other", "to": "/p/tent-4"})
    table = "from,to\n/one,/two\n/two,/p/tent-4\n/known,/p/tent-6\n/other,/p/tent-4\n/p/tent-6,/x\n/two,/y\n/x,/x\n"
    page = mia.get(IMPORT)
    page = mia.post(IMPORT, {"table": table}, status=200)
    assert "2 would be added, 1 changed, 1 stay as they are, 3 refused" in page.texts["strong"]
    assert stored(app) == {"/known": "/p/tent-4", "/other": "/p/tent-4"}
    mia.post(f"{IMPORT}/apply", {"table": table, "digest": page.value("digest")})
    assert stored(app) == {
        "/known": "/p/tent-6",
        "/one": "/p/tent-4",
        "/other": "/p/tent-4",
        "/two": "/p/tent-4",
    }
    exported = mia.client.get(f"{LIST}/export.csv", base_url=mia.base)
    assert exported.mimetype == "text/csv" and '"/one","/p/tent-4"' in exported.text
    again = mia.post(IMPORT, {"table": exported.text}, status=200)
    assert "0 would be added, 0 changed, 4 stay as they are, 0 refused" in again.texts["strong"]


def test_a_file_whose_preview_is_old_is_not_imported(app: Flask, mia: PageClient) -> None:
    mia.get(IMPORT)
    table = "from,to\n/one,/p/tent-4\n"
    digest = mia.post(IMPORT, {"table": table}, status=200).value("digest")
    mia.post(NEW, {"from": "/one", "to": "/p/tent-6"})
    page = mia.post(f"{IMPORT}/apply", {"table": table, "digest": digest}, status=409)
    assert "Redirects or pages changed since you looked" in page.texts["p"]
    assert stored(app) == {"/one": "/p/tent-6"}


def test_a_file_that_is_not_taken_any_more_is_refused_in_words(mia: PageClient) -> None:
    def apply(text: str, digest: str) -> NoReturn:
        raise Conflict("The list changed since you looked.")

    def preview(text: str) -> NoReturn:
        raise Invalid.one("too_many", "The list is full.", "#/file")

    texts = dict.fromkeys(("title", "noun", "into", "list_url", "import_url", "apply_url"), "x")
    sheet = CsvImport(**texts, most=1, columns="", pasted="", stays="", preview=preview, apply=apply)
    with mia.client:
        mia.get(IMPORT)
        answer = csv_import.apply(sheet)
    assert answer.status_code == 400
    assert "The list is full." in answer.get_data(as_text=True)


def test_as_many_redirects_as_the_page_says_go_in_at_once(app: Flask, mia: PageClient) -> None:
    assert f"at most {MOST_LINES:,} redirects" in text_of(mia, IMPORT)
    mia.get(IMPORT)
    old, new = "/shop/outdoor/tents-and-shelters/", "/c/camping/tents/for-three-persons"
    table = "from,to\n" + "".join(f"{old}{number:0>20}.html,{new}\n" for number in range(MOST_LINES))
    page = mia.post(IMPORT, {"table": table}, status=200)
    assert f"{MOST_LINES:,} would be added" in page.texts["strong"]
    mia.post(f"{IMPORT}/apply", {"table": table, "digest": page.value("digest")})
    assert len(stored(app)) == MOST_LINES


@pytest.mark.parametrize("table", ["", "old,new\n/a,/b", 'from,to\n"/a', "from,to\n/a,/b\n\0"])
def test_what_is_no_table_of_redirects_is_refused(mia: PageClient, table: str) -> None:
    mia.get(IMPORT)
    mia.post(IMPORT, {"table": table}, status=400)


def test_an_uploaded_file_is_read(mia: PageClient) -> None:
    mia.get(IMPORT)
    file = (BytesIO(b"from,to\n/one,/p/tent-4\n"), "redirects.csv")
    page = mia.client.post(IMPORT, data={"file": file, "csrf_token": mia.token}, base_url=mia.base).text
    assert "/one → /p/tent-4" in page


def test_the_form_of_a_page_redirects_its_old_address_where_that_is_ticked(app: Flask, mia: PageClient) -> None:
    address, form = page_form(app, "delivery", seoName="shipping", redirectOffered="1")
    assert any(box.get("name") == "redirectOldAddress" and "checked" in box for box in mia.get(address).all("input"))
    mia.post(address, form)
    assert stored(app) == {}
    address, form = page_form(app, "shipping", seoName="post", redirectOffered="1", redirectOldAddress="on")
    mia.post(address, form)
    assert stored(app) == {"/pages/shipping": "/pages/post"}


def page_form(app: Flask, name: str, **more: str) -> tuple[str, dict[str, str]]:
    with app.app_context():
        page = db.session.query(Page).filter_by(seo_name=name).one()
        fields = {"title": page.title, "body": page.body, "enabled": "on", "revision": str(page.revision)}
        return f"/admin/content/page/{page.id}", fields | more


def test_landing_pages_of_a_rule_that_goes_lead_to_the_category_where_that_is_ticked(
    app: Flask, mia: PageClient, change: Rules
) -> None:
    change(None, default_landing_rules=[{"facetId": "manufacturer"}])
    with app.app_context():
        tents = db.session.query(Node).filter_by(path="camping/tents").one().id
    address = f"/admin/merchandising/category/{tents}/landing"
    sent = {"mode": "off", "seen": mia.get(address).value("seen"), "redirectOffered": "1"}
    mia.post(address, sent | {"redirectToCategory": "on"})
    assert stored(app) == {"/c/camping/tents/brand": "/c/camping/tents"}
    assert mia.client.get(MOOR, base_url=mia.base).headers["Location"] == "/c/camping/tents"
