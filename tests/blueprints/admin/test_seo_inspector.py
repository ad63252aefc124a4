"""The inspector and the site check as merchandisers use them."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.merchandising.models import Node
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs import seo
from app.ports import STORES
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.factories import make_user
from tests.fakes.queue import RecordingQueue
from tests.page_client import PageClient
from tests.snapshots import built


def shop_with_staff() -> int:
    site_id = small_shop.build()
    with transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    return site_id


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, shop_with_staff)


@pytest.fixture
def mia(app: Flask, site_id: int) -> PageClient:
    return PageClient(app, "shop.test").signed_in("mia@shop.test")


def text_of(mia: PageClient, url: str, status: int = 200) -> str:
    answer = mia.client.get("/admin/seo/inspector", query_string={"url": url}, base_url=mia.base)
    assert answer.status_code == status
    return " ".join(answer.text.split())


def test_the_form_alone_before_anything_is_inspected(mia: PageClient):
    page = mia.get("/admin/seo/inspector")

    assert page.texts["h1"] == "Inspector"
    assert not [part for part in page.all("section") if part.get("id") == "verdict"]


def test_an_indexable_category_with_its_data_and_its_links(mia: PageClient):
    page = text_of(mia, "https://shop.test/c/camping/tents")

    assert ">Indexable<" in page and ">Listed<" in page
    assert "https://shop.test/c/camping/tents</dd>" not in page.replace('<span class="muted">(itself)</span>', "")
    assert "(itself)" in page
    assert "BreadcrumbList" in page and "CollectionPage" in page and ">Invalid<" not in page
    assert 'url=/c/camping"' in page


def test_a_filtered_list_names_the_parameter_and_the_rule(mia: PageClient):
    page = text_of(mia, "/c/camping?colour=Fern")

    assert ">Not indexable<" in page and ">Not listed<" in page
    assert "facet_parameter:colour" in page and "filters the list" in page
    assert "https://shop.test/c/camping" in page


def test_an_unknown_parameter_is_said_to_be_one(mia: PageClient):
    assert "Unknown parameter “ref”" in text_of(mia, "/c/camping?ref=mail")


def test_redirects_and_missing_pages_are_explained(mia: PageClient):
    assert "Addresses have no slash at the end" in text_of(mia, "/c/camping/")
    assert "Page not found" in text_of(mia, "/c/nothing")


def test_a_product_names_the_categories_and_collections_that_lead_to_it(mia: PageClient):
    page = text_of(mia, "/p/tent-1")

    assert "Camping › Tents" in page and "Product" in page
    assert '"priceCurrency": "GBP"' in page.replace("&#34;", '"')


def test_a_category_that_is_left_out_of_the_sitemap_says_why(app: Flask, mia: PageClient, site_id: int):
    with app.app_context(), transaction():
        node = db.session.query(Node).filter_by(site_id=site_id, path="camping").one()
        node.exclude_from_sitemap = True

    page = text_of(mia, "/c/camping")

    assert ">Indexable<" in page and "excluded from the sitemap" in page


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://elsewhere.test/", "elsewhere.test is not an address of this shop. Its pages are at shop.test"),
        ("<b>tea</b>", "Enter the address of a page"),
    ],
)
def test_what_is_no_page_of_the_shop_is_refused_in_words(mia: PageClient, url: str, message: str):
    page = text_of(mia, url, status=400)

    assert message in page
    assert "<b>tea" not in page


def test_with_htmx_the_result_comes_alone(mia: PageClient):
    answer = mia.client.get("/admin/seo/inspector?url=/c/camping", base_url=mia.base, headers={"HX-Request": "true"})

    assert answer.text.lstrip().startswith('<div id="inspection"')


def test_an_inspection_is_no_visit(app: Flask, mia: PageClient):
    text_of(mia, "/search?q=tent")

    assert app.extensions[STORES].counting.has_pending() is False


def test_a_check_is_asked_for_followed_and_shown(app: Flask, mia: PageClient, queue: RecordingQueue):
    assert "No check yet" in mia.client.get("/admin/seo/check", base_url=mia.base).text
    mia.get("/admin/seo/check")
    mia.post("/admin/seo/check", {})
    under_way = mia.client.get("/admin/seo/check", base_url=mia.base, headers={"HX-Request": "true"}).text
    assert 'hx-trigger="every' in under_way
    _, (check_id,) = next(call for call in queue.jobs if call[0] == "seo:check_site")

    with app.app_context():
        assert seo.check_site(check_id)

    page = mia.client.get("/admin/seo/check", base_url=mia.base).text
    assert "problems found" in page.lower() and 'hx-trigger="every' not in page


def test_an_address_with_parameters_is_reached_from_the_plain_page(mia: PageClient):
    page = text_of(mia, "/c/camping?colour=Fern")

    assert "The same page without parameters" in page
    assert "Menu of categories" not in page
