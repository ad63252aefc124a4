"""What is counted of a shopper's way from a search to an order."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.domain.search_statistics.counting import attribution as rules
from app.domain.search_statistics.counting.attribution import (
    LONGEST_JOURNEY,
    Attributed,
    EventContext,
    Journey,
    ResultsPage,
    from_text,
    to_text,
    weight_at,
)
from app.domain.search_statistics.counting.events import Event, EventKind

BEGAN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SITE = 7


def at(minutes: float, clicks: bool = True) -> EventContext:
    now = BEGAN + timedelta(minutes=minutes)
    return EventContext(SITE, now, now.date(), clicks)


class Shopper:
    """Walks through the shop and remembers what was counted."""

    def __init__(self) -> None:
        self.journey, self.counted, self.of_products = Journey(), list[Event](), list[Event]()

    def search(self, word: str, minutes: float = 0, shown: tuple[int, ...] = (1, 2, 3), **more: bool) -> None:
        clicks = more.pop("clicks", True)
        page = ResultsPage(word, shown, len(shown), **more)
        self._take(rules.searched(self.journey, at(minutes, clicks), page))

    def open(self, product: int, minutes: float = 0, word: str | None = None, clicks: bool = True) -> None:
        self._take(rules.opened(self.journey, at(minutes, clicks), product, word))

    def add(self, product: int, minutes: float = 0) -> None:
        self._take(rules.added(self.journey, at(minutes), product))

    def order(self, *lines: tuple[int, int], minutes: float = 0) -> None:
        self._take(rules.ordered(self.journey, at(minutes), lines))

    def events(self) -> list[tuple[str, str, int]]:
        return [(event.kind.name.lower(), event.word, event.revenue) for event in self.counted]

    def products(self) -> list[tuple[str, str, int | None, int]]:
        return [(event.kind.name.lower(), event.word, event.product_id, event.weight) for event in self.of_products]

    def _take(self, noted: Attributed) -> None:
        """By way of the cookie."""
        self.journey = from_text(to_text(noted[0]))
        for event in noted[1]:
            (self.of_products if event.kind.is_of_product else self.counted).append(event)


def test_the_whole_way_is_counted_to_the_search() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.open(2, 1)
    shopper.add(2, 5)
    shopper.order((2, 9900), (8, 500), minutes=60)
    assert shopper.events() == [
        ("searched", "tent", 0),
        ("clicked", "tent", 0),
        ("added", "tent", 0),
        ("ordered", "tent", 9900),
    ]


def test_a_reload_or_another_page_or_a_filter_does_not_count_again() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.search("tent", 5)
    shopper.search("tent", 6, is_first=False)
    shopper.search("stove", 7, is_first=False)
    assert shopper.events() == [("searched", "tent", 0)]


def test_the_visit_ends_after_half_an_hour_without_a_search_and_slides_on_with_each() -> None:
    shopper = Shopper()
    for minutes in (0, 29, 58, 87):
        shopper.search("tent", minutes)
    assert len(shopper.counted) == 1
    shopper.search("tent", 117)
    assert len(shopper.counted) == 2


def test_a_reload_within_a_minute_leaves_the_trail_and_so_the_cookie_as_it_is() -> None:
    shopper = Shopper()
    shopper.search("tent")
    before = shopper.journey
    shopper.search("tent", 0.5)
    assert shopper.journey == before


def test_only_the_first_product_opened_is_a_click_and_only_one_that_was_shown() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.open(9)
    assert len(shopper.counted) == 1
    for product in (1, 2, 1):
        shopper.open(product)
    assert shopper.events()[1:] == [("clicked", "tent", 0)]


def test_the_page_that_the_browser_names_has_the_click_even_if_it_is_not_the_latest() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.search("tents for two")
    shopper.open(1, word="tent")
    shopper.open(2)
    assert [event.word for event in shopper.counted[2:]] == ["tent", "tents for two"]


def test_the_basket_counts_within_half_an_hour_and_once_for_a_search() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.open(1)
    shopper.open(2)
    shopper.add(3)
    shopper.add(1, 30)
    shopper.add(2, 30)
    shopper.search("stove", 0, shown=(5,))
    shopper.open(5)
    shopper.add(5, 30.1)
    assert shopper.events()[2:] == [("added", "tent", 0), ("searched", "stove", 0), ("clicked", "stove", 0)]


def test_each_product_that_is_opened_counts_once_for_a_search_with_the_place_at_which_it_stood() -> None:
    shopper = Shopper()
    shopper.search("tent", shown=(30, 10, 20))
    for product in (20, 30, 20):
        shopper.open(product, 1)
    assert shopper.products() == [("opened", "tent", 20, weight_at(3)), ("opened", "tent", 30, weight_at(1))]


def test_a_search_counts_as_many_products_as_it_keeps_and_goes_on_attributing() -> None:
    shopper = Shopper()
    shopper.search("tent", shown=tuple(range(1, 101)))
    for _ in range(2):
        for product_id in range(1, 101):
            shopper.open(product_id, 1)
    assert len(shopper.products()) == rules.MOST_FOLLOWED
    assert 100 in shopper.journey.searches[0].opened, "it may still be put in the basket"


def test_what_stands_far_down_or_on_a_further_page_counts_as_at_the_last_place_that_is_kept() -> None:
    shopper = Shopper()
    shopper.search("tent", shown=tuple(range(1, 61)))
    shopper.open(50, 1)
    shopper.search("tent", 2, shown=(70, 80), is_first=False, is_top=False)
    shopper.open(70, 3)
    assert [weight for *_, weight in shopper.products()] == [weight_at(rules.MOST_PLACED)] * 2


def test_places_are_those_of_the_page_as_it_was_sorted_or_filtered_last() -> None:
    shopper = Shopper()
    shopper.search("tent", shown=(1, 2, 3))
    shopper.search("tent", 1, shown=(3, 2), is_first=False)
    shopper.open(3, 2)
    assert shopper.products() == [("opened", "tent", 3, weight_at(1))]


def test_each_product_that_is_ordered_counts_for_the_search_that_led_to_it() -> None:
    shopper = Shopper()
    shopper.search("tent")
    for product in (1, 2, 3):
        shopper.open(product, 1)
        shopper.add(product, 2)
    shopper.order((1, 100), (1, 100), (2, 5), (9, 5), minutes=60)
    shopper.order((3, 100), minutes=61)
    assert shopper.products()[3:] == [("bought", "tent", 1, 0), ("bought", "tent", 2, 0)]


def test_a_journey_that_a_browser_kept_from_before_places_were_counted_is_read() -> None:
    shopper = Shopper()
    shopper.search("tent", shown=(5, 6))
    [search] = shopper.journey.searches
    text = to_text(Journey((replace(search, leading=()),), shopper.journey.counted, shopper.journey.begun))
    older = from_text(b"\x02" + text[1:-1])  # Without the empty list of places at its end.
    assert older.searches == (replace(search, leading=None),)
    assert from_text(to_text(older)) == older and older.searches[0].place_of(search.shown[0]) is None


def test_an_order_counts_within_a_day_once_and_is_then_forgotten() -> None:
    shopper = Shopper()
    shopper.search("tent")
    for product in (1, 2):
        shopper.open(product)
        shopper.add(product)
    shopper.order((1, 100), (2, 50), minutes=24 * 60)
    shopper.order((1, 100), minutes=24 * 60)
    assert shopper.events()[3:] == [("ordered", "tent", 150)]


def test_an_order_after_a_day_counts_nowhere() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.open(1)
    shopper.add(1)
    shopper.order((1, 100), minutes=24 * 60 + 1)
    assert len(shopper.counted) == 3


def test_everything_counts_to_the_day_of_the_search() -> None:
    shopper = Shopper()
    shopper.search("tent", 11 * 60)
    shopper.open(1, 13 * 60)
    assert [event.day for event in shopper.counted] == [date(2026, 11, 20)] * 2


def test_the_latest_search_that_led_to_a_product_has_its_order() -> None:
    shopper = Shopper()
    for word in ("tent", "green tent"):
        shopper.search(word)
        shopper.open(1, word=word)
    shopper.add(1)
    shopper.order((1, 100))
    assert [event.word for event in shopper.counted if event.kind in (EventKind.ADDED, EventKind.ORDERED)] == [
        "green tent"
    ] * 2


def test_a_search_of_the_visit_before_still_has_what_was_opened_from_it() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.open(1)
    shopper.add(1)
    shopper.search("tent", 120)
    shopper.order((1, 100), minutes=121)
    assert shopper.events()[3:] == [("searched", "tent", 0), ("ordered", "tent", 100)]


def test_while_clicks_are_not_recorded_only_searches_count_and_no_product_is_remembered() -> None:
    shopper = Shopper()
    shopper.search("tent", clicks=False)
    shopper.open(1)
    assert [(event.kind, event.followed) for event in shopper.counted] == [(EventKind.SEARCHED, False)]
    assert shopper.journey.searches[0].shown == ()


def test_what_was_shown_while_clicks_were_recorded_is_no_click_afterwards() -> None:
    shopper = Shopper()
    shopper.search("tent")
    shopper.open(1, clicks=False)
    assert len(shopper.counted) == 1


def test_a_search_that_a_page_answers_counts_as_a_search_and_lowers_no_share() -> None:
    _, (sent_on,) = rules.searched(Journey(), at(0), ResultsPage("delivery", (), None, ruled=True))
    _, (answered,) = rules.searched(Journey(), at(0), ResultsPage("returns", (), None))
    _, (in_vain,) = rules.searched(Journey(), at(0), ResultsPage("wellies", (), 0))
    assert (sent_on.found, sent_on.ruled, sent_on.followed) == (None, True, False)
    assert (answered.found, answered.followed, in_vain.followed) == (None, False, True)


def test_what_nothing_can_follow_from_any_more_is_forgotten() -> None:
    journey, _ = rules.searched(Journey(), at(0), ResultsPage("tent", (1,), 1))
    assert rules.current(journey, BEGAN + timedelta(hours=24)) == journey
    assert rules.current(journey, BEGAN + timedelta(hours=24, seconds=1)).searches == ()
    assert rules.current(journey, BEGAN - timedelta(hours=1)).searches == ()


def test_however_many_words_a_visit_searches_each_counts_once() -> None:
    shopper, words = Shopper(), [f"{number} " + "ü" * 90 for number in range(100)]
    for minutes in range(2):
        for word in words:
            shopper.search(word, minutes, shown=tuple(range(10**6, 10**6 + 100)))
            assert len(to_text(shopper.journey)) <= LONGEST_JOURNEY
    assert len(shopper.counted) == 100
    shopper.search(words[0], 60)
    assert len(shopper.counted) == 101


def test_an_older_page_of_results_still_counts_a_click_after_five_more_of_the_largest() -> None:
    chance, shopper = random.Random(3), Shopper()
    pages = {f"camping tents for {number} people": chance.sample(range(1, 100_000), 100) for number in range(6)}
    for number in range(60):
        shopper.search(f"word {number}", shown=())
    for word, shown in pages.items():
        shopper.search(word, shown=tuple(shown))
    shopper.counted.clear()
    for word, shown in pages.items():
        shopper.open(shown[50], 1, word=word)
    assert [event.word for event in shopper.counted if event.kind is EventKind.CLICKED] == list(pages)


words = st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=100)
ids = st.integers(1, 2**31)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("search"), words, st.lists(ids, max_size=100)),
        st.tuples(st.just("open"), st.integers(0, 99)),
        st.tuples(st.just("add"), st.integers(0, 99)),
        st.tuples(st.just("order"), st.integers(0, 99)),
    ),
    max_size=40,
)


@given(steps)
def test_the_trail_stays_short_and_a_search_counts_each_thing_at_most_once(walk: list) -> None:
    shopper, shown = Shopper(), [0]
    for minutes, (what, *more) in enumerate(walk):
        if what == "search":
            shown = more[1] or [0]
            shopper.search(more[0], minutes, shown=tuple(shown))
        else:
            product = shown[more[0] % len(shown)]
            line = ((product, 5),) if what == "order" else (product,)
            getattr(shopper, what)(*line, minutes=minutes)
        assert len(to_text(shopper.journey)) <= LONGEST_JOURNEY
    times = {kind: sum(event.kind is kind for event in shopper.counted) for kind in EventKind}
    assert times[EventKind.SEARCHED] >= times[EventKind.CLICKED] >= times[EventKind.ADDED] >= times[EventKind.ORDERED]


@given(steps)
def test_a_short_trail_comes_back_from_its_text_as_it_was(walk: list) -> None:
    journey = Journey()
    for minutes, (what, *more) in enumerate(walk[:3]):
        if what == "search":
            journey, _ = rules.searched(journey, at(minutes), ResultsPage(more[0][:20], tuple(more[1][:20]), 1))
    assert from_text(to_text(journey)) == journey


@given(st.binary(max_size=200))
def test_a_text_that_is_none_of_ours_is_an_empty_trail(text: bytes) -> None:
    assert isinstance(from_text(text), Journey)
    assert from_text(b'[1,2,[["tent"]]]') == from_text(b"[]") == from_text(b"[" * 5000) == Journey()


def test_how_a_search_was_made_does_not_outlive_its_cookie() -> None:
    """Whatever the largest page shows fits; older searches give up first what they showed."""
    shopper = Shopper()
    for number in range(14):
        shopper.search(f"{number} " + "ü" * 90, shown=tuple(range(10**6, 10**6 + 100)))
    newest = shopper.journey.searches[-1]
    assert newest.word.startswith("13 ") and len(newest.shown) == 100
    assert replace(newest, shown=()) in [replace(search, shown=()) for search in shopper.journey.searches]
