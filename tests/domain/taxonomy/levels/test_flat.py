"""The tree in and out of its stored form."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from hypothesis import given

from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.any_tree import OUTDOOR, trees


def test_levels_come_in_tree_order_with_their_parents():
    tree = TaxonomyTree.parse(OUTDOOR)
    assert list(tree.levels) == ["outdoor", "tents", "tarps", "stoves", "lamps", "home"]
    assert tree.children == {
        None: ["outdoor", "home"],
        "outdoor": ["tents", "stoves", "lamps"],
        "tents": ["tarps"],
    }
    assert tree.path_ids("tarps") == ["outdoor", "tents", "tarps"]
    assert tree.below("outdoor") == ["outdoor", "tents", "tarps", "stoves", "lamps"]


def test_a_level_between_two_others_gets_a_whole_number_as_its_place():
    tree = TaxonomyTree.parse(OUTDOOR)
    between = tree.with_level(replace(tree.levels["lamps"], display_order=0.5)).in_order()
    nested = between.as_stored()[0]["children"]
    assert [(level["levelId"], level["displayOrder"]) for level in nested] == [
        ("tents", 0),
        ("lamps", 1),
        ("stoves", 2),
    ]


@given(trees)
def test_flattening_and_nesting_undo_each_other(tree: list[dict[str, Any]]):
    parsed = TaxonomyTree.parse(tree)
    assert parsed.as_stored() == tree
    assert TaxonomyTree.parse(parsed.as_stored()) == parsed
    assert list(TaxonomyTree.parse(parsed.as_stored()).levels) == list(parsed.levels)


@given(trees)
def test_neither_changes_what_it_is_given(tree: list[dict[str, Any]]):
    before = copy.deepcopy(tree)
    TaxonomyTree.parse(tree).as_stored()[:] = []
    assert tree == before
