"""An admin imports, exports and transfers the shop on the page Import and export."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from flask import Flask
from markupsafe import escape
from sqlalchemy import func, select

from app.domain.bundles.models import BundleRun
from app.domain.catalogue.models import Product
from app.domain.sites.accounts import Role
from app.domain.sites.models import RoleGrant, Site
from app.extensions import db
from app.jobs import catalogue
from app.transaction import transaction
from tests.factories import make_bundle_run, make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, loses_focus

PAGE = "/admin/settings/import-export"
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def admin(signed_in) -> PageClient:
    return signed_in(Role.ADMIN)


def archive(**files: Any) -> tuple[io.BytesIO, str]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, content in files.items():
            rows = name in ("products", "pages", "collections")
            text = "".join(json.dumps(row) + "\n" for row in content) if rows else json.dumps(content)
            made.writestr(f"{name}.{'jsonl' if rows else 'json'}", text)
    packed.seek(0)
    return packed, "shop.zip"


def product(sku: str = "T-1", **more: Any) -> dict[str, Any]:
    return {"sku": sku, "name": f"Tent {sku}", "price": 100} | more


def upload_address(admin: PageClient) -> str:
    forms = [form["action"] for form in admin.get(PAGE).all("form") if "/upload/" in form.get("action", "")]
    assert len(forms) == 1
    return forms[0]


def run_id(app: Flask) -> str:
    with app.app_context():
        return db.session.scalars(select(BundleRun.id).order_by(BundleRun.created_at.desc(), BundleRun.id)).all()[0]


def latest_waiting(app: Flask) -> str:
    with app.app_context():
        return db.session.scalars(select(BundleRun.id).where(BundleRun.state == "waiting")).one()


def worked(app: Flask) -> str:
    """The address of the run that waited, once a worker was there."""
    waiting = latest_waiting(app)
    with app.app_context():
        assert catalogue.run_bundle(waiting)
    return f"{PAGE}/{waiting}"


def uploaded(app: Flask, admin: PageClient, parts: tuple[str, ...] = ("catalogue",), **files: Any) -> str:
    admin.post(upload_address(admin), {"bundle": archive(**files), "part": list(parts)})
    return worked(app)


def count(app: Flask, model: Any = Product) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(model)) or 0


def test_the_page_says_that_nothing_was_done_yet(admin: PageClient) -> None:
    page = admin.get(PAGE)
    assert page.texts["h1"] == "Import and export"
    text = admin.client.get(PAGE).text
    assert "No imports or exports yet" in text and "no other site on this server" in text


def test_a_file_is_looked_at_then_taken(app: Flask, admin: PageClient) -> None:
    here = uploaded(app, admin, products=[product(), product("T-2", price="cheap")])
    page = admin.client.get(here).text
    assert "What would change" in page and "T-1: Tent T-1" in page and "products.jsonl, line 2" in page
    assert count(app) == 0
    admin.get(here)
    admin.post(f"{here}/confirm", {})
    done = worked(app)
    assert "What changed" in admin.client.get(done).text
    assert "Imported shop.zip into localhost" in admin.client.get("/admin/activity").text
    assert count(app) == 1
    report = admin.client.get(f"{done}/report.json")
    assert report.json["counts"]["products"]["added"] == 1
    assert "attachment" in report.headers["Content-Disposition"]
    again = admin.client.get(here).text
    assert "Import now" not in again
    assert "This import has been run" in again


def test_a_preview_is_carried_out_by_nobody_but_who_requested_it(app: Flask, admin: PageClient, signed_in) -> None:
    here = uploaded(app, admin, products=[product()])
    assert "Import now" in admin.client.get(here).text
    other = signed_in(Role.SUPERADMIN)
    page = other.client.get(here).text
    assert "Import now" not in page and "What would change" in page and "who requested this preview" in page
    other.get(here)
    other.post(f"{here}/confirm", {}, status=409)
    assert count(app, BundleRun) == 1


def test_products_without_their_level_are_the_first_thing_to_know_with_the_way_there(
    app: Flask, admin: PageClient
) -> None:
    rows = [product("T-1", taxonomy={"levelId": "tents"}), product("T-2", taxonomy={"levelId": "boots"})]
    page = admin.client.get(uploaded(app, admin, products=rows)).text
    notes = page[page.index("Notes</h2>") : page.index("Skipped</h2>")]
    assert "2 products come without their level" in notes
    assert 'href="/admin/catalogue/taxonomy">Open Taxonomy</a>' in notes
    refused = page[page.index("Skipped</h2>") :]
    assert refused.count("The active taxonomy has no level") == 3  # Once for both, then each by itself.


def test_a_run_under_way_shows_its_progress_and_can_be_cancelled(app: Flask, admin: PageClient) -> None:
    admin.post(upload_address(admin), {"bundle": archive(products=[product()]), "part": ["catalogue"]})
    waiting = latest_waiting(app)
    with app.app_context(), transaction():
        run = db.session.get_one(BundleRun, waiting)
        run.state, run.step, run.done, run.total = "running", "Products", 500, 2_000
    here = f"{PAGE}/{waiting}"
    fragment = admin.client.get(here, headers={"HX-Request": "true"}).text
    assert "Products: 500 of 2,000" in fragment and f'hx-get="{here}"' in fragment and "<h1" not in fragment
    assert loses_focus(fragment) == []
    admin.get(here)
    admin.post(f"{here}/cancel", {})
    assert "Stopping after the current step" in admin.client.get(here).text


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"part": ["catalogue"]}, "Choose a .zip file first."),
        ({"bundle": (io.BytesIO(b""), "a.zip"), "part": ["catalogue"]}, "The file is empty."),
        ({"bundle": archive(), "part": []}, "Choose at least one part."),
        ({"bundle": archive(), "part": ["site"]}, "There is no part “site”."),
        ({"bundle": archive(), "part": [EVIL]}, "There is no part"),
    ],
)
def test_what_cannot_be_taken_is_said_at_once_and_leaves_no_file(
    app: Flask, admin: PageClient, sent: dict[str, Any], message: str
) -> None:
    if "bundle" in sent:  # One of its own for each database that the test runs with.
        sent = sent | {"bundle": (io.BytesIO(sent["bundle"][0].getvalue()), "a.zip")}
    page = admin.post(upload_address(admin), sent, status=400)
    assert any(message in text for text in page.texts.values())
    assert count(app, BundleRun) == 0
    assert not list(app.config["SHOP"].bundle_folder.glob("*"))


def test_a_file_that_is_no_bundle_is_said_to_be_none(app: Flask, admin: PageClient) -> None:
    admin.post(upload_address(admin), {"bundle": (io.BytesIO(b"not a zip"), EVIL), "part": ["catalogue"]})
    page = admin.client.get(worked(app)).text
    assert ": This is not a readable .zip file.<" in page and "Stopped early" in page
    assert EVIL not in page and f"{escape(EVIL)}: This is not a readable" in page


def test_an_upload_with_the_permit_of_another_user_is_refused(app: Flask, admin: PageClient, signed_in) -> None:
    address = upload_address(signed_in(Role.SUPERADMIN))
    admin.get(PAGE)
    admin.post(address, {"bundle": archive(products=[product()]), "part": ["catalogue"]}, status=409)
    assert count(app, BundleRun) == 0


def test_names_and_reasons_are_text_in_the_page_and_in_the_table(app: Flask, admin: PageClient) -> None:
    rows = [product(EVIL, name=EVIL), product("=cmd()", price="x"), product("T-3", **{"=HYPERLINK(1)": 1})]
    here = uploaded(app, admin, products=rows)
    page = admin.client.get(here).text
    assert EVIL not in page and "&lt;img" in page
    table = admin.client.get(f"{here}/report.csv")
    assert table.mimetype == "text/csv"
    assert not any(cell.startswith(("=", '"=')) for line in table.text.splitlines() for cell in line.split(","))


def test_an_export_is_downloaded_by_those_permitted_for_a_day(
    app: Flask, admin: PageClient, signed_in, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        make_product(db.session.scalars(select(Site)).first())
    admin.get(PAGE)
    admin.post(f"{PAGE}/export", {"part": ["catalogue", "pages"]})
    here = worked(app)
    assert "Download" in admin.client.get(here).text
    sent = admin.client.get(f"{here}/shop.zip")
    with zipfile.ZipFile(io.BytesIO(sent.data)) as made:
        assert sorted(made.namelist()) == ["collections.jsonl", "pages.jsonl", "products.jsonl"]
    assert sent.headers["Cache-Control"] == "no-store"
    sent.close()
    assert signed_in(Role.MERCHANDISER).client.get(f"{here}/shop.zip").status_code == 403
    with app.app_context(), transaction():
        run = db.session.scalars(select(BundleRun)).one()
        run.kept_until = clock.now()
    assert admin.client.get(f"{here}/shop.zip").status_code == 404
    assert "The file has expired" in admin.client.get(here).text


@pytest.fixture
def staging(app: Flask) -> int:
    """Another site with a product."""
    with app.app_context(), transaction():
        site = make_site("staging.localhost", "Staging")
        make_product(site, sku="S-1")
        return site.id


def make_admin_of(app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        user_id = db.session.scalars(select(RoleGrant.user_id).where(RoleGrant.role == "ADMIN")).one()
        db.session.add(RoleGrant(user_id=user_id, site_id=site_id, role="ADMIN"))


def test_a_transfer_needs_an_admin_of_both_sites(app: Flask, admin: PageClient, staging: int) -> None:
    admin.get(PAGE)
    admin.post(f"{PAGE}/transfer", {"source": str(staging), "part": ["catalogue"]}, status=400)
    assert "staging.localhost" not in admin.client.get(PAGE).text
    make_admin_of(app, staging)
    assert "staging.localhost" in admin.client.get(PAGE).text
    admin.get(PAGE)
    admin.post(f"{PAGE}/transfer", {"source": str(staging), "part": ["catalogue"]})
    tried = worked(app)
    admin.get(tried)
    with app.app_context(), transaction():
        db.session.query(RoleGrant).filter_by(site_id=staging).delete()
    admin.post(f"{tried}/confirm", {}, status=403)
    make_admin_of(app, staging)
    admin.get(tried)
    admin.post(f"{tried}/confirm", {})
    worked(app)
    assert count(app) == 2


def test_what_has_nothing_to_do_says_so(app: Flask, admin: PageClient) -> None:
    assert "Nothing to import" in admin.client.get(uploaded(app, admin, products=[])).text


def test_the_list_names_the_latest_twenty(app: Flask, admin: PageClient) -> None:
    with app.app_context(), transaction():
        for _ in range(30):
            make_bundle_run(db.session.scalars(select(Site)).first())
    assert len(admin.get(PAGE).all("tr")) == 21
