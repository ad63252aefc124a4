"""Reading the activity log."""

from __future__ import annotations

import pytest

from app.domain.shared.author import Author, Origin
from app.domain.sites import audit
from app.domain.sites.activity import PAGE_SIZE, FieldChange, activity, differences, written
from tests.factories import make_site
from tests.fakes.clock import StoppedClock


def test_only_what_differs_is_told() -> None:
    assert differences({"name": "a", "price": 1}, {"name": "b", "price": 1}) == (FieldChange("name", "a", "b"),)
    assert differences(None, {"roles": ["ADMIN"]}) == (FieldChange("roles", "", "ADMIN"),)
    assert differences({"enabled": True}, {"enabled": False}) == (FieldChange("enabled", "yes", "no"),)
    assert differences(None, None) == ()
    assert differences(["a"], ["a", "b"]) == (FieldChange("", "a", "a, b"),)


def test_amounts_of_money_are_shown_in_the_shops_currency() -> None:
    before, after = {"openingFloat": None, "maxTransactionAmount": 2_000}, {"openingFloat": 5_000}
    expected = (FieldChange("openingFloat", "", "£50.00"), FieldChange("maxTransactionAmount", "£20.00", ""))
    assert differences(before, after, "gbp") == expected


def test_values_by_name_are_told_one_after_the_other() -> None:
    values = {"sleeps": 2, "free": False, "colour": ["Moss", "Clay"]}
    assert written(values) == "sleeps: 2, free: no, colour: Moss, Clay"


def test_a_long_value_is_cut() -> None:
    assert written("x" * 300) == "x" * 199 + "…"


@pytest.mark.usefixtures("context")
def test_the_latest_comes_first_and_other_shops_do_not_come_at_all(clock: StoppedClock) -> None:
    here, there = make_site(), make_site("there.localhost", "There")
    for number in range(PAGE_SIZE + 1):
        clock.move(seconds=1)
        audit.record(Author(here.id, "Mia", clock), "x.do", ("x", "1"), f"Did {number}")
    audit.record(Author(there.id, "Oz", clock), "x.do", ("x", "1"), "Did something there")
    first, second = activity(here.id, 1), activity(here.id, 2)
    assert first.items[0].summary == f"Did {PAGE_SIZE}"
    assert (first.total_items, len(first.items), len(second.items)) == (PAGE_SIZE + 1, PAGE_SIZE, 1)


@pytest.mark.usefixtures("context")
def test_an_entry_says_by_which_door_the_change_came(clock: StoppedClock) -> None:
    site = make_site()
    for origin in (Origin.ADMIN, Origin.API, Origin.MCP, None):
        clock.move(seconds=1)
        audit.record(Author(site.id, "Mia", clock, origin), "x.do", ("x", "1"), "Did it")
    assert [entry.door for entry in activity(site.id, 1).items] == ["", "through MCP", "through the API", ""]
