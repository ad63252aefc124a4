"""Filters, chips and pager of a listing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.merchandising.facets import Filter
from app.domain.merchandising.tree import Display
from app.domain.search.engine import RangeCount, SearchResult
from app.domain.search.listings import rail
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest, Span
from app.domain.search.listings.rail import Slider

BRAND = Filter("manufacturer", "Brand", Display.LIST, {})
COLOUR = Filter("colour", "Colour", Display.SWATCH, {"Fell": "#334455"})
STOCK = Filter("inStock", "In stock", Display.TOGGLE, {})
PRICE = Filter("price", "Price", Display.RANGE, {})
WEIGHT = Filter("weight", "Weight", Display.RANGE, {}, "kg")
RATING = Filter("rating", "Rating", Display.RANGE, {})
PLAIN = ListingRequest("/c/tents")
LINKS = ListingLinks("/c/tents")


def test_values_come_in_the_engine_s_order_with_counts_and_links():
    result = SearchResult(9, facets={"manufacturer": (("Moor", 6), ("Fell", 3))})
    (group,) = rail.groups([BRAND], PLAIN, result, LINKS)
    assert [(choice.label, choice.count, choice.url) for choice in group.choices] == [
        ("Moor", 6, "/c/tents?manufacturer=Moor"),
        ("Fell", 3, "/c/tents?manufacturer=Fell"),
    ]
    assert not group.is_chosen


def test_a_chosen_value_stays_though_nothing_has_it():
    request = PLAIN.with_value("manufacturer", "Gone")
    (group,) = rail.groups([BRAND], request, SearchResult(0, facets={"manufacturer": (("Moor", 6),)}), LINKS)
    gone = group.choices[-1]
    assert (gone.value, gone.count, gone.chosen, gone.url) == ("Gone", 0, True, "/c/tents")
    assert group.is_chosen


def test_a_chosen_value_is_offered_however_many_are_before_it():
    counts = tuple((f"b{n:03}", 1000 - n) for n in range(rail.MOST_CHOICES + 100))
    (group,) = rail.groups(
        [BRAND], PLAIN.with_value("manufacturer", "b550"), SearchResult(1, facets={"manufacturer": counts}), LINKS
    )
    assert len(group.choices) == rail.MOST_CHOICES + 1
    assert group.choices[-1].value == "b550" and group.choices[-1].count == 450
    assert group.show_all_text == "Show the first 501 of 600"


@pytest.mark.parametrize(("values", "is_long"), [(10, False), (11, True), (40, True)])
def test_more_than_ten_values_unfold(values: int, is_long: bool):
    counts = tuple((f"b{n:02}", 99 - n) for n in range(values))
    (group,) = rail.groups([BRAND], PLAIN, SearchResult(9, facets={"manufacturer": counts}), LINKS)
    assert group.is_long is is_long and len(group.choices) == values
    assert group.show_all_text == f"Show all {values}"


def rating(request: ListingRequest, low: float, high: float) -> list[tuple[str, bool, str]]:
    result = SearchResult(9, ranges={"rating": RangeCount(low, high, 9)})
    groups = rail.groups([RATING], request, result, LINKS)
    return [(choice.label, choice.chosen, choice.url) for group in groups for choice in group.choices]


def test_ratings_are_stars_and_up_of_those_that_make_a_difference():
    assert rating(PLAIN, 2.5, 4.7) == [
        ("4 stars and up", False, "/c/tents?rating_min=4"),
        ("3 stars and up", False, "/c/tents?rating_min=3"),
    ]
    assert rating(PLAIN, 0.5, 1) == [("1 star and up", False, "/c/tents?rating_min=1")]
    assert rating(PLAIN, 4.2, 4.7) == []


def test_another_rating_takes_the_place_of_the_chosen_one_which_lets_go():
    request = ListingRequest("/c/tents", spans=(("rating", Span(4.0)), ("weight", Span(None, 3.0))))
    assert rating(request, 2.5, 4.7) == [
        ("4 stars and up", True, "/c/tents?weight_max=3"),
        ("3 stars and up", False, "/c/tents?rating_min=3&weight_max=3"),
    ]
    assert [chip.text for chip in rail.chips([RATING, WEIGHT], request, LINKS)] == ["4 stars and up", "up to 3 kg"]


def test_a_rating_that_is_chosen_stays_though_nothing_has_it():
    assert rating(ListingRequest("/c/tents", spans=(("rating", Span(4.0)),)), 1, 1.5) == [
        ("4 stars and up", True, "/c/tents")
    ]


def test_filters_without_anything_to_choose_are_left_out():
    result = SearchResult(3, ranges={"price": RangeCount(500, 500, 3), "weight": RangeCount(None, None, 0)})
    assert rail.groups([BRAND, STOCK, PRICE, WEIGHT], PLAIN, result, LINKS) == ()


def test_a_toggle_is_one_switch():
    result = SearchResult(9, facets={"inStock": (("true", 4), ("false", 5))})
    (group,) = rail.groups([STOCK], PLAIN, result, LINKS)
    (switch,) = group.choices
    assert (switch.label, switch.count, switch.url) == ("In stock", 4, "/c/tents?inStock=true")


def test_swatches_have_colours():
    result = SearchResult(9, facets={"colour": (("Fell", 4), ("Red", 3), ("Mixed", 2))})
    (group,) = rail.groups([COLOUR], PLAIN, result, LINKS)
    assert [choice.colour for choice in group.choices] == ["#334455", "#ff0000", None]


def test_a_range_shows_its_bounds_and_what_was_typed():
    request = ListingRequest("/c/tents", values=(("colour", ("Red",)),), price=Span(1000, None), words="tent")
    result = SearchResult(9, ranges={"price": RangeCount(550, 99_900, 9)})
    (group,) = rail.groups([PRICE], request, result, LINKS)
    assert group.ends == rail.Ends("price_min", "price_max", low="10", high="", lowest="5.50", highest="999")
    assert group.slider == Slider("0", "1000", "10", low="10", high="1000")
    assert group.hidden == (("colour", "Red"), ("q", "tent"))
    assert group.is_chosen


def test_a_number_has_fields_of_its_own_name():
    (group,) = rail.groups([WEIGHT], PLAIN, SearchResult(9, ranges={"weight": RangeCount(0.5, 12, 9)}), LINKS)
    assert group.ends == rail.Ends("weight_min", "weight_max", low="", high="", lowest="0.5", highest="12")
    assert group.unit == "kg"


def test_every_choice_has_a_chip_that_lets_it_go():
    request = ListingRequest(
        "/c/tents",
        values=(("colour", ("Blue", "Red")), ("inStock", ("true",))),
        spans=(("weight", Span(None, 3.0)),),
        price=Span(1000, 2550),
    )
    chips = rail.chips([COLOUR, STOCK, WEIGHT, PRICE], request, LINKS)
    assert [(chip.label, chip.text) for chip in chips] == [
        ("Colour", "Blue"),
        ("Colour", "Red"),
        ("In stock", "yes"),
        ("Weight", "up to 3 kg"),
        ("Price", "£10.00 – £25.50"),
    ]
    assert chips[0].url == "/c/tents?colour=Red&inStock=true&weight_max=3&price_min=10&price_max=25.50"
    assert chips[-1].url == "/c/tents?colour=Blue&colour=Red&inStock=true&weight_max=3"


def test_words_are_a_filter_within_a_category_and_the_question_in_a_search():
    (chip,) = rail.chips([], ListingRequest("/c/tents", words="green", page=2), LINKS)
    assert (chip.label, chip.text, chip.url) == ("Words", "green", "/c/tents")
    assert rail.chips([], ListingRequest("/search", words="green"), LINKS) == ()


@pytest.mark.parametrize(
    ("current", "last", "shown"),
    [
        (1, 1, (1,)),
        (1, 3, (1, 2, 3)),
        (1, 9, (1, 2, None, 9)),
        (5, 9, (1, None, 4, 5, 6, None, 9)),
        (4, 9, (1, 2, 3, 4, 5, None, 9)),
        (9, 9, (1, None, 8, 9)),
    ],
)
def test_the_pager_shows_ends_and_neighbours(current: int, last: int, shown: tuple[int | None, ...]):
    assert rail.pages(current, last) == shown


@given(st.integers(1, 500), st.integers(1, 500))
def test_the_pager_is_short_and_in_order(first: int, second: int):
    current, last = min(first, second), max(first, second)
    numbers = [number for number in rail.pages(current, last) if number is not None]
    assert numbers == sorted(set(numbers)) and {1, current, last} <= set(numbers) and len(numbers) <= 7
