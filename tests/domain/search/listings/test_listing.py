"""A listing's address is read once into a typed request and written back in one form."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.merchandising.facets import Filter
from app.domain.merchandising.tree import Display
from app.domain.search.engine import RangeFilter, Sort, ValueFilter
from app.domain.search.listings.listing import (
    ListingGrammar,
    ListingRequest,
    Span,
    is_tracking,
    read_listing,
    search_request,
)
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.validation.rules import LONGEST_ID

GRAMMAR = ListingGrammar(
    value_facets=frozenset(("manufacturer", "colour", "inStock", "size_max")),
    number_facets=frozenset(("weight", "size")),
    extra_tracking=frozenset(("ref",)),
)
NAMES = ("manufacturer", "colour", "inStock", "size_max", "weight_min", "weight_max", "size_min", "price_min")
OTHER_NAMES = (
    "price_max",
    "q",
    "sort",
    "pageSizeOverride",
    "p",
    "_by",
    "utm_source",
    "gclid",
    "ref",
    "who",
    "price",
    "",
)


def read(query: str, grammar: ListingGrammar = GRAMMAR) -> ListingRequest:
    return read_listing("/c/tents", parse_qsl(query, keep_blank_values=True), grammar)


def read_again(url: str) -> ListingRequest:
    return read(urlsplit(url).query)


def codes(query: str) -> set[str]:
    with pytest.raises(Invalid) as refused:
        read(query)
    return {problem.code for problem in refused.value.problems}


def test_the_plain_listing_has_the_plain_address():
    request = read("")
    assert request == ListingRequest("/c/tents")
    assert request.url() == "/c/tents"
    assert request.given == ()


def test_everything_is_emitted_in_one_order():
    query = "p=3&pageSizeOverride=48&sort=name&q=green+tent&price_max=50&price_min=9.5&manufacturer=B&manufacturer=A"
    request = read(query + "&colour=Red&weight_max=3.5&weight_min=1")
    assert request.url() == (
        "/c/tents?colour=Red&manufacturer=A&manufacturer=B&weight_max=3.5&weight_min=1"
        "&price_min=9.50&price_max=50&q=green+tent&sort=name&pageSizeOverride=48&p=3"
    )


def test_values_may_hold_commas_and_signs():
    request = read("manufacturer=Salt%2C+Pepper+%26+Co")
    assert request.chosen("manufacturer") == ("Salt, Pepper & Co",)
    assert request.url() == "/c/tents?manufacturer=Salt%2C+Pepper+%26+Co"


def test_tracking_parameters_are_as_if_they_were_not_there():
    assert read("utm_source=x&gclid=1&_ga=2&mc_eid=3&ref=mail") == read("")
    assert read("utm_source=x&ref=mail").given == ()
    assert is_tracking("utm_anything") and not is_tracking("utm") and not is_tracking("ref")


def test_defaults_are_never_emitted():
    assert read("p=1&sort=featured&pageSizeOverride=24").url() == "/c/tents"
    assert read("q=tent&sort=relevance").url() == "/c/tents?q=tent"


def test_page_one_asks_for_nothing_more_than_the_plain_listing():
    assert read("p=1").given == ()
    assert read("p=2").given == ()
    assert read("p=2").page == 2


@pytest.mark.parametrize("page", ["0", "-1", "1.5", "abc", "", "١", "+2", "2&p=3", "1e3", " 2", "0x10"])
def test_a_strange_page_is_an_unknown_parameter(page: str):
    request = read(f"p={page}".replace("+", "%2B"))
    assert request.page == 1
    assert request.given == ("p",)


def test_a_page_far_away_stays_a_number():
    assert read("p=" + "9" * 150).page == 1_000_000_000


@pytest.mark.parametrize(
    ("size", "read_as"), [("48", 48), ("1000", 100), ("0", None), ("-5", None), ("x", None), ("24", None)]
)
def test_the_page_size_lies_between_1_and_100(size: str, read_as: int | None):
    assert read(f"pageSizeOverride={size}").page_size == read_as


def test_an_unknown_sort_is_the_default_and_relevance_needs_words():
    assert read("sort=cheapest").order is Sort.FEATURED
    assert read("sort=relevance").order is Sort.FEATURED
    assert read("q=x").order is Sort.RELEVANCE
    assert read("q=x&sort=featured").order is Sort.FEATURED
    assert read("sort=cheapest").given == ("sort",)


def test_prices_are_typed_in_major_units():
    assert read("price_min=12.5&price_max=%C2%A31%2C000").price == Span(1250, 100_000)


def test_prices_the_wrong_way_round_are_turned():
    assert read("price_min=50&price_max=20").price == Span(2000, 5000)


@pytest.mark.parametrize("text", ["", "cheap", "-5", "1e5", "NaN", "99999999999999"])
def test_what_is_no_price_limits_nothing(text: str):
    assert not read(f"price_min={text}").price


def test_a_facet_whose_id_looks_like_an_end_is_that_facet():
    assert read("size_max=XL").chosen("size_max") == ("XL",)
    assert read("size_min=3").span("size") == Span(3.0, None)


def test_unknown_parameters_filter_nothing_and_stay_in_the_links():
    request = read("who=me&colour=Red")
    assert request.values == (("colour", ("Red",)),)
    assert request.given == ("colour", "who")
    assert request.with_value("colour", "Blue").url() == "/c/tents?colour=Blue&colour=Red&who=me"


def test_long_words_are_cut_and_spaces_joined():
    assert read("q=" + "a" * 300).words == "a" * 200
    assert read("q=++green++++tent+").words == "green tent"


def test_too_much_of_anything_is_refused_with_every_reason():
    assert codes("&".join(f"a{n}=1" for n in range(21))) == {"too_many_parameters"}
    assert codes("&".join(f"colour=x{n}" for n in range(11))) == {"too_many_values"}
    assert codes("a" * 65 + "=1&b=" + "c" * 201) == {"parameter_too_long", "value_too_long"}


def test_a_facet_has_the_longest_id_that_an_attribute_may_have():
    colour, weight = "c" * LONGEST_ID, "w" * LONGEST_ID
    grammar = ListingGrammar(value_facets=frozenset((colour,)), number_facets=frozenset((weight,)))
    request = read(f"{colour}=Red&{weight}_min=2", grammar)
    assert (request.chosen(colour), request.span(weight)) == (("Red",), Span(2.0, None))


def test_twenty_parameters_of_ten_values_are_read():
    assert len(read("&".join(f"a{n}={v}" for n in range(20) for v in range(10))).unknown) == 20


def test_choosing_and_letting_go_begin_at_page_one():
    request = read("colour=Red&p=4")
    assert request.with_value("colour", "Blue").url() == "/c/tents?colour=Blue&colour=Red"
    assert request.without_value("colour", "Red").url() == "/c/tents"
    assert request.sorted_by(Sort.NAME).url() == "/c/tents?colour=Red&sort=name"
    assert request.sorted_by(Sort.FEATURED).url() == "/c/tents?colour=Red"


def test_one_facet_or_all_filters_can_be_let_go():
    request = read("colour=Red&weight_min=2&price_max=50&q=tent&who=me")
    assert request.without("weight").url() == "/c/tents?colour=Red&who=me&price_max=50&q=tent"
    assert request.without("price").url() == "/c/tents?colour=Red&weight_min=2&who=me&q=tent"
    assert request.without_filters().url() == "/c/tents?q=tent"


def test_a_form_carries_what_it_does_not_ask():
    request = read("colour=Red&price_max=50&q=tent&p=3")
    assert request.hidden_fields("price_min", "price_max") == [("colour", "Red"), ("q", "tent")]


def test_the_engine_is_asked_for_what_was_chosen():
    request = read("colour=Red&colour=Blue&weight_max=2&price_min=10&q=tent&p=2")
    colour = Filter("colour", "Colour", Display.LIST, swatches={})
    query = search_request(request, 24, scope=(ValueFilter("category", ("7",)),), filters=[colour])
    assert query.facets == ("colour",)
    assert query.filters == (ValueFilter("colour", ("Blue", "Red")),)
    assert query.ranges == (RangeFilter("weight", None, 2.0), RangeFilter("price", 1000, None))
    assert (query.words, query.page, query.per_page, query.sort) == ("tent", 2, 24, Sort.RELEVANCE)
    assert query.scope == (ValueFilter("category", ("7",)),)


TEXTS = st.text(max_size=30) | st.sampled_from(["1", "2.5", "-3", "true", "Red", "name", "price-asc", "£5", "0"])
SENDABLE = st.characters(exclude_categories=("Cs",))
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES + OTHER_NAMES) | st.text(max_size=8), TEXTS), max_size=12)


@given(PAIRS)
def test_reading_what_was_written_gives_the_same_request(pairs):
    request = read_listing("/c/tents", pairs, GRAMMAR)
    assert read_again(request.url()) == request
    assert read_again(request.url()).url() == request.url()


@given(PAIRS, st.randoms())
def test_the_order_of_parameters_does_not_matter_to_the_address(pairs, random):
    single = list({name: (name, value) for name, value in pairs}.values())
    mixed = random.sample(single, len(single))
    assert read_listing("/c/tents", mixed, GRAMMAR).url() == read_listing("/c/tents", single, GRAMMAR).url()


@given(PAIRS, st.sampled_from(["manufacturer", "colour", "inStock"]), st.text(SENDABLE, min_size=1, max_size=20))
def test_quick_value_links_are_the_slow_ones(pairs, facet_id, value):
    request = read_listing("/c/tents", pairs, GRAMMAR)
    toggled = request.without_value if value in request.chosen(facet_id) else request.with_value
    assert request.value_links(facet_id)(value) == toggled(facet_id, value).url()


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=220)), max_size=25))
def test_anything_is_read_or_refused(pairs):
    try:
        request = read_listing("/c/tents", pairs, GRAMMAR)
    except Invalid:
        return
    assert request.page >= 1
    assert len(request.words) <= 200


def test_pages_of_a_search_by_words_alone_stay_so() -> None:
    request = read("q=mug&_by=words&p=2")
    assert (request.words_alone, request.url()) == (True, "/c/tents?q=mug&_by=words&p=2")
    assert request.at_page(3).words_alone
    assert not request.with_words("cup").words_alone
    assert [read(query).words_alone for query in ("q=mug", "q=mug&_by=meaning", "_by=words")] == [False] * 3
