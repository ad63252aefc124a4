"""Reading the activity log."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from app.domain.shared.author import Author, Origin
from app.domain.sites import activity as choices
from app.domain.sites import activity as sites_activity
from app.domain.sites.activity import (
    PAGE_SIZE,
    READ_AT_ONCE,
    ActivityFilter,
    FieldChange,
    activity,
    differences,
    every_entry,
    format_value,
)
from app.domain.sites.models import Site
from app.extensions import db
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
    assert format_value(values) == "sleeps: 2, free: no, colour: Moss, Clay"


def test_a_long_value_is_cut() -> None:
    assert format_value("x" * 300) == "x" * 199 + "…"


@pytest.fixture
def site(context: None) -> Site:
    return make_site(time_zone="America/New_York")


def note(site: Site, clock: StoppedClock, summary: str, name: str = "Mia", **more: object) -> None:
    action, subject = str(more.get("action", "x.do")), (str(more.get("thing", "x")), str(more.get("id", "1")))
    origin = more.get("origin")
    author = Author(site.id, name, clock, origin if isinstance(origin, Origin) else None)
    sites_activity.record(author, action, subject, summary)


def found(site: Site, **parameters: str) -> list[str]:
    return [entry.summary for entry in activity(site.id, ActivityFilter.read(parameters)).items]


def test_the_latest_comes_first_and_other_shops_do_not_come_at_all(site: Site, clock: StoppedClock) -> None:
    there = make_site("there.localhost", "There")
    for number in range(3):
        clock.move(seconds=1)
        note(site, clock, f"Did {number}")
    note(there, clock, "Did something there")
    assert found(site) == ["Did 2", "Did 1", "Did 0"]


def test_pages_follow_one_another_both_ways_also_within_a_moment(site: Site, clock: StoppedClock) -> None:
    for number in range(2 * PAGE_SIZE + 5):
        clock.move(seconds=number % 3 == 0)
        note(site, clock, str(number))
    db.session.flush()
    pages = [activity(site.id)]
    while pages[-1].older:
        pages.append(activity(site.id, ActivityFilter(before=pages[-1].older)))
    assert [len(page.items) for page in pages] == [PAGE_SIZE, PAGE_SIZE, 5]
    assert [entry.summary for page in pages for entry in page.items] == [
        str(n) for n in range(2 * PAGE_SIZE + 4, -1, -1)
    ]
    assert [page.newer is None for page in pages] == [True, False, False]
    back = activity(site.id, ActivityFilter(after=pages[2].newer))
    assert back.items == pages[1].items
    assert activity(site.id, ActivityFilter(after=back.newer)).items == pages[0].items
    assert activity(site.id, ActivityFilter(after=back.newer)).newer is None


def test_a_page_beside_an_entry_that_is_no_more_is_the_first(site: Site, clock: StoppedClock) -> None:
    note(site, clock, "Did")
    assert found(site, before="4711") == found(site, after="4711") == ["Did"]


@pytest.mark.parametrize("words", ["Österreich", "ÖSTERREICH"])
def test_words_with_other_letters_than_ascii_are_found_as_they_are_written(
    site: Site, clock: StoppedClock, words: str
) -> None:
    note(site, clock, "Saved Karte Österreich", "Östen")
    assert found(site, q=words) == found(site, who="ÖSTEN") == ["Saved Karte Österreich"]


def test_filters_narrow_by_who_what_which_thing_and_words(site: Site, clock: StoppedClock) -> None:
    note(site, clock, "Saved Mug", "Mia Moss", action="product.save", thing="product", id="1")
    note(site, clock, "Saved 100% Cup", "Nia", action="product.save", thing="product", id="2")
    note(site, clock, "Changed Mug House", "Nia", action="user.change", thing="user", id="1")
    assert found(site, who="moss") == ["Saved Mug"]
    assert found(site, q="MUG") == ["Changed Mug House", "Saved Mug"]
    assert found(site, q="100%") == ["Saved 100% Cup"]
    assert found(site, action="product.save", who="nia") == ["Saved 100% Cup"]
    assert found(site, thing="product", id="1") == ["Saved Mug"]
    assert found(site, id="1") == ["Changed Mug House", "Saved Mug"]
    assert found(site, q="nothing") == []


def test_days_are_those_of_the_shop(site: Site, clock: StoppedClock) -> None:
    """It is 20 November, 12:00 UTC, which is 7:00 in New York."""
    clock.jump(hours=-8)
    note(site, clock, "Late on the 19th")
    clock.jump(hours=8)
    note(site, clock, "On the 20th")
    assert found(site, to="2026-11-19") == ["Late on the 19th"]
    assert found(site, **{"from": "2026-11-20"}) == ["On the 20th"]


def test_an_entry_says_by_which_door_the_change_came(site: Site, clock: StoppedClock) -> None:
    for origin in (Origin.ADMIN, Origin.API, Origin.MCP, None):
        clock.move(seconds=1)
        note(site, clock, str(origin), origin=origin)
    assert [entry.via for entry in activity(site.id).items] == ["", "through MCP", "through the API", ""]
    assert found(site, origin="mcp") == ["MCP"]
    assert found(site, origin="shop") == ["None"]


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"from": "2026-02-30"}, "#/from"),
        ({"to": "today"}, "#/to"),
        ({"origin": "window"}, "#/origin"),
        ({"before": "x"}, "#/before"),
        ({"from": "2026-03-02", "to": "2026-03-01"}, "#/from"),
    ],
)
def test_what_cannot_be_looked_for_is_named(parameters: dict[str, str], place: str) -> None:
    assert [problem.pointer for problem in ActivityFilter.read(parameters).problems] == [place]


@given(
    st.dictionaries(st.sampled_from(["q", "who", "action", "thing", "id", "origin", "from", "to", "before"]), st.text())
)
def test_an_address_leads_back_to_its_filter(parameters: dict[str, str]) -> None:
    read = ActivityFilter.read(parameters)
    query = dict(parse_qsl(read.query(before=read.before)))
    assert replace(ActivityFilter.read(query), problems=()) == replace(read, problems=())


@pytest.mark.parametrize(
    ("action", "label"),
    [
        ("bundle.import", "Bundle: import"),
        ("pos_agent.enable", "POS agent: enable"),
        ("pos.refund", "POS: refund"),
        ("token.revoke_all", "Token: revoke all"),
        ("odd", "Odd"),
        ("", ""),
    ],
)
def test_an_action_has_words_for_people(action: str, label: str) -> None:
    assert choices.label_of(action) == label


def test_choices_are_those_that_stand_in_the_log(site: Site, clock: StoppedClock) -> None:
    assert choices.actions(site.id) == []
    for action, thing in (("b.do", "cup"), ("a.do", "mug"), ("b.do", "cup")):
        note(site, clock, "Did", action=action, thing=thing)
    note(make_site("there.localhost", "There"), clock, "Did", action="c.do")
    assert (choices.actions(site.id), choices.things(site.id)) == (["a.do", "b.do"], ["cup", "mug"])


def test_every_entry_is_read_page_by_page(site: Site, clock: StoppedClock) -> None:
    for number in range(READ_AT_ONCE + 1):
        note(site, clock, str(number))
    entries = list(every_entry(site.id, ActivityFilter()))
    assert [entry.summary for entry in entries] == [str(n) for n in range(READ_AT_ONCE, -1, -1)]


def test_a_hundred_thousand_entries_are_looked_through_by_indexes(site: Site, clock: StoppedClock) -> None:
    """The plans name an index and sort nothing, wherever the page lies."""
    note(site, clock, "Did")
    db.session.flush()
    if db.session.get_bind().dialect.name != "sqlite":
        pytest.skip("Plans of PostgreSQL depend on what it knows of a table.")
    for parameters in ({}, {"before": "1"}, {"action": "x.do"}, {"action": "x.do", "before": "1"}):
        plan = " ".join(plans(site, parameters))
        assert "USING INDEX ix_audit_entries_site_id_" in plan
        assert "TEMP B-TREE" not in plan, parameters


def plans(site: Site, parameters: dict[str, str]) -> list[str]:
    seen: list[tuple[str, object]] = []

    def note_statement(_connection: object, _cursor: object, statement: str, values: object, *_: object) -> None:
        if "ORDER BY" in statement:
            seen.append((statement, values))

    engine = db.engine
    event.listen(engine, "before_cursor_execute", note_statement)
    activity(site.id, ActivityFilter.read(parameters))
    event.remove(engine, "before_cursor_execute", note_statement)
    connection = db.session.connection()
    rows = [connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all() for statement, values in seen]
    return [row[3] for plan in rows for row in plan]
