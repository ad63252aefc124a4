"""What a level inherits."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.any_tree import trees


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
