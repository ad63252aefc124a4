"""The tree as a table and back."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given

from app.domain.taxonomy.stored_tree import branch, children_of, flatten, in_tree_order, nest, path
from tests.domain.taxonomy.any_tree import OUTDOOR, trees


def test_levels_come_in_tree_order_with_their_parents():
    levels = flatten(OUTDOOR)
    assert list(levels) == ["outdoor", "tents", "tarps", "stoves", "lamps", "home"]
    assert children_of(levels) == {
        None: ["outdoor", "home"],
        "outdoor": ["tents", "stoves", "lamps"],
        "tents": ["tarps"],
    }
    assert path(levels, "tarps") == ["outdoor", "tents", "tarps"]
    assert branch(levels, "outdoor") == ["outdoor", "tents", "tarps", "stoves", "lamps"]


def test_a_level_between_two_others_gets_a_whole_number_as_its_place():
    levels = flatten(OUTDOOR)
    between = in_tree_order(levels | {"lamps": levels["lamps"] | {"displayOrder": 0.5}})
    nested = nest(between)[0]["children"]
    assert [(level["levelId"], level["displayOrder"]) for level in nested] == [
        ("tents", 0),
        ("lamps", 1),
        ("stoves", 2),
    ]


@given(trees)
def test_flattening_and_nesting_undo_each_other(tree: list[dict[str, Any]]):
    levels = flatten(tree)
    assert nest(levels) == tree
    assert flatten(nest(levels)) == levels
    assert list(flatten(nest(levels))) == list(levels)


@given(trees)
def test_neither_changes_what_it_is_given(tree: list[dict[str, Any]]):
    before = copy.deepcopy(tree)
    levels = flatten(tree)
    nest(levels)[:] = []
    assert tree == before
