"""A search that led to nothing, and the one after it that led to a product, are two names of one wish, or not."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search_statistics.counting import attribution as rules
from app.domain.search_statistics.counting.aggregation import MOST_PAIRS, RephrasedVisits, pairs_within_bounds
from app.domain.search_statistics.counting.attribution import (
    EventContext,
    Journey,
    ResultsPage,
    from_text,
    is_in_other_words,
    to_text,
)
from app.domain.search_statistics.counting.events import Event, EventKind, as_json, from_json

BEGAN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
PRODUCT = 7


class Visit:
    """What a shopper searches and opens, a minute after the other, by way of the cookie."""

    def __init__(self, clicks: bool = True) -> None:
        self.journey, self.clicks, self.now, self.rephrased = Journey(), clicks, BEGAN, list[tuple[str, str]]()

    def search(self, word: str, found: int | None = 2) -> Visit:
        return self._do(rules.searched, ResultsPage(word, (PRODUCT, PRODUCT + 1)[: found or 0], found))

    def open(self, word: str, product: int = PRODUCT) -> Visit:
        return self._do(rules.opened, product, word)

    def wait(self, minutes: float) -> Visit:
        self.now += timedelta(minutes=minutes)
        return self

    def _do(self, rule: object, *arguments: object) -> Visit:
        context = EventContext(1, self.now, self.now.date(), self.clicks)
        after, events = rule(self.journey, context, *arguments)  # type: ignore[operator]
        self.journey = from_text(to_text(after))
        pairs = [(event.word, event.next_word) for event in events if event.kind is EventKind.REPHRASED]
        self.rephrased += pairs
        return self.wait(1)


def test_who_opens_nothing_and_searches_again_in_other_words_has_rephrased() -> None:
    assert Visit().search("cooktop").search("hob").open("hob").rephrased == [("cooktop", "hob")]


def test_a_visit_counts_a_pair_once_however_much_it_opens_and_searches_again() -> None:
    visit = Visit().search("cooktop").search("hob").open("hob").open("hob", PRODUCT + 1)
    assert visit.search("cooktop").search("hob").open("hob").rephrased == [("cooktop", "hob")]


def test_only_the_next_search_counts_and_only_soon_after() -> None:
    assert Visit().search("cooktop").search("bed").search("hob").open("hob").rephrased == [("bed", "hob")]
    assert Visit().search("cooktop").wait(5).search("hob").open("hob").rephrased == []


def test_a_search_that_led_to_a_product_was_not_rephrased_nor_one_by_another_that_led_to_none() -> None:
    assert Visit().search("cooktop").open("cooktop").search("hob").open("hob", PRODUCT + 1).rephrased == []
    assert Visit().search("cooktop").search("hob").rephrased == []


def test_a_search_that_a_rule_sent_on_or_a_page_answered_led_somewhere() -> None:
    assert Visit().search("sale", found=None).search("shoes").open("shoes").rephrased == []
    assert Visit().search("sale", found=0).search("shoes").open("shoes").rephrased == [("sale", "shoes")]


def test_nothing_is_rephrased_while_clicks_are_not_recorded() -> None:
    assert Visit(clicks=False).search("cooktop").search("hob").open("hob").rephrased == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("laptop", "laptop bag"),
        ("laptop bag", "laptop"),
        ("laptops", "Laptop"),
        ("red shoes", "shoes red"),
        ("shoes for women", "shoes women red"),
        ("iphone 12", "iphone 13"),
        ("galaxy s21 case", "galaxy s22 case"),
        ("b c d e f g", "hob"),
        ("!", "hob"),
    ],
)
def test_narrower_wider_and_numbered_searches_are_no_other_words(before: str, after: str) -> None:
    assert not is_in_other_words(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [("cooktop", "hob"), ("cell phone", "mobile phone"), ("smart watch", "smartwatch"), ("ps5", "playstation 5")],
)
def test_other_names_of_a_thing_are_other_words(before: str, after: str) -> None:
    assert is_in_other_words(before, after)


@given(st.text(max_size=30), st.lists(st.text(max_size=10), max_size=3))
def test_whatever_is_added_to_a_search_makes_no_other_words_of_it(words: str, added: list[str]) -> None:
    more = " ".join([words, *added])
    assert not is_in_other_words(words, more) and not is_in_other_words(more, words)


def test_the_spool_reads_its_lines_of_before_and_of_lines_with_more_columns_what_it_knows() -> None:
    event = Event(EventKind.REPHRASED, 1, "cooktop", BEGAN.date(), next_word="hob", visits=5)
    line = json.loads(json.dumps(as_json(event)))
    assert from_json(line) == event and from_json([*line, None, None, False, "more"]) == event
    clicked = ["clicked", 1, "tent", "2026-11-20", 0, None, 0, 0, 0]
    assert from_json(clicked) == Event(EventKind.CLICKED, 1, "tent", BEGAN.date())
    assert as_json(Event(EventKind.CLICKED, 1, "tent", BEGAN.date())) == clicked
    of_before = ["clicked", 1, "tent", "2026-11-20", int(BEGAN.timestamp()), None, 0, 0, 0]
    assert from_json(of_before) == Event(EventKind.CLICKED, 1, "tent", BEGAN.date())


def test_a_pair_has_no_more_visits_than_its_second_search_has_clicks() -> None:
    pair = ("cooktop", "hob")
    nine = {pair: RephrasedVisits(9, 9)}
    assert pairs_within_bounds(nine, {}, {"hob": 6}) == {pair: 6}
    assert pairs_within_bounds(nine, {pair: 5}, {"hob": 6}) == {pair: 1}
    assert pairs_within_bounds(nine, {pair: 6}, {"hob": 6}) == {}
    assert pairs_within_bounds(nine, {}, {"hob": 4}) == {}, "too few would share it"
    assert pairs_within_bounds(nine, {}, {}) == {}


def test_visits_of_the_week_that_were_lost_before_are_added_with_the_next() -> None:
    pair = ("cooktop", "hob")
    assert pairs_within_bounds({pair: RephrasedVisits(1, 7)}, {}, {"hob": 99}) == {pair: 7}
    assert pairs_within_bounds({pair: RephrasedVisits(1, 7)}, {pair: 12}, {"hob": 99}) == {pair: 1}


def test_a_week_has_so_many_pairs_and_those_it_has_go_on_counting() -> None:
    stored = {(f"word {number}", "hob"): 5 for number in range(MOST_PAIRS - 1)}
    new = {("a", "hob"): 5, ("b", "hob"): 5, ("word 5", "hob"): 1}
    coming = {pair: RephrasedVisits(number, number) for pair, number in new.items()}
    assert pairs_within_bounds(coming, stored, {"hob": 99}) == {("a", "hob"): 5, ("word 5", "hob"): 1}
