"""What a redirect may be, and how redirects follow addresses that move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.seo.redirects.rules import (
    Destination,
    Reach,
    ends,
    normal_path,
    old_path_problems,
    read_destination,
    segments_moved,
    step_from,
    with_moves,
)

PATHS = st.sampled_from([f"/p/{letter}" for letter in "abcdef"])
HOSTS = ("shop.test", "www.shop.test")


def to(path: str, query: str = "", reach: Reach = Reach.PAGE) -> Destination:
    return Destination(path, query, reach)


@st.composite
def renames(draw: st.DrawFn) -> list[tuple[str, str]]:
    """The addresses of three pages after each of their renames, no two at one address: (old, new)."""
    at = ["/p/a", "/p/b", "/p/c"]
    steps = []
    for which, new in draw(st.lists(st.tuples(st.integers(0, 2), PATHS), max_size=12)):
        if new not in at:
            steps.append((at[which], new))
            at[which] = new
    return steps


@given(renames())
def test_however_often_pages_are_renamed_each_old_address_leads_to_its_last_page_in_one_step(steps):
    stored: dict[str, Destination] = {}
    pages: dict[str, str] = {"/p/a": "a", "/p/b": "b", "/p/c": "c"}  # The page now at each address.
    had_last: dict[str, str] = {}  # The page that was last at each address.
    for old, new in steps:
        stored = with_moves(stored, {old: to(new)})
        pages[new] = had_last[old] = pages.pop(old)
    assert not stored.keys() & {place.path for place in stored.values()}, "no chains and no loops"
    assert not stored.keys() & pages.keys(), "no live page is redirected"
    assert {old: pages[place.path] for old, place in stored.items()} == {
        old: page for old, page in had_last.items() if old not in pages
    }


@given(st.lists(st.dictionaries(PATHS, PATHS, max_size=4), max_size=4), st.sets(PATHS, max_size=2))
def test_what_people_add_makes_no_chain_and_no_loop_either(tables, live):
    stored: dict[str, Destination] = {}
    for table in tables:
        wanted = {old: to(new) for old, new in table.items() if old not in live}
        found = ends(wanted, stored, live)
        stored = with_moves(stored, {old: place for old, place in found.items() if place is not None})
        assert not stored.keys() & {place.path for place in stored.values()}
        assert not stored.keys() & live
        for old, place in found.items():
            assert (place is None) == leads_in_circles(old, {**stored, **wanted}, live)


def leads_in_circles(old: str, stored: dict[str, Destination], live: set[str]) -> bool:
    for _ in range(len(stored) + 1):
        old = stored[old].path
        if old in live or old not in stored:
            return False
    return True


PLACES = st.sampled_from([f"/c/{place}" for place in ("a", "b", "b/a", "a/x", "b/x", "b/a/x", "x", "y")])
MOVES = st.dictionaries(PLACES, st.tuples(PLACES, st.sampled_from((Reach.BELOW, Reach.TOGETHER))), max_size=3)


@given(MOVES, st.lists(st.dictionaries(PLACES, PLACES, max_size=4), max_size=4), st.sets(PLACES, max_size=2))
def test_what_people_add_leads_in_no_circle_through_pages_below_a_moved_address(moves, tables, live):
    stored: dict[str, Destination] = {}
    for old, (new, reach) in moves.items():
        end = ends({old: to(new, reach=reach)}, stored, live)[old]
        if old not in live and end is not None:
            stored = with_moves(stored, {old: end})
    for table in tables:
        wanted = {old: to(new) for old, new in table.items() if old not in live}
        found = ends(wanted, stored, live)
        added = {old: place for old, place in found.items() if place is not None}
        stored = with_moves(stored, added)
        for old in added.keys() & stored.keys():
            assert not walks_in_circles(old, stored, live), (old, stored)


def walks_in_circles(path: str, stored: dict[str, Destination], live: set[str]) -> bool:
    way = [path]
    while path not in live and (step := step_from(path, stored)) is not None:
        path = step.to.path
        if path in way:
            return True
        way.append(path)
    return False


def test_a_new_redirect_follows_those_for_the_pages_below_an_address():
    stored = {"/c/camping": to("/c/gifts/camping", reach=Reach.BELOW), "/c/gifts/camping/b": to("/z")}
    wanted = {
        "/c/gifts/camping/old": to("/c/camping/old"),
        "/a": to("/c/camping/tents"),
        "/b": to("/c/camping/b"),
        "/live": to("/c/camping/live"),
    }
    assert ends(wanted, stored, {"/c/camping/live"}) == {
        "/c/gifts/camping/old": None,
        "/a": to("/c/gifts/camping/tents"),
        "/b": to("/z"),
        "/live": to("/c/camping/live"),
    }


def test_redirects_that_are_added_together_lead_to_the_end_at_once():
    wanted = {"/a": to("/b", "x=1"), "/b": to("/c", "y=2"), "/d": to("/d"), "/e": to("/live")}
    assert ends(wanted, {"/c": to("/z"), "/live": to("/z")}, {"/live"}) == {
        "/a": to("/z", "y=2&x=1"),
        "/b": to("/z", "y=2"),
        "/d": None,
        "/e": to("/live"),
    }


def end_of(path: str, stored: dict[str, Destination], live: set[str]) -> str | None:
    """Where visitors of an address end, as the shop sends them: in one answer, however many steps it looks up."""
    for _ in range(5):
        step = step_from(path, stored)
        if step is None:
            return None
        path = step.to.path
        if path in live:
            return path
    return None


@given(
    st.lists(st.one_of(st.sampled_from(("/c/a", "/c/b", "/c/b/a")), st.sampled_from(("brand", "maker"))), max_size=6)
)
def test_however_a_category_moves_and_its_rule_changes_its_old_addresses_lead_to_its_pages(changes):
    stored: dict[str, Destination] = {}
    path, segment = "/c/a", "brand"
    visited = {(path, segment)}
    for change in changes:
        if change.startswith("/") and change != path:
            stored = with_moves(stored, {path: to(change, reach=Reach.BELOW)})
            path = change
        elif change not in (path, segment):
            moves = dict(segments_moved(path, [("maker", segment)], [("maker", change)], together=False))
            stored = with_moves(stored, moves)
            segment = change
        visited.add((path, segment))
    live = {path, f"{path}/{segment}/moor"}
    for old_path, old_segment in visited:
        if old_path != path:
            assert end_of(old_path, stored, live) == path
        if (old_path, old_segment) != (path, segment):
            assert end_of(f"{old_path}/{old_segment}/moor", stored, live) == f"{path}/{segment}/moor"


def test_pages_that_swap_addresses_leave_nothing():
    assert with_moves({}, {"/p/a": to("/p/b"), "/p/b": to("/p/a")}) == {}


def test_renaming_back_removes_the_redirect():
    assert with_moves({"/p/a": to("/p/b")}, {"/p/b": to("/p/a")}) == {"/p/b": to("/p/a")}


def test_a_redirect_with_parameters_keeps_them_when_its_page_moves():
    stored = with_moves({"/sale": to("/c/tents", "sort=name")}, {"/c/tents": to("/c/shelters", reach=Reach.BELOW)})
    assert stored["/sale"] == to("/c/shelters", "sort=name")


@pytest.mark.parametrize(
    ("path", "place", "sure"),
    [
        ("/c/tents", "/c/shelters", True),
        ("/c/tents/brand/moor", "/c/shelters/brand/moor", False),
        ("/c/boots/brand/moor", "/c/boots/marque/moor", False),
        ("/c/mugs/colour/red", "/c/mugs", False),
    ],
)
def test_the_nearest_redirect_sends_the_pages_below_on(path, place, sure):
    stored = {
        "/c/tents": to("/c/shelters", reach=Reach.BELOW),
        "/c/boots/brand": to("/c/boots/marque", reach=Reach.BELOW),
        "/c/mugs/colour": to("/c/mugs", reach=Reach.TOGETHER),
    }
    step = step_from(path, stored)
    assert step and (step.to.path, step.is_sure) == (place, sure)


@pytest.mark.parametrize("path", ["/c/other", "/c/tents/a/b/c", "/p/old/more", "/"])
def test_a_redirect_is_for_no_other_address(path):
    assert step_from(path, {"/c/tents": to("/c/x", reach=Reach.BELOW), "/p/old": to("/p/new")}) is None


def test_a_rule_with_another_segment_moves_its_pages_and_one_that_is_gone_leaves_them_to_the_category():
    before, after = [("manufacturer", "brand"), ("colour", "colour")], [("manufacturer", "marque")]
    assert dict(segments_moved("/c/a", before, after, together=True)) == {
        "/c/a/brand": to("/c/a/marque", reach=Reach.BELOW),
        "/c/a/colour": to("/c/a", reach=Reach.TOGETHER),
    }
    assert list(dict(segments_moved("/c/a", before, after, together=False))) == ["/c/a/brand"]


@pytest.mark.parametrize(
    ("typed", "normal"),
    [("/P/Old-Name/", "/p/old-name"), ("/a%20b", "/a b"), ("/", "/"), ("/%C3%BCber", "/über"), ("//x", "/x")],
)
def test_addresses_are_looked_up_decoded_in_lower_case_without_a_slash_behind(typed, normal):
    assert normal_path(typed) == normal


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/", "reserved_path"),
        ("/admin/x", "reserved_path"),
        ("/search", "reserved_path"),
        ("/v1", "reserved_path"),
        ("/order/abc", "reserved_path"),
        ("/orders/find", "reserved_path"),
        ("/r/x", "reserved_path"),
        ("/a?b=1", "invalid_path"),
        ("/a#b", "invalid_path"),
        ("https://shop.test/a", "invalid_path"),
        ("/a/../b", "invalid_path"),
        ("/a\\b", "invalid_path"),
        ("/" + "x" * 500, "too_long"),
    ],
)
def test_what_cannot_be_an_old_address_is_refused(path, code):
    assert [problem.code for problem in old_path_problems(path)] == [code]


@pytest.mark.parametrize("path", ["/p/old", "/shop/tents.html", "/c/a/brand/b", "/über-uns"])
def test_any_other_path_may_be_redirected(path):
    assert old_path_problems(path) == []


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("/c/Tents/", to("/c/tents")),
        ("/search?q=Tent", to("/search", "q=Tent")),
        ("https://shop.test/p/new?variant=1", to("/p/new", "variant=1")),
        ("http://www.shop.test", to("/")),
        ("https://other.test/a?b=1", to("https://other.test/a?b=1")),
        ("/media/1/Abc%20D.PDF", to("/media/1/Abc D.PDF")),
        ("/c/a%3Fb?x=%2523", to("/c/a?b", "x=%2523")),
        ("/c/a%2523%25zz", to("/c/a%23%zz")),
    ],
)
def test_a_destination_is_a_path_of_the_shop_or_an_address_elsewhere(typed, place):
    assert read_destination(typed, HOSTS) == (place, [])
    assert read_destination(place.address, HOSTS) == (place, []), "as the form shows it"


@pytest.mark.parametrize(
    "typed",
    ["", "//evil.test", "/\\evil.test", "javascript:alert(1)", "ftp://a.test/", "/a#b", "/%2F/evil.test", "a b"],
)
def test_no_other_destination_is_taken(typed):
    assert read_destination(typed, HOSTS)[1]
