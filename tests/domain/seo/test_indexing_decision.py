"""The indexing decision, row by row of the specification's table, and what holds for every request."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.listings.listing import TRACKING, ListingGrammar, read_listing
from app.domain.seo.indexing_decision import (
    INDEX,
    LISTINGS,
    NOINDEX,
    IndexingDecision,
    PageKind,
    PageRequest,
    SearchEngineSettings,
    decide,
)

HOST = "shop.test"
SETTINGS = SearchEngineSettings(HOST)
PLAIN = f"https://{HOST}/c/tents"
GRAMMAR = ListingGrammar(
    value_facets=frozenset(("manufacturer", "colour")),
    number_facets=frozenset(("weight",)),
    extra_tracking=frozenset(("ref",)),
)
Parameters = list[tuple[str, str]]


def decided(
    parameters: Parameters, settings: SearchEngineSettings = SETTINGS, kind: PageKind = PageKind.CATEGORY
) -> IndexingDecision:
    """How a category is treated whose address has these parameters."""
    listing = read_listing("/c/tents", parameters, GRAMMAR)
    return decide(PageRequest(kind, "/c/tents", listing.given, listing.page), settings)


@pytest.mark.parametrize(
    ("parameters", "canonical", "suffix"),
    [
        ([], PLAIN, ""),
        ([("utm_source", "mail"), ("gclid", "1"), ("ref", "x")], PLAIN, ""),
        ([("p", "1")], PLAIN, ""),
        ([("p", "2")], f"{PLAIN}?p=2", " – Page 2"),
        ([("utm_source", "mail"), ("p", "17")], f"{PLAIN}?p=17", " – Page 17"),
    ],
)
def test_plain_addresses_are_indexable_and_canonical_to_themselves(parameters, canonical, suffix):
    decision = decided(parameters)
    assert (decision.robots, decision.canonical, decision.title_suffix) == (INDEX, canonical, suffix)
    assert decision.reason == ("page_number" if suffix else "indexable")


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("manufacturer", "Moor", "facet_parameter:manufacturer"),
        ("colour", "Fern", "facet_parameter:colour"),
        ("price", "1", "facet_parameter:price"),
        ("price_min", "1", "facet_parameter:price"),
        ("price_max", "1", "facet_parameter:price"),
        ("weight_min", "1", "facet_parameter:weight_min"),
        ("q", "tent", "search_words"),
        ("sort", "name", "sort_parameter"),
        ("sort", "no such order", "sort_parameter"),
        ("pageSizeOverride", "50", "page_size_parameter"),
        ("made-up", "1", "facet_parameter:made-up"),
        ("colour", "", "facet_parameter:colour"),
    ],
)
@pytest.mark.parametrize("page", [[], [("p", "3")]])
def test_any_other_parameter_keeps_a_page_out_and_names_the_category(name, value, reason, page):
    decision = decided([*page, (name, value)])
    assert (decision.robots, decision.canonical, decision.reason) == (NOINDEX, PLAIN, reason)


@pytest.mark.parametrize("page", ["0", "-1", "two", "1.0", ""])
def test_what_is_no_page_number_is_an_unknown_parameter(page):
    decision = decided([("p", page)])
    assert (decision.robots, decision.canonical, decision.reason) == (NOINDEX, PLAIN, "facet_parameter:p")


def test_search_results_are_never_indexable():
    for parameters in ((), ("q",), ("utm_source",)):
        decision = decide(PageRequest(PageKind.SEARCH, "/search", parameters), SETTINGS)
        assert (decision.robots, decision.canonical, decision.reason) == (NOINDEX, None, "search_results")


@pytest.mark.parametrize(
    ("override", "page", "canonical", "reason"),
    [
        ("/c/camping", 1, f"https://{HOST}/c/camping", "canonical_override"),
        ("/c/camping", 3, f"https://{HOST}/c/camping?p=3", "canonical_override"),
        ("/c/camping?colour=Fern", 3, f"https://{HOST}/c/camping?colour=Fern&p=3", "canonical_override"),
        ("http://shop.test/c/camping", 1, f"https://{HOST}/c/camping", "canonical_override"),
        ("//shop.test/c/camping", 2, f"https://{HOST}/c/camping?p=2", "canonical_override"),
        ("https://other.test/tents", 1, "https://other.test/tents", "cross_domain_canonical"),
        ("https://other.test/tents", 3, "https://other.test/tents", "cross_domain_canonical"),
    ],
)
def test_an_override_takes_the_place_of_the_path(override, page, canonical, reason):
    decision = decide(PageRequest(PageKind.CATEGORY, "/c/tents", page=page, override=override), SETTINGS)
    assert (decision.robots, decision.canonical, decision.reason) == (INDEX, canonical, reason)
    filtered = decide(PageRequest(PageKind.CATEGORY, "/c/tents", ("colour",), page, override), SETTINGS)
    assert filtered.robots == NOINDEX
    assert filtered.canonical == canonical.replace(f"?p={page}", "").replace(f"&p={page}", "")


def test_the_canonical_of_kept_out_pages_can_be_dropped():
    dropping = replace(SETTINGS, drop_canonical_on_noindex=True)
    assert decided([("colour", "Fern")], dropping).canonical is None
    assert decided([], dropping).canonical == PLAIN


def test_a_staging_site_is_kept_out_whole():
    decision = decided([], replace(SETTINGS, staging=True))
    assert (decision.robots, decision.reason) == (NOINDEX, "staging_site")


names = st.sampled_from(
    ["manufacturer", "colour", "weight_min", "price_min", "price_max", "q", "sort", "pageSizeOverride", "p", "x", "y"]
)
values = st.sampled_from(["", "1", "2", "Moor", "Fern & Co", "name", "é"])
parameter_lists = st.lists(st.tuples(names, values), max_size=6)
tracking = st.lists(
    st.tuples(st.sampled_from([*sorted(TRACKING), "utm_source", "utm_", "utm_x-y", "ref"]), values), max_size=4
)


@given(parameter_lists.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))))
def test_the_order_of_parameters_never_matters(both):
    one, other = both
    assert decided(one) == decided(other)


@given(parameter_lists, tracking, st.randoms(use_true_random=False))
def test_tracking_parameters_never_matter(parameters, more, random):
    mixed = [*parameters]
    for pair in more:
        mixed.insert(random.randint(0, len(mixed)), pair)
    assert decided(mixed) == decided(parameters)


@given(
    st.sampled_from(PageKind),
    parameter_lists,
    st.sampled_from([None, "/c/camping", "http://shop.test/c/x", "/c/x?a=b"]),
    st.booleans(),
    st.booleans(),
)
def test_there_is_at_most_one_canonical_and_it_is_on_the_primary_domain(kind, parameters, override, staging, drop):
    listing = read_listing("/c/tents", parameters, GRAMMAR)
    settings = SearchEngineSettings(HOST, staging, drop)
    decision = decide(PageRequest(kind, "/c/tents", listing.given, listing.page, override), settings)
    if decision.is_indexable:
        assert decision.canonical is not None
    if decision.canonical is not None:
        parts = urlsplit(decision.canonical)
        assert (parts.scheme, parts.netloc, parts.fragment) == ("https", HOST, "")
        assert decision.canonical.count("?") <= 1
        assert kind in LISTINGS or "p=" not in parts.query
