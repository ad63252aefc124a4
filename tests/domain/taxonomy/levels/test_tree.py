"""The tree: what a level inherits, and its stored form in and out."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from hypothesis import given

from app.domain.taxonomy.tree import Attribute, TaxonomyTree
from app.domain.taxonomy.validation.sent_tree import with_places
from app.domain.taxonomy.validation.structure import check_tree, ids_of
from tests.domain.taxonomy.any_tree import OUTDOOR, trees


def attribute(attribute_id: str, kind: str = "STRING", **more: object) -> dict[str, object]:
    return {"attributeId": attribute_id, "name": attribute_id.title(), "type": kind, **more}


TREE = TaxonomyTree.parse(
    [
        {
            "levelId": "outdoor",
            "name": "Outdoor",
            "attributes": [attribute("colour"), attribute("weight", "NUMBER")],
            "children": [
                {
                    "levelId": "tents",
                    "name": "Tents",
                    "attributes": [attribute("colour", "SINGLE_SELECT", allowedValues=["Moss"]), attribute("sleeps")],
                    "children": [{"levelId": "tarps", "name": "Tarps", "attributes": [], "children": []}],
                },
                {"levelId": "stoves", "name": "Stoves", "attributes": [attribute("sleeps", "NUMBER")]},
            ],
        },
        {"levelId": "home", "name": "Home"},
    ]
)


def test_a_level_has_the_attributes_of_every_level_above_it():
    assert set(TREE.applicable_attributes("tarps")) == {"colour", "weight", "sleeps"}


def test_the_nearer_of_two_definitions_wins():
    assert TREE.applicable_attributes("outdoor")["colour"].type == "STRING"
    assert TREE.applicable_attributes("tarps")["colour"].allowed_values == ("Moss",)


def test_the_way_to_a_level_begins_at_the_root():
    assert TREE.path_ids("tarps") == ["outdoor", "tents", "tarps"]


def test_a_level_and_those_below_it():
    assert TREE.below("tents") == ["tents", "tarps"]


def test_an_unknown_level_has_no_way_no_attributes_and_nothing_below():
    assert (TREE.path("gone"), TREE.applicable_attributes("gone"), TREE.below("gone")) == ([], {}, [])


def test_the_same_id_on_two_levels_is_found_with_both_definitions():
    assert [found.type for found in TREE.attributes_by_id()["sleeps"]] == ["STRING", "NUMBER"]


@given(trees)
def test_of_all_definitions_on_the_way_down_the_last_holds(root_levels: list[dict[str, Any]]):
    tree = TaxonomyTree.parse(root_levels)
    for level_id in tree.levels:
        defined: dict[str, str] = {}
        for above in tree.path(level_id):
            defined |= {attribute.id: attribute.name for attribute in above.attributes}
        applicable = tree.applicable_attributes(level_id)
        assert {attribute_id: attribute.name for attribute_id, attribute in applicable.items()} == defined
        assert set(tree.below(level_id)) == {found for found in tree.levels if level_id in tree.path_ids(found)}


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


@given(trees)
def test_a_sound_tree_stays_what_it_is_when_it_is_checked_by_its_places(root_levels: list[dict[str, Any]]):
    tree = TaxonomyTree.parse(root_levels)
    checked = check_tree(with_places(tree), ids_of(tree))
    assert (checked.tree, checked.problems) == (tree, ())
    assert list(checked.tree.levels) == list(tree.levels)


def test_a_type_that_is_none_is_kept_as_it_was_written():
    odd = Attribute.read(attribute("sleeps", "COLOUR"))
    assert (odd.type, odd.written_type, odd.as_json()["type"]) == ("STRING", "COLOUR", "COLOUR")
    assert Attribute.read(odd.as_json()) == odd
