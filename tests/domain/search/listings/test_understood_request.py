"""The address of a listing whose words are understood: the words alone, and what the shopper decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain.search.listings.listing import (
    ANY,
    PRICE,
    ListingGrammar,
    ListingRequest,
    Span,
    UnderstoodFilter,
    read_listing,
)

GRAMMAR = ListingGrammar(frozenset(("manufacturer", "colour")), frozenset(("weight",)))
RED = UnderstoodFilter("colour", "Colour", "Red", ("Red",))
LIGHT = UnderstoodFilter("weight", "Weight", "up to 2 kg", span=Span(None, 2))
CHEAPER = UnderstoodFilter(PRICE, "Price", "up to £50.00", span=Span(None, 5000))
WORDS = ListingRequest("/search", words="red tent up to 2 kg under £50")
TYPED = "/search?q=red+tent+up+to+2+kg+under+%C2%A350"


@pytest.fixture
def understood() -> ListingRequest:
    return WORDS.with_understood([RED, LIGHT, CHEAPER])


def test_understood_filters_are_chosen_but_not_in_the_address(understood: ListingRequest):
    assert understood.chosen("colour") == ("Red",)
    assert understood.span("weight") == Span(None, 2)
    assert understood.price == Span(None, 5000)
    assert understood.url() == TYPED
    assert understood.at_page(2).url() == f"{TYPED}&p=2"
    assert understood.hidden_fields() == [("q", WORDS.words)]


@pytest.mark.parametrize("facet_id", ["colour", "weight", PRICE])
def test_clearing_one_keeps_its_words_as_words(understood: ListingRequest, facet_id: str):
    address = understood.without(facet_id).url()
    assert address == f"{TYPED}&_as={facet_id}"
    parameters = [("q", WORDS.words), ("_as", facet_id)]
    assert read_listing("/search", parameters, GRAMMAR).kept_words == (facet_id,)


def test_clearing_all_keeps_all_words(understood: ListingRequest):
    assert understood.without_filters().url() == f"{TYPED}&_as=colour&_as=price&_as=weight"


def test_another_value_beside_an_understood_one_is_in_the_address_with_it(understood: ListingRequest):
    assert understood.with_value("colour", "Blue").url() == TYPED.replace("?", "?colour=Blue&colour=Red&")


def test_a_filter_of_another_facet_leaves_the_understood_ones_out(understood: ListingRequest):
    assert understood.with_value("manufacturer", "Moor").url() == TYPED.replace("?", "?manufacturer=Moor&")


@pytest.mark.parametrize("facet_id", ["colour", "manufacturer"])
@pytest.mark.parametrize("value", ["Red", "Blue"])
def test_links_made_at_once_are_those_made_one_by_one(understood: ListingRequest, facet_id: str, value: str):
    assert understood.value_links(facet_id)(value) == understood.toggled(facet_id, value).url()


def test_a_filter_that_the_shopper_chose_stays():
    chosen = ListingRequest("/search", words="red tent", values=(("colour", ("Blue",)),))
    assert chosen.with_understood([RED]).url() == "/search?colour=Blue&q=red+tent"
    assert chosen.with_understood([RED]).without("colour").url() == "/search?q=red+tent&_as=colour"


def test_other_words_forget_the_decisions(understood: ListingRequest):
    other = understood.without("colour").with_words("boots")
    assert (other.understood, other.kept_words) == ((), ())


def test_without_words_nothing_is_kept_as_words():
    request = read_listing("/search", [("_as", "price"), ("colour", "Red")], GRAMMAR)
    assert (request.kept_words, request.url()) == ((), "/search?colour=Red")
    assert request.span(PRICE) == ANY


def test_other_words_leave_the_understood_filters_out_and_keep_those_of_the_address():
    request = ListingRequest("/search", words="red tent", values=(("manufacturer", ("Moor",)),))
    other = request.with_understood([RED, LIGHT, CHEAPER]).with_words("red tents")
    assert other == replace(request, words="red tents")


def test_a_filter_taken_from_an_offer_says_so_while_it_is_chosen():
    taken = WORDS.with_value("colour", "Red").with_filter_words("colour")
    assert taken.url() == TYPED.replace("?", "?colour=Red&") + "&_is=colour"
    assert taken.without("colour").url() == TYPED
    parameters = [("q", WORDS.words), ("colour", "Red"), ("_is", "colour"), ("_is", "weight"), ("_is", PRICE)]
    assert read_listing("/search", parameters, GRAMMAR) == taken


@pytest.mark.parametrize("facet_id", ["colour", "manufacturer"])
@pytest.mark.parametrize("value", ["Red", "Blue"])
def test_links_beside_an_offer_taken_are_those_made_one_by_one(facet_id: str, value: str):
    taken = WORDS.with_value("colour", "Red").with_filter_words("colour")
    assert taken.value_links(facet_id)(value) == taken.toggled(facet_id, value).url()
