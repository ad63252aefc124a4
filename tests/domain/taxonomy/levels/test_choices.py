"""What forms offer: attributes and values for products of certain levels, and levels found by words."""

from __future__ import annotations

from app.domain.taxonomy.choices import (
    MOST_SHOWN,
    attribute_choices,
    distinct_names,
    find_levels,
    governing_definitions,
    level_paths,
    meant_level,
    value_choices,
)
from app.domain.taxonomy.tree import Level, TaxonomyTree
from tests.domain.taxonomy.any_tree import stored
from tests.domain.taxonomy.classified_shop import TREE as KINDS
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


def names(words: str) -> list[str]:
    return [level.name for level in find_levels(KINDS, words).levels]


def test_words_are_found_anywhere_on_the_way_whatever_their_case():
    assert names("TENT") == ["Tents"]
    assert names("camp stov") == ["Stoves"]
    assert names("nothing") == []


def test_the_level_itself_comes_before_those_below_it():
    assert names("camping") == ["Camping", "Tents", "Stoves"]


def test_no_words_show_the_beginning_of_the_tree_with_the_way_to_each():
    found = find_levels(KINDS, " ")
    assert [(level.name, level.above) for level in found.levels][:2] == [("Camping", ""), ("Tents", "Camping")]
    assert found.more == 0


def test_of_many_the_first_are_shown_and_the_others_counted():
    tree = TaxonomyTree.of(Level(f"l{number}", f"Level {number}") for number in range(2_000))
    found = find_levels(tree, "level")
    assert (len(found.levels), found.more) == (MOST_SHOWN, 2_000 - MOST_SHOWN)


ALIKE = TaxonomyTree.parse(
    stored(
        level("tents", attributes=[choice("tentFabric", "Nylon"), text("height")]),
        level("rugs", attributes=[choice("rugFabric", "Wool"), choice("pile", "Long"), choice("edge", "Wool")]),
        *(level(f"jacket{number}", attributes=[choice("jacketFabric", "Nylon")]) for number in range(4)),
    )
)


def test_names_that_repeat_have_their_levels_and_all_others_stay():
    names = {
        "tentFabric": "Fabric",
        "rugFabric": "fabric",
        "jacketFabric": "Fabric",
        "height": "Height",
        "price": "Price",
    }
    assert distinct_names(ALIKE, names) == {
        "tentFabric": "Fabric, of Tents",
        "rugFabric": "fabric, of Rugs",
        "jacketFabric": "Fabric, of Jacket0 and 3 further levels",
        "height": "Height",
        "price": "Price",
    }


def test_where_the_level_says_nothing_either_the_id_does_and_what_is_built_in_keeps_its_name():
    names = {"pile": "Fabric", "edge": "Fabric", "height": "Brand", "manufacturer": "Brand"}
    assert distinct_names(ALIKE, names) == {
        "pile": "Fabric, of Rugs (pile)",
        "edge": "Fabric, of Rugs (edge)",
        "height": "Brand, of Tents",
        "manufacturer": "Brand",
    }


def test_a_text_means_a_level_by_its_id_its_path_or_its_name():
    assert level_paths(TREE)["tarps"] == "Outdoor › Tents › Tarps"
    for text_of_tarps in ("tarps", "Outdoor › Tents › Tarps", "outdoor › tents › tarps", "TARPS"):
        assert meant_level(TREE, text_of_tarps) == "tarps"
    assert meant_level(TREE, "Boots") is None
    twice = TaxonomyTree.parse(stored(level("a", level("b1", name="Same")), level("c", level("b2", name="Same"))))
    assert (meant_level(twice, "Same"), meant_level(twice, "C › same")) == (None, "b2")
