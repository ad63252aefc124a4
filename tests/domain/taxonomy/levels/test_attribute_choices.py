"""Which attributes and values are offered for products of certain levels."""

from __future__ import annotations

from app.domain.taxonomy.choices import attribute_choices, governing_definitions, value_choices
from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.any_tree import stored
from tests.domain.taxonomy.trees import choice, level, number, text

TREE = TaxonomyTree.parse(
    stored(
        level(
            "outdoor",
            level("tents", level("tarps", attributes=[number("height")]), attributes=[choice("colour", "Moss")]),
            attributes=[choice("colour", "Red", "Blue", validation={"mandatory": True}), text("dry", type="BOOLEAN")],
        ),
        level("home", attributes=[number("watts")]),
    )
)


def test_attributes_that_hold_at_the_levels_come_first():
    found = attribute_choices(TREE, TREE.below("tents"))
    assert [choice.id for choice in found.here] == ["colour", "dry", "height"]
    assert [choice.id for choice in found.others] == ["watts"]
    assert [choice.id for choice in attribute_choices(TREE, ["tents"]).here] == ["colour", "dry"]


def test_without_levels_or_where_none_holds_all_are_offered():
    for level_ids in (None, [], ["gone"]):
        found = attribute_choices(TREE, level_ids)
        assert [choice.id for choice in found.here] == ["colour", "dry", "height", "watts"] and not found.others
        assert [choice.mandatory for choice in found.here] == [True, False, False, False]


def test_values_are_those_of_the_definitions_that_hold_there():
    def values(attribute_id: str, *level_ids: str) -> list[str]:
        return [value for value, _ in value_choices(governing_definitions(TREE, attribute_id, level_ids))]

    assert values("colour", "tents", "tarps") == ["Moss"]
    assert values("colour", "outdoor", "tents") == ["Red", "Blue", "Moss"]
    assert values("colour", "home") == ["Red", "Blue", "Moss"], "none holds there: all"
    assert values("dry", "tents") == ["true", "false"]
    assert values("height", "tarps") == values("gone", "tarps") == []
