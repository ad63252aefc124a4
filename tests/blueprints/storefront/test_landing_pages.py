"""Landing pages over HTTP: what the specification says of their rendering, redirects and addresses."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

import pytest
from flask import Flask

from app.domain.merchandising.models import Node
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.landing import FELL, MOOR, TENTS, Rules, data, head
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("brands")


def test_a_page_has_heading_title_intro_description_and_its_products(get: Get):
    page = get(MOOR)
    assert page.status_code == 200
    assert "<h1>Tents for the moor</h1>" in page.text and '<p class="intro">Hardy &amp; &lt;dry&gt;.</p>' in page.text
    assert head(page.text) == ("Moor! | As written", "index, follow", [f"https://shop.test{MOOR}"])
    assert '<meta name="description" content="Hardy &amp; &lt;dry&gt;.">' in page.text
    assert page.headers["X-Robots-Tag"] == "index, follow"
    assert re.findall(r'class="name">(.*?)<', page.text) == ["Moor tent 8", "Moor tent 6", "Moor tent 4"]


def test_a_page_without_copy_has_that_of_the_specification(get: Get):
    page = get(FELL).text
    assert "<h1>Fell &amp; Fern Tents</h1>" in page and 'class="intro"' not in page
    assert head(page)[0] == "Fell & Fern Tents | Small shop"
    assert 'content="Shop Fell &amp; Fern Tents at Small shop: 5 products to choose from."' in page


def test_the_breadcrumb_ends_in_the_value(get: Get):
    page = get(FELL).text
    trail = page[page.index('class="trail"') : page.index("</nav>", page.index('class="trail"'))]
    assert re.findall(r'href="(/c/.*?)"', trail) == ["/c/camping", TENTS]
    assert re.findall(r'aria-current="page">(.*?)<', trail) == ["Fell &amp; Fern"]
    steps = data(page, "BreadcrumbList")["itemListElement"]
    assert [step["name"] for step in steps] == ["Home", "Camping", "Tents", "Fell & Fern"]


def test_page_two_is_canonical_to_itself(get: Get):
    assert head(get(f"{FELL}?p=2").text) == (
        "Fell & Fern Tents | Small shop – Page 2", "index, follow", [f"https://shop.test{FELL}?p=2"],
    )  # fmt: skip
    assert get(f"{FELL}?p=3").status_code == 404
    assert head(get(f"{FELL}?utm_source=mail&p=1").text)[1:] == ("index, follow", [f"https://shop.test{FELL}"])


@pytest.mark.parametrize(
    "query",
    [
        "colour=Fern",
        "price_min=1",
        "sort=name",
        "q=tent",
        "pageSizeOverride=2",
        "made-up=1",
        "manufacturer=Fell+%26+Fern",
    ],
)
def test_anything_more_is_kept_out_with_the_page_as_canonical(get: Get, query: str):
    page = get(f"{MOOR}?{query}")
    assert page.status_code == 200
    assert head(page.text)[1:] == ("noindex, follow", [f"https://shop.test{MOOR}"])
    assert page.headers["X-Robots-Tag"] == "noindex, follow"


def test_a_secondary_domain_answers_with_the_primary_ones_canonical(get: Get):
    page = get(MOOR, host="www.shop.test")
    assert page.status_code == 200 and head(page.text)[2] == [f"https://shop.test{MOOR}"]


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("manufacturer=Moor", MOOR),
        ("manufacturer=Moor&p=1", MOOR),
        ("sort=name&p=2&manufacturer=Fell+%26+Fern", f"{FELL}?sort=name&p=2"),
        ("utm_source=mail&manufacturer=Moor&gclid=7", f"{MOOR}?utm_source=mail&gclid=7"),
        ("manufacturer=Moor&utm_source=%0d%0aX-Evil:1", f"{MOOR}?utm_source=%0D%0AX-Evil%3A1"),
        ("manufacturer=Moor&utm_source=//evil.test", f"{MOOR}?utm_source=%2F%2Fevil.test"),
    ],
)
def test_one_brand_alone_is_sent_to_its_page_for_good(get: Get, query: str, target: str):
    answer = get(f"{TENTS}?{query}")
    assert (answer.status_code, answer.headers["Location"]) == (301, target)
    assert answer.headers["Cache-Control"] == "no-store", "its page goes when products of the brand go"
    assert "X-Evil" not in answer.headers
    assert get(target).status_code == 200


ENDS = ("\r\n", "\r", "\n", "%0d%0a", "\u2028", "\x85", "\x1b")


HOSTILE = [
    *(f"{start}{end}Set-Cookie: a=b" for end in ENDS for start in ("", "x", "//evil.test")),
    *(
        "//evil.test",
        "///evil.test",
        "/\\evil.test",
        "\\\\evil.test",
        "https://evil.test",
        "javascript:alert(1)",
        "@evil.test",
    ),
    *("#", "?", "&p=9", "..", "/../..", "%2f%2fevil.test", "<script>", "'\"", "é", "x" * 60),
]


def test_what_a_redirect_keeps_stays_within_its_parameter(app: Flask, site_id: int):
    """Forty values of a tracking parameter, and as many names of one."""
    client = app.test_client()
    for value in HOSTILE:
        for name, kept in (("utm_source", value), (f"utm_{value}", "1")):
            query = urlencode([("manufacturer", "Moor"), (name, kept)])
            answer = client.get(f"{TENTS}?{query}", base_url="http://shop.test")
            assert answer.status_code == 301, (name, kept)
            location = answer.headers["Location"]
            assert location.startswith(f"{MOOR}?utm_") and location.isascii() and location.isprintable()
            assert "Set-Cookie" not in answer.headers and len(parse_qsl(location.partition("?")[2])) == 1


@pytest.mark.parametrize(
    "query",
    ["manufacturer=Moor&manufacturer=Fell+%26+Fern", "manufacturer=Moor&colour=Fern", "manufacturer=Moor&price_min=1",
     "manufacturer=Moor&q=tent", "manufacturer=Moor&x=1", "manufacturer=Nobody", "colour=Fern"],
)  # fmt: skip
def test_a_brand_with_anything_else_stays_and_is_kept_out(get: Get, query: str):
    page = get(f"{TENTS}?{query}")
    assert page.status_code == 200
    assert head(page.text)[1:] == ("noindex, follow", [f"https://shop.test{TENTS}"])


@pytest.mark.parametrize(
    "path", [f"{TENTS}/brand/nobody", f"{TENTS}/brand/Moor", f"{TENTS}/maker/moor", f"{TENTS}/moor", f"{MOOR}/x",
             "/c/brand/moor", "/c/none/brand/moor", "/c/camping/hidden/brand/moor", f"{TENTS}/brand/"]
)  # fmt: skip
def test_what_is_no_page_is_not_found(get: Get, path: str):
    answer = get(path)
    assert answer.status_code == 404 or (path.endswith("/") and answer.status_code in (301, 404))


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("camping/tents", {"landing_rules": []}),
        ("camping/tents", {"visible": False}),
        ("camping", {"visible": False}),
        ("camping/tents", {"canonical_override": "/c/camping"}),
        ("camping/tents", {"landing_rules": [{"facetId": "manufacturer", "minProducts": 4}]}),
        (None, {"default_landing_rules": []}),
        (
            None,
            {
                "default_landing_rules": [
                    {"facetId": "manufacturer", "overrides": [{"value": "moor", "excluded": True}]}
                ]
            },
        ),
    ],
)
def test_a_category_without_the_page_answers_404_and_sends_nobody_there(get: Get, change: Rules, path, fields):
    assert get(MOOR).status_code == 200
    change(path, **fields)
    assert get(MOOR).status_code == 404
    answer = get(f"{TENTS}?manufacturer=Moor")
    assert answer.status_code == (404 if "visible" in fields else 200)
    if answer.status_code == 200:
        assert head(answer.text)[1] == "noindex, follow"
        assert MOOR not in get(TENTS).text


def test_the_sites_setting_is_the_minimum_of_rules_without_one(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    assert get(MOOR).status_code == 200
    with app.app_context(), transaction():
        change_settings(site_id, {"facet-landing-min-products": 4})
    clock.move(seconds=1)
    assert (get(MOOR).status_code, get(FELL).status_code) == (404, 200)


def test_a_brand_that_every_product_carries_has_no_page(get: Get, change: Rules):
    change("camping/tents", source_manufacturers=["Moor"])
    change("gifts", landing_rules=[{"facetId": "manufacturer", "minProducts": 1}])
    assert get("/c/gifts/brand/fell-fern").status_code == 404


def test_a_segment_that_is_a_sub_category_skips_the_rule_with_a_warning(get: Get, change: Rules, log_lines):
    change("camping", landing_rules=[{"facetId": "manufacturer", "pathSegment": "tents"}])
    assert get("/c/camping/tents/moor").status_code == 404
    assert "landing-links" not in get("/c/camping").text
    warned = [line for line in log_lines if line["event"] == "landing_rule_skipped"]
    assert len(warned) == 1 and "“tents”" in warned[0]["reason"]


def test_a_category_always_wins_its_address(app: Flask, get: Get, change: Rules):
    change("camping/hidden", slug="brand", path="camping/brand")
    change("camping/mugs", slug="moor", path="camping/brand/moor", parent_id=_id_of(app, "camping/brand"))
    assert get("/c/camping/brand/moor").status_code == 404, "the category is hidden by the one above it"
    assert get("/c/camping/brand/fell-fern").status_code == 200
    change("camping/brand", visible=True)
    assert "<h1>Mugs</h1>" in get("/c/camping/brand/moor").text
    assert get("/c/camping/brand/fell-fern").status_code == 404, "its segment is a visible sub-category now"


def _id_of(app: Flask, path: str) -> int:
    with app.app_context():
        return db.session.query(Node.id).filter_by(path=path).scalar()
