"""What is allowed and yet probably not meant."""

from __future__ import annotations

from app.domain.taxonomy.editor.warnings import LevelName, type_conflicts
from app.domain.taxonomy.tree import TaxonomyTree
from tests.domain.taxonomy.any_tree import OUTDOOR, stored
from tests.domain.taxonomy.trees import choice, level, number


def test_an_attribute_that_has_one_type_everywhere_is_fine():
    assert type_conflicts(TaxonomyTree.parse(OUTDOOR), TaxonomyTree()) == []


def test_one_id_with_two_types_is_named_with_the_levels_of_each():
    tents, lamps = level("tents", attributes=[number("size")]), level("lamps", attributes=[choice("size", "S")])
    stoves = level("stoves", attributes=[number("size")])
    tree = TaxonomyTree.parse(stored(level("outdoor", tents, lamps), stoves))
    (found,) = type_conflicts(tree, TaxonomyTree())
    assert (found.attribute_id, found.name) == ("size", "Size")
    assert found.levels == {
        "NUMBER": (LevelName("tents", "Tents"), LevelName("stoves", "Stoves")),
        "SINGLE_SELECT": (LevelName("lamps", "Lamps"),),
    }
