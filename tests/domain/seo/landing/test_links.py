"""Which requests of a category are landing pages, and where they are sent."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.search.listings.listing import ListingGrammar, read_listing, tracking_parameters
from app.domain.seo.landing.pages import FacetCounts, LandingLinks, LandingSubject, as_category_request, landing_pages

GRAMMAR = ListingGrammar(
    value_facets=frozenset(("manufacturer", "colour")), number_facets=frozenset(("weight",)), page_size=24
)
SUBJECT = LandingSubject("Tents", "camping/tents", frozenset(), "Small shop", 1)
RULES = [{"facetId": "manufacturer"}]
BRANDS = FacetCounts(20, (("Moor", 9), ("Fell & Fern", 8), ("A+B / C?", 7)))
PAGES = landing_pages(SUBJECT, RULES, {"manufacturer": BRANDS})
LINKS = LandingLinks(PAGES)
PATH = "/c/camping/tents"


def read(parameters: list[tuple[str, str]]):
    return read_listing(PATH, parameters, GRAMMAR)


def redirect(query: str) -> str | None:
    parameters = parse_qsl(query, keep_blank_values=True)
    return LINKS.redirect(read(parameters), tracking_parameters(parameters))


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("manufacturer=Moor", "/brand/moor"),
        ("manufacturer=Fell+%26+Fern", "/brand/fell-fern"),
        ("manufacturer=Moor&p=1", "/brand/moor"),
        ("manufacturer=Moor&p=2", "/brand/moor?p=2"),
        ("p=2&sort=name&manufacturer=Moor", "/brand/moor?sort=name&p=2"),
        ("manufacturer=Moor&sort=featured", "/brand/moor"),
        ("manufacturer=Moor&sort=nonsense", "/brand/moor"),
        ("manufacturer=Moor&pageSizeOverride=50", "/brand/moor?pageSizeOverride=50"),
        (
            "utm_source=a%26b&manufacturer=Moor&gclid=1&utm_source=c",
            "/brand/moor?utm_source=a%26b&gclid=1&utm_source=c",
        ),
        ("manufacturer=Moor&manufacturer=Moor", "/brand/moor"),
        # What is kept goes into a header: it cannot end it, and it cannot make another address of it.
        ("manufacturer=Moor&utm_source=%0D%0ASet-Cookie:+a%3Db", "/brand/moor?utm_source=%0D%0ASet-Cookie%3A+a%3Db"),
        ("manufacturer=Moor&utm_source=//evil.test", "/brand/moor?utm_source=%2F%2Fevil.test"),
        ("manufacturer=Moor&utm_%0D%0Ax=1", "/brand/moor?utm_%0D%0Ax=1"),
    ],
)
def test_one_value_with_a_page_is_sent_there_with_page_order_and_tracking(query: str, target: str):
    assert redirect(query) == PATH + target


@pytest.mark.parametrize(
    "query",
    [
        "",
        "utm_source=x",
        "manufacturer=Nobody",
        "manufacturer=moor",
        "colour=Fern",
        "manufacturer=Moor&q=tent",
        "manufacturer=Moor&manufacturer=Fell+%26+Fern",
        "manufacturer=Moor&colour=Fern",
        "manufacturer=Moor&colour=",
        "manufacturer=Moor&price_min=5",
        "manufacturer=Moor&weight_max=5",
        "manufacturer=Moor&made-up=1",
        "manufacturer=Moor&p=0",
    ],
)
def test_everything_else_stays_where_it_is(query: str):
    assert redirect(query) is None


names = st.sampled_from(["colour", "sort", "p", "pageSizeOverride", "q", "utm_x", "made-up"])
values = st.sampled_from(["Fern", "name", "2", "7", "\r\nX: y", "//evil.test"])
harmless = st.tuples(st.sampled_from(["sort", "p", "pageSizeOverride", "utm_x"]), values)
brand = st.tuples(st.just("manufacturer"), st.sampled_from(["Moor", "Fell & Fern", "A+B / C?"]))
with_brand = st.tuples(brand, st.lists(harmless, max_size=3), st.lists(st.tuples(names, values), max_size=1))
parameter_lists = with_brand.map(lambda parts: [*parts[1], parts[0], *parts[2]])


@given(parameter_lists)
def test_what_a_link_leads_to_never_redirects_again(parameters):
    """A link to a landing page stands at an address that only the landing page's own view reads."""
    address = LINKS.address(read(parameters))
    assume(address)
    assert urlsplit(address).path in {page.path for page in PAGES.pages}
    assert "manufacturer" not in dict(parse_qsl(urlsplit(address).query))


@given(parameter_lists)
def test_a_redirect_leads_to_the_same_products_on_one_line_of_this_site(parameters):
    listing = read(parameters)
    target = LINKS.redirect(listing, tracking_parameters(parameters))
    assume(target)
    parts = urlsplit(target)
    assert target.isprintable() and target.isascii() and parts.netloc == "" and parts.path.startswith(f"{PATH}/brand/")
    page = next(page for page in PAGES.pages if page.path == parts.path)
    assert as_category_request(page, read(parse_qsl(parts.query))) == listing


def test_a_landing_page_is_its_category_with_the_value_chosen():
    page = PAGES.pages[0]
    assert as_category_request(page, read([("p", "3"), ("sort", "name")])) == read(
        [("manufacturer", "Moor"), ("p", "3"), ("sort", "name")]
    )
    assert as_category_request(page, read([("manufacturer", "Fell & Fern")])).chosen("manufacturer") == (
        "Fell & Fern",
        "Moor",
    )
    assert as_category_request(page, read([("manufacturer", "Moor"), ("p", "2")])).page == 2
