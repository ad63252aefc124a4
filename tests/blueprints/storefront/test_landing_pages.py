"""Landing pages over HTTP: what the specification says of their rendering, redirects and links."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from flask import Flask

from app.adapters.null_engine import NullEngine
from app.domain.merchandising.models import Node, Tree
from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchResult
from app.domain.sites.settings import change_settings
from app.domain.sites.versioning import index_changed
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock

Rules = Callable[..., None]
TENTS = "/c/camping/tents"
MOOR, FELL = f"{TENTS}/brand/moor", f"{TENTS}/brand/fell-fern"
MUCH = {"value": "Moor", "heading": "Tents for the moor", "metaTitle": "Moor! | As written", "intro": "Hardy & <dry>."}


class CountingEngine:
    """The engine in its place, which notes every search."""

    def __init__(self, engine: SearchEngine) -> None:
        self._engine = engine
        self.asked: list[SearchRequest] = []

    def search(self, site_id: int, name: IndexName, asked: SearchRequest) -> SearchResult:
        self.asked.append(asked)
        return self._engine.search(site_id, name, asked)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


@pytest.fixture
def change(app: Flask, site_id: int, clock: StoppedClock) -> Rules:
    """Changes a category (by its path; none: the tree) and lets the shop notice it."""

    def change(path: str | None, /, **fields: Any) -> None:
        with app.app_context(), transaction():
            model, name = (Node, {"path": path}) if path else (Tree, {})
            record = db.session.query(model).filter_by(site_id=site_id, **name).one()
            for field, value in fields.items():
                setattr(record, field, value)
        clock.move(seconds=1)

    return change


@pytest.fixture(autouse=True)
def brands(change: Rules) -> None:
    change(None, default_landing_rules=[{"facetId": "manufacturer", "overrides": [MUCH]}])


def use(app: Flask, engine: SearchEngine) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)


def engine_of(app: Flask) -> SearchEngine:
    engine: SearchEngine = app.extensions[EXTENSION].search_engine
    return engine


def tags(text: str, start: str) -> list[str]:
    return [unescape(tag) for tag in re.findall(rf"<{start}[^>]*>", text)]


def head(text: str) -> tuple[str, str, list[str]]:
    """Title, robots and canonicals."""
    robots = re.findall('<meta name="robots" content="(.*?)">', text)
    assert len(robots) == 1
    canonicals = re.findall('<link rel="canonical" href="(.*?)">', text)
    return unescape(re.findall("<title>(.*?)</title>", text)[0]), robots[0], [unescape(one) for one in canonicals]


def rail(text: str) -> dict[str, str]:
    """The link of each value of the filters, as its tag."""
    found = re.findall(r'(<a id="f-[^>]*>).*?<span>(.*?)</span>', text, re.DOTALL)
    return {unescape(label): unescape(tag) for tag, label in found}


def data(text: str, kind: str) -> dict[str, Any]:
    scripts = (json.loads(script) for script in re.findall(r'<script type="application/ld\+json">(.*?)</script>', text))
    return next(script for script in scripts if script["@type"] == kind)


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


def test_every_page_is_linked_from_its_category_and_from_the_others(get: Get):
    for path, current in ((TENTS, None), (MOOR, MOOR), (f"{FELL}?p=2", FELL)):
        page = get(path).text
        links = page[page.index('id="landing-links"') :]
        assert "<h2>Shop Tents by brand</h2>" in links
        found = {tag.split('"')[1]: tag for tag in tags(links[: links.index("</nav>")], "a ")}
        assert list(found) == [FELL, MOOR]
        assert [path for path, tag in found.items() if "aria-current" in tag] == ([current] if current else [])
        assert not any("nofollow" in tag for tag in found.values())


def test_values_of_an_unfiltered_category_lead_to_their_pages_and_keep_their_toggle(get: Get):
    values = rail(get(TENTS).text)
    assert f'href="{MOOR}"' in values["Moor"] and "nofollow" not in values["Moor"]
    assert f'data-facet-href="{TENTS}?manufacturer=Moor"' in values["Moor"]
    assert 'rel="nofollow"' in values["Fern"] and "data-facet-href" not in values["Fern"]
    assert all('rel="nofollow"' in tag for tag in rail(get(f"{TENTS}?sort=name").text).values())


def test_values_of_a_filtered_category_are_not_followed(get: Get):
    values = rail(get(f"{TENTS}?colour=Fern&manufacturer=Moor").text)
    assert all('rel="nofollow"' in tag for tag in values.values())
    assert f'href="{MOOR}"' in values["Fern"], "letting the colour go leads to the page without a redirect"


def test_on_a_page_the_value_is_ticked_and_refinements_are_filters_of_the_category(get: Get):
    page = get(MOOR).text
    values = rail(page)
    assert 'aria-current="true"' in values["Moor"] and f'href="{TENTS}"' in values["Moor"]
    assert f'href="{TENTS}?colour=Fern&manufacturer=Moor"' in values["Fern"]
    assert f'href="{TENTS}?manufacturer=Fell+%26+Fern&manufacturer=Moor"' in values["Fell & Fern"]
    assert all('rel="nofollow"' in tag and 'hx-boost="false"' in tag for tag in values.values())


def test_a_swatch_leads_to_its_page_and_is_ticked_there(get: Get, change: Rules):
    change("camping/tents", landing_rules=[{"facetId": "colour", "minProducts": 2, "pathSegment": "in"}])
    swatch = rail(get(TENTS).text)["Navy"]
    assert f'href="{TENTS}/in/navy"' in swatch and "nofollow" not in swatch
    page = get(f"{TENTS}/in/navy").text
    assert 'aria-current="true"' in rail(page)["Navy"] and '<ul class="choices swatchs">' in page
    assert "<h2>Shop Tents by colour</h2>" in page
    assert get(MOOR).status_code == 404, "the category's own rules take the place of the tree's"


def test_a_brand_and_an_attribute_rule_give_both_sets(get: Get, change: Rules):
    change("camping/tents", landing_rules=[{"facetId": "manufacturer"}, {"facetId": "colour", "minProducts": 2}])
    page = get(TENTS).text
    assert "<h2>Shop Tents by brand</h2>" in page and "<h2>Shop Tents by colour</h2>" in page
    assert get(f"{TENTS}/colour/navy").status_code == 200
    assert get(f"{TENTS}?colour=Navy&manufacturer=Moor").status_code == 200


def test_no_link_of_a_category_or_its_pages_redirects(get: Get):
    for path in (TENTS, MOOR, FELL, f"{FELL}?p=2", f"{TENTS}?colour=Fern", f"{TENTS}?colour=Fern&manufacturer=Moor"):
        for link in re.findall(r' href="(/c/[^"]*)"', get(path).text):
            assert get(unescape(link)).status_code == 200, (path, link)


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


def test_the_counts_are_one_query_for_each_category_and_facet_and_none_while_they_are_fresh(
    app: Flask, get: Get, change: Rules, clock: StoppedClock
):
    change("camping/tents", landing_rules=[{"facetId": "manufacturer"}, {"facetId": "colour"}])
    engine = CountingEngine(engine_of(app))
    use(app, engine)
    get(TENTS)
    counting = [asked for asked in engine.asked if asked.per_page == 0]
    assert [asked.facets for asked in counting] == [("manufacturer",), ("colour",)] and len(engine.asked) == 3
    engine.asked.clear()
    for path in (TENTS, MOOR, f"{TENTS}?manufacturer=Moor", f"{TENTS}?p=2"):
        get(path)
    assert [asked for asked in engine.asked if asked.per_page == 0] == []
    clock.move(minutes=5)
    engine.asked.clear()
    get(TENTS)
    assert [asked.facets for asked in engine.asked] == [("manufacturer",), ("colour",)]


def test_a_swap_of_the_index_counts_anew(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    get(TENTS)
    engine = CountingEngine(engine_of(app))
    use(app, engine)
    with app.app_context(), transaction():
        index_changed(db.session(), site_id)
    clock.move(seconds=1)
    get(TENTS)
    assert [asked.facets for asked in engine.asked if asked.per_page == 0] == [("manufacturer",)]


def test_without_counts_there_are_no_pages_and_no_redirect(app: Flask, get: Get):
    use(app, NullEngine())
    assert get(MOOR).status_code == 404
    assert get(f"{TENTS}?manufacturer=Moor").status_code == 503, "filtering needs search, and nobody is sent away"
    assert "landing-links" not in get(TENTS).text


def test_the_last_good_counts_serve_for_a_day_while_search_is_away(app: Flask, get: Get, clock: StoppedClock):
    get(TENTS), get(MOOR)
    use(app, NullEngine())
    clock.move(hours=23)
    assert get(f"{TENTS}?manufacturer=Moor").status_code == 301
    assert MOOR in get(TENTS).text
    assert get(MOOR).status_code == 200
    clock.move(hours=2)
    assert get(f"{TENTS}?manufacturer=Moor").status_code != 301
    assert get(MOOR).status_code == 404


def test_a_site_can_do_without_old_counts(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    with app.app_context(), transaction():
        change_settings(site_id, {"facet-landing-stale-counts": False})
    clock.move(seconds=1)
    assert get(MOOR).status_code == 200
    use(app, NullEngine())
    assert get(MOOR).status_code == 200, "for five minutes they are fresh"
    clock.move(minutes=5)
    assert get(MOOR).status_code == 404
