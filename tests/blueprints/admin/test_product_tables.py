"""A merchandiser imports products from a table, and exports them."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from dataclasses import replace
from time import process_time

import pytest
from flask import Flask
from sqlalchemy import select

from app import ports
from app.domain.bundles import runs
from app.domain.bundles.models import BundleRun
from app.domain.bundles.runs import FILE_KEPT
from app.domain.catalogue.models import Product
from app.domain.catalogue.picture_source import PictureNotFetched
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs import catalogue
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.bundles.picture_archives import packed, png
from tests.domain.taxonomy.classified_shop import add_taxonomy, make_classified
from tests.factories import make_bundle_run, make_product, make_site, make_user
from tests.page_client import PageClient, Reading, loses_focus

PAGE = "/admin/catalogue/products/import"
TABLE = "SKU,Name,Price,Warehouse\nT-1,=Tent,10.00,A\nT-2,Stove,dear,B\n"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


def sent(mia: Merchandiser, text: str | bytes, status: int = 302, pictures: bytes | None = None):
    (form,) = (form for form in mia.get(PAGE).all("form") if "/upload/" in form.get("action", ""))
    raw = text.encode() if isinstance(text, str) else text
    files = {"table": (io.BytesIO(raw), "products.csv")}
    if pictures is not None:
        files["pictures"] = (io.BytesIO(pictures), "photos.zip")
    return mia.post(form["action"], files, status)


def worked(app: Flask) -> str:
    """The address of the run that waited, once a worker was there."""
    with app.app_context():
        waiting = db.session.scalars(select(BundleRun.id).where(BundleRun.state == "waiting")).one()
        assert catalogue.run_bundle(waiting)
    return f"{PAGE}/{waiting}"


def previewed(app: Flask, mia: Merchandiser, text: str, columns: list[str]) -> str:
    mia.post(sent(mia, text).location, {"column": columns})
    return worked(app)


def stored(app: Flask) -> dict[str, tuple[str, int]]:
    with app.app_context():
        return {
            sku: (name, price)
            for sku, name, price in db.session.execute(select(Product.sku, Product.name, Product.price))
        }


def test_a_table_is_matched_previewed_imported_and_corrected(app: Flask, mia: Merchandiser) -> None:
    columns = sent(mia, TABLE).location
    page = mia.get(columns)
    chosen = [option.get("value") for option in page.all("option") if "selected" in option]
    assert chosen == ["sku", "name", "price"] and "Warehouse" in page.texts["label"]
    mia.post(columns, {"column": [*chosen, ""]})
    tried = worked(app)
    page = mia.get(tried)
    assert "What would change" in page.texts["h2"] and stored(app) == {}
    assert "Price: “dear” is not an amount" in page.texts["td"]
    mia.post(f"{tried}/confirm", {})
    done = worked(app)
    assert stored(app) == {"T-1": ("=Tent", 1000)}
    answer = mia.pages.client.get(f"{done}/corrections.csv", base_url=mia.pages.base)
    header, line = csv.reader(io.StringIO(answer.text.removeprefix("\ufeff")))
    assert header == ["SKU", "Name", "Price", "Warehouse", "Problem"]
    assert line[:4] == ["T-2", "Stove", "dear", "B"]
    assert "Download the lines to correct" in mia.get(done).texts["a"]
    again = previewed(app, mia, answer.text.replace("dear", "5"), ["sku", "name", "price", "", ""])
    mia.post(f"{again}/confirm", {})
    worked(app)
    assert stored(app) == {"T-1": ("=Tent", 1000), "T-2": ("Stove", 500)}
    assert "Download the lines to correct" in mia.get(done).texts["a"]
    assert mia.pages.client.get(f"{done}/corrections.csv", base_url=mia.pages.base).status_code == 200
    assert "Download the lines to correct" not in mia.get(tried).texts["a"]
    mia.get(f"{tried}/corrections.csv", 404)


def test_a_merchandisers_table_leaves_the_preview_of_an_admins_bundle(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        kept_until = ports.clock().now() + FILE_KEPT
        bundle = make_bundle_run(db.session.get_one(Site, mia.site_id), file="a.zip", kept_until=kept_until).id
    previewed(app, mia, TABLE, ["sku", "name", "price", ""])
    with app.app_context():
        assert runs.summary_of(ports.clock(), runs.run_of(mia.site_id, bundle)).may_follow


def test_of_many_problems_the_page_says_which_the_file_to_correct_has(app: Flask, mia: Merchandiser) -> None:
    bad = "".join(f"T-{number},Tent,dear\n" for number in range(1_001))
    tried = previewed(app, mia, f"SKU,Name,Price\n{bad}", ["sku", "name", "price"])
    shown = mia.get(tried).texts["p"]
    assert "Nothing can be imported before the skipped lines are corrected." in shown
    assert "The first 1,000 of 1,001 problems are in that file; preview the whole file again afterwards" in shown


def test_a_preview_that_changes_nothing_names_the_lines_in_order_and_leads_to_another_file(
    app: Flask, mia: Merchandiser
) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, mia.site_id), "T-1", name="Tent", price=1000)
    table = "SKU,Name,Price,Image\nT-1,Tent,10.00,gone.png\nT-2,Tarp,dear,\nT-1,Tent,10.00,\nT-3,Stove,free,\n"
    tried = previewed(app, mia, table, ["sku", "name", "price", ""])
    shown = mia.pages.client.get(tried, base_url=mia.pages.base).text
    lines = [int(found) for found in re.findall('data-label="Line">([0-9]+)<', shown)]
    assert lines == sorted(lines) and len(lines) > 1
    assert "the shop has the other products already" in shown and "Take another file" in shown
    assert ">Preview ready<" in shown and ">Done<" not in shown


def test_what_goes_out_comes_in_again_and_changes_nothing(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        add_taxonomy(site)
        make_classified(site, "tents", {"sleeps": 2, "free": True}, sku="T-1", name="Tent", search_terms=["house"])
        make_product(site, "T-2", name="=HYPERLINK(1)", description="<p>a</p>\n<p>b</p>")
    answer = mia.pages.client.get("/admin/catalogue/products.csv", base_url=mia.pages.base)
    assert '"\'=HYPERLINK(1)"' in answer.text and '"sku","name","seoName"' in answer.text
    page = mia.get(sent(mia, answer.text).location)
    chosen = [option.get("value") for option in page.all("option") if "selected" in option]
    tried = previewed(app, mia, answer.text, chosen)
    assert "There is nothing to import: the shop has all of it already." in mia.get(tried).texts["p"]


def test_pictures_come_in_a_zip_beside_the_table(app: Flask, mia: Merchandiser) -> None:
    table = "SKU,Name,Price,Image\nT-1,Tent,10.00,red.png\nT-2,Tarp,5.00,blue.png\n"
    columns = sent(mia, table, pictures=packed({"red.png": png(1)})).location
    assert "The .zip of pictures came with it." in mia.get(columns).texts["p"]
    page = mia.post(columns, {"column": ["sku", "name", "price", ""]}, 400)
    assert "Choose a column for the pictures" in " ".join(page.texts.values())
    mia.post(columns, {"column": ["sku", "name", "price", "images"]})
    tried = worked(app)
    page = mia.get(tried)
    assert "The .zip has no picture “blue.png”." in page.texts["td"]
    mia.post(f"{tried}/confirm", {})
    page = mia.get(worked(app))
    assert "1 picture added" in page.texts["dd"]
    assert "/admin/catalogue/products" in {link.get("href") for link in page.all("a") if link.get("class") == "btn"}
    with app.app_context():
        pictures = {product.sku: len(product.images) for product in db.session.scalars(select(Product))}
    assert pictures == {"T-1": 1, "T-2": 0}
    assert len(list(app.config["SHOP"].bundle_folder.iterdir())) == 2


class Web:
    """A web with one picture."""

    def fetch(self, address: str) -> bytes:
        if address != "https://x.test/red.png":
            raise PictureNotFetched("The host answered with status 404.")
        return png(1)


def test_pictures_at_addresses_are_fetched_by_the_import(app: Flask, mia: Merchandiser) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], picture_source=Web())
    table = "SKU,Title,Price,Image Src\nT-1,Tent,10,https://x.test/red.png\nT-2,Tarp,5,https://x.test/gone.png\n"
    tried = previewed(app, mia, table, chosen_in(mia.get(sent(mia, table).location)))
    assert "Pictures at addresses are fetched by the import, not by the preview." in mia.get(tried).texts["p"]
    mia.post(f"{tried}/confirm", {})
    page = mia.get(worked(app))
    assert "https://x.test/gone.png: The host answered with status 404." in page.texts["td"]
    with app.app_context():
        pictures = {product.sku: len(product.images) for product in db.session.scalars(select(Product))}
    assert pictures == {"T-1": 1, "T-2": 0}


@pytest.mark.parametrize(
    ("pictures", "reason"),
    [
        (b"no archive", "photos.zip: This is not a readable .zip file."),
        (b"", "The file is empty."),
        (packed({"../../red.png": b"x"}), "The name of this file leads out of the archive."),
        (packed({"bomb.png": b"0" * (17 * 1024**2)}, zipfile.ZIP_DEFLATED), "bomb.png: The file unpacks to over 200"),
    ],
)
def test_an_archive_that_is_unsafe_is_refused_by_name_and_nothing_is_kept(
    app: Flask, mia: Merchandiser, pictures: bytes, reason: str
) -> None:
    page = sent(mia, TABLE, 400, pictures)
    assert reason in page.texts["a"] and "#f-pictures" in {link.get("href") for link in page.all("a")}
    assert list(app.config["SHOP"].bundle_folder.iterdir()) == []


def test_an_empty_table_is_said_to_be_empty_at_its_field(mia: Merchandiser) -> None:
    page = sent(mia, "", 400)
    assert "The file is empty." in page.texts["a"] and "#f-table" in {link.get("href") for link in page.all("a")}


def chosen_in(page: Reading) -> list[str]:
    """What is chosen for each column; an empty text where nothing is imported."""
    chosen: list[str] = []
    for tag, attributes in page.tags:
        if tag == "select":
            chosen.append("")
        elif tag == "option" and "selected" in attributes:
            chosen[-1] = attributes["value"]
    return chosen


def test_a_table_of_the_same_columns_is_matched_as_last_time_until_the_names_are_to_count(
    app: Flask, mia: Merchandiser
) -> None:
    first = sent(mia, TABLE).location
    assert "Matched as last time" not in mia.get(first).texts["p"]
    mia.post(first, {"column": ["sku", "name", "price", "stock"]})
    worked(app)
    second = sent(mia, TABLE.replace("SKU,Name", "sku, NAME").replace("T-1", "T-3")).location
    page = mia.get(second)
    assert chosen_in(page) == ["sku", "name", "price", "stock"]
    assert "Matched as last time, on" in page.texts["p"]
    (anew,) = (link["href"] for link in page.all("a") if link.get("href", "").endswith("match=names"))
    page = mia.get(anew)
    assert chosen_in(page) == ["sku", "name", "price", ""] and "Matched as last time" not in page.texts["p"]
    other = sent(mia, "SKU,Name,Price,Shelf\nT-1,Tent,10.00,A\n").location
    assert chosen_in(mia.get(other)) == ["sku", "name", "price", ""]


def test_columns_that_do_not_do_are_named_at_their_place(app: Flask, mia: Merchandiser) -> None:
    columns = sent(mia, TABLE).location
    mia.get(columns)
    page = mia.post(columns, {"column": ["sku", "sku", "", ""]}, 400)
    assert "Column 1 is SKU already." in page.texts["p"]
    assert "Choose at least one more column to import." in " ".join(page.texts.values())


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"sku\n", b"sku,name\n"])
def test_a_file_that_is_no_table_is_refused_in_words(mia: Merchandiser, raw: bytes) -> None:
    assert "Nothing was imported." in sent(mia, raw, 400).texts["strong"]


def test_a_file_of_nothing_but_line_ends_is_refused_before_it_is_read(app: Flask, mia: Merchandiser) -> None:
    page = mia.get(PAGE)
    assert "2,000,000 lines" in page.texts["p"]
    (upload,) = (form["action"] for form in page.all("form") if "/upload/" in form.get("action", ""))
    for raw, reason in (
        (b"\n" * (30 * 1024**2), "A table has at most 2,000,000 lines, blank ones included"),
        (b"sku,name\n" + b"\n" * 1_900_000, "within the first 20,000 lines"),
    ):
        began = process_time()
        answer = mia.swap(upload, {"table": (io.BytesIO(raw), "products.csv")})
        assert process_time() - began < 2
        assert answer.status_code == 400 and reason in answer.text
    assert list(app.config["SHOP"].bundle_folder.glob("*.csv")) == []


def test_the_address_of_a_refused_file_leads_back_when_it_is_opened_again(mia: Merchandiser) -> None:
    (form,) = (form for form in mia.get(PAGE).all("form") if "/upload/" in form.get("action", ""))
    mia.post(form["action"], {}, 400)
    answer = mia.pages.client.get(form["action"], base_url=mia.pages.base)
    assert (answer.status_code, answer.location) == (302, PAGE)


def test_an_import_is_cancelled(app: Flask, mia: Merchandiser) -> None:
    run = mia.post(sent(mia, TABLE).location, {"column": ["sku", "name", "price", ""]}).location
    mia.get(run)
    assert loses_focus(mia.fragment(run).text) == []
    mia.post(f"{run}/cancel", {})
    assert "Cancelled." in mia.get(run).texts["p"]


def test_a_merchandiser_sees_no_bundles_and_nobody_another_ones_file(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        bundle, colleague = make_bundle_run(site).id, make_user(site, Role.ADMIN, email="ann@shop.test").email
        other = make_bundle_run(make_site("other.test"), columns=["sku"]).id
    columns = sent(mia, TABLE).location
    for run in (bundle, other):
        mia.get(f"{PAGE}/{run}", 404)
        mia.get(f"{PAGE}/{run}/corrections.csv", 404)
    PageClient(app, "localhost").signed_in(colleague).get(columns, 404)


def test_the_list_leads_to_both(mia: Merchandiser) -> None:
    links = {link.get("href") for link in mia.get("/admin/catalogue/products").all("a")}
    assert {PAGE, "/admin/catalogue/products.csv"} <= links
