"""Whatever is moved where, a tree of categories stays a tree."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.merchandising import arrangement
from app.domain.merchandising.arrangement import (
    NEW,
    Direction,
    Place,
    Target,
    add_node,
    change_slug,
    move_node,
    remove_node,
    siblings,
)
from app.domain.merchandising.category_rules import DEEPEST, MOST_NODES
from app.domain.shared.problems import Invalid


def tree(*paths: str) -> dict[int, Place]:
    """Categories with these paths, numbered from 1."""
    ids = {path: id for id, path in enumerate(paths, 1)}
    places: dict[int, Place] = {}
    for path, id in ids.items():
        parent, _, slug = path.rpartition("/")
        parent_id = ids.get(parent)
        position = sum(1 for place in places.values() if place.parent_id == parent_id)
        places[id] = Place(id, parent_id, position, slug, path)
    return places


def paths(places: dict[int, Place], parent_id: int | None = None) -> list[str]:
    """In display order, depth first."""
    found = []
    for id in siblings(places, parent_id):
        found += [places[id].path, *paths(places, id)]
    return found


CAMP = tree("camp", "camp/tents", "camp/tents/family", "camp/stoves", "gifts")


def test_a_step_goes_past_a_neighbour_in_and_out():
    def after(node_id: int, direction: Direction) -> list[str]:
        return paths(move_node(CAMP, node_id, arrangement.target_of(CAMP, node_id, direction)))

    assert after(4, Direction.UP) == ["camp", "camp/stoves", "camp/tents", "camp/tents/family", "gifts"]
    assert after(2, Direction.DOWN) == ["camp", "camp/stoves", "camp/tents", "camp/tents/family", "gifts"]
    assert after(5, Direction.IN) == ["camp", "camp/tents", "camp/tents/family", "camp/stoves", "camp/gifts"]
    assert after(2, Direction.OUT) == ["camp", "camp/stoves", "tents", "tents/family", "gifts"]


@pytest.mark.parametrize(
    ("node_id", "direction"), [(1, Direction.UP), (5, Direction.DOWN), (1, Direction.OUT), (1, Direction.IN)]
)
def test_a_step_without_a_way_is_refused(node_id: int, direction: Direction):
    with pytest.raises(Invalid):
        arrangement.target_of(CAMP, node_id, direction)


@pytest.mark.parametrize("parent_id", [1, 2, 3])
def test_nothing_moves_below_itself(parent_id: int):
    with pytest.raises(Invalid, match="below itself"):
        move_node(CAMP, 1, Target(parent_id))


def test_a_move_behind_what_stands_elsewhere_by_now_is_refused():
    with pytest.raises(Invalid, match="elsewhere"):
        move_node(CAMP, 5, Target(1, after_id=3))
    with pytest.raises(Invalid, match="no longer in this tree"):
        move_node(CAMP, 5, Target(99))


def test_an_address_that_is_taken_is_refused():
    twins = tree("camp", "camp/tents", "tents")
    with pytest.raises(Invalid, match="tents"):
        move_node(twins, 3, Target(1))
    with pytest.raises(Invalid, match="gifts"):
        change_slug(CAMP, 1, "gifts")
    with pytest.raises(Invalid):
        add_node(CAMP, "stoves", Target(1))


def test_another_slug_takes_along_all_below_it():
    after = change_slug(CAMP, 1, "outdoor")
    assert paths(after) == ["outdoor", "outdoor/tents", "outdoor/tents/family", "outdoor/stoves", "gifts"]
    assert arrangement.changed_addresses(CAMP, after)[0] == ("camp", "outdoor")
    assert len(arrangement.changed_addresses(CAMP, after)) == 4


def test_a_new_category_stands_where_it_is_wanted():
    assert paths(add_node(CAMP, "lamps", Target(1, after_id=2)))[3] == "camp/lamps"
    assert add_node(CAMP, "lamps", Target(None))[NEW] == Place(NEW, None, 2, "lamps", "lamps")


def test_a_category_moves_only_where_there_is_room_for_it():
    assert arrangement.room_for(CAMP, 5) == [1, 2, 3, 4]
    assert arrangement.room_for(CAMP, 1) == [5]
    assert arrangement.room_for(CAMP, 2) == [4, 5]
    assert arrangement.room_for(tree("camp", "camp/tents", "tents"), 3) == [2]
    deep = tree(*("/".join("abcdefghijkl"[: depth + 1]) for depth in range(DEEPEST)), "z", "z/y")
    assert DEEPEST - 1 not in arrangement.room_for(deep, DEEPEST + 1)


def test_trees_end_at_a_depth_and_a_number():
    deep = tree(*("/".join("abcdefghijkl"[: depth + 1]) for depth in range(DEEPEST)), "z", "z/y")
    with pytest.raises(Invalid, match="at most 12 deep"):
        add_node(deep, "m", Target(DEEPEST))
    with pytest.raises(Invalid, match="at most 12 deep"):
        move_node(deep, DEEPEST + 1, Target(DEEPEST - 1))
    many = {id: Place(id, None, id, f"s{id}", f"s{id}") for id in range(1, MOST_NODES + 1)}
    with pytest.raises(Invalid, match="at most 5,000"):
        add_node(many, "one-more", Target(None))


def test_the_version_differs_whenever_something_stands_elsewhere():
    again = dict(reversed(CAMP.items()))
    assert arrangement.version_of(CAMP) == arrangement.version_of(again)
    assert arrangement.version_of(CAMP) != arrangement.version_of(move_node(CAMP, 5, Target(1)))
    assert arrangement.version_of(CAMP) != arrangement.version_of(remove_node(CAMP, 5))


SLUGS = st.sampled_from(["a", "b", "c", "d", "a-2", "ab"])
IDS = st.integers(1, 12)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("add"), SLUGS, st.none() | IDS),
        st.tuples(st.just("move"), IDS, st.none() | IDS, st.none() | IDS),
        st.tuples(st.just("step"), IDS, st.sampled_from(Direction)),
        st.tuples(st.just("slug"), IDS, SLUGS),
        st.tuples(st.just("remove"), IDS),
    ),
    max_size=40,
)


def apply(places: dict[int, Place], change: tuple, next_id: int) -> dict[int, Place]:
    kind, first, *more = change
    if kind == "add":
        after = add_node(places, first, Target(more[0]))
        place = after.pop(NEW)
        return {**after, next_id: Place(next_id, place.parent_id, place.position, place.slug, place.path)}
    if first not in places:
        return places
    if kind == "move":
        return move_node(places, first, Target(more[0], after_id=more[1]))
    if kind == "step":
        return move_node(places, first, arrangement.target_of(places, first, more[0]))
    return change_slug(places, first, more[0]) if kind == "slug" else remove_node(places, first)


@given(CHANGES)
def test_any_changes_keep_the_tree_a_tree_with_one_address_each_and_lose_nothing(changes: list[tuple]):
    places: dict[int, Place] = {}
    for number, change in enumerate(changes, 1):
        before = places
        try:
            places = apply(before, change, number)
        except Invalid:
            continue
        assert_sound(places)
        if change[0] == "remove" and change[1] in before:
            assert before.keys() - places.keys() == set(arrangement.branch(before, change[1]))
        else:
            assert before.keys() <= places.keys()


def assert_sound(places: dict[int, Place]) -> None:
    assert len({place.path for place in places.values()}) == len(places)
    assert len(paths(places)) == len(places), "every category is reached from the top"
    for id, place in places.items():
        slugs = [places[step].slug for step in arrangement.above(places, id)]
        assert place.path == "/".join(reversed(slugs))
        assert len(slugs) <= DEEPEST
    assert all(
        [places[id].position for id in siblings(places, parent)] == list(range(number))
        for parent, number in Counter(place.parent_id for place in places.values()).items()
    )
