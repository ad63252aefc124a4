"""Many levels written as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.level_edits import AddLevels, level_lines
from app.domain.taxonomy.editor.steps import Step, apply_edit, redo_step
from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.trees import level

LEVELS = TaxonomyTree.parse([level("camping", level("tents"), level("stoves")), level("home")])


def pasted(text: str, parent_id: str | None = None, after_id: str | None = None, levels: TaxonomyTree = LEVELS) -> Step:
    return apply_edit(levels, AddLevels(parent_id, level_lines(text), after_id))


def after(text: str, parent_id: str | None = None, after_id: str | None = None) -> TaxonomyTree:
    return redo_step(LEVELS, pasted(text, parent_id, after_id))


def ways(levels: TaxonomyTree, below: str | None = None) -> list[tuple[str, ...]]:
    """The names on the way from a level down to each below it, in tree order."""
    start = len(levels.path(below))
    found = [levels.path_ids(level_id) for level_id in levels.levels]
    inside = [way for way in found if len(way) > start and (below is None or below in way)]
    return [tuple(levels.levels[step].name for step in way[start:]) for way in inside]


@pytest.mark.parametrize("indent", ["  ", "\t", "    ", " "])
def test_lines_nest_by_their_indentation(indent: str):
    text = f"Shoes\n{indent}Boots\n{indent * 2}Winter boots\n{indent}Sandals\nHats"
    assert ways(after(text))[4:] == [
        ("Shoes",),
        ("Shoes", "Boots"),
        ("Shoes", "Boots", "Winter boots"),
        ("Shoes", "Sandals"),
        ("Hats",),
    ]
    assert pasted(text).label == "Added 5 levels, 3 of them below the others"


@pytest.mark.parametrize("between", [" > ", " › ", "›"])
def test_ways_go_into_the_levels_that_are_there_and_make_the_others(between: str):
    step = pasted(between.join(["camping", "Tents", "Family tents"]) + "\n" + between.join(["Camping", "Lamps"]))
    levels = redo_step(LEVELS, step)
    assert ways(levels) == [
        ("Camping",),
        ("Camping", "Tents"),
        ("Camping", "Tents", "Family tents"),
        ("Camping", "Stoves"),
        ("Camping", "Lamps"),
        ("Home",),
    ]
    assert step.label == "Added 2 levels; 2 were there already"
    assert not pasted(f"Camping{between}Tents").changes


def test_plain_names_are_new_levels_also_where_one_has_the_name():
    assert ways(after("Tents\nTents", "camping"), "camping") == [("Tents",), ("Stoves",), ("Tents",), ("Tents",)]


def test_a_sign_that_is_part_of_a_name_is_not_a_way():
    assert ways(after("Bags >50 l\n> 60 l"))[4:] == [("Bags >50 l",), ("> 60 l",)]


def test_they_come_behind_the_level_after_which_they_are_added():
    assert after("A\n  B\nC", "camping", "tents").children["camping"] == ["tents", "new-1", "new-3", "stoves"]


def test_the_first_new_level_is_looked_at():
    assert pasted("Camping > Lamps\nCamping > Axes").level_id == "new-1"


def test_a_line_that_would_stand_too_deep_is_named():
    text = "\n".join(f"{' ' * depth}Level {depth}" for depth in range(8))
    assert pasted(text).changes
    with pytest.raises(Invalid) as caught:
        pasted(text, "home")
    assert caught.value.problems[0].message.startswith("Line 8, “Level 7”, would be 9 deep.")


NAMES = st.text("ABCxyz 12,-/", min_size=1).map(lambda name: " ".join(name.split())).filter(bool)
Nested = list[tuple[str, Any]]


def nested(depth: int) -> st.SearchStrategy[Nested]:
    below = nested(depth - 1) if depth > 1 else st.just([])
    return st.lists(st.tuples(NAMES, below), max_size=3, unique_by=lambda found: found[0].casefold())


def written(trees: Nested, above: Sequence[str] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, below in trees:
        found += [(*above, name), *written(below, (*above, name))]
    return found


@given(nested(4), st.sampled_from(["\t", " ", "   "]))
def test_any_tree_is_read_as_it_was_indented(trees: Nested, indent: str):
    expected = written(trees)
    lines = [indent * (len(way) - 1) + way[-1] for way in expected]
    assert [line.way for line in level_lines("\n".join(lines))] == expected
    assert ways(after("\n\n".join(lines), "home"), "home") == expected


@given(nested(4))
def test_any_tree_is_made_of_its_ways(trees: Nested):
    expected = written(trees)
    assert ways(after("\n".join(" > ".join(way) for way in expected), "home"), "home") == expected


@given(st.lists(st.text("AB >›\t", min_size=1).filter(str.strip), max_size=8))
def test_no_line_and_no_name_is_lost_and_their_order_is_kept(lines: list[str]):
    found = level_lines("\n".join(lines))
    assert [line.number for line in found] == list(range(1, len(lines) + 1))
    for line, text in zip(found, lines, strict=True):
        kept = "".join(character for character in text if character in "AB")
        assert kept == "" or "".join(line.way).replace(" ", "").replace("\t", "").replace(">", "").endswith(kept)
        assert all(name == name.strip() != "" for name in line.way)
