"""Finding a level by words."""

from app.domain.taxonomy.choices import MOST_SHOWN, find_levels
from app.domain.taxonomy.tree import Level, TaxonomyTree
from tests.domain.taxonomy.classified_shop import TREE


def names(words: str) -> list[str]:
    return [level.name for level in find_levels(TREE, words).levels]


def test_words_are_found_anywhere_on_the_way_whatever_their_case():
    assert names("TENT") == ["Tents"]
    assert names("camp stov") == ["Stoves"]
    assert names("nothing") == []


def test_the_level_itself_comes_before_those_below_it():
    assert names("camping") == ["Camping", "Tents", "Stoves"]


def test_no_words_show_the_beginning_of_the_tree_with_the_way_to_each():
    found = find_levels(TREE, " ")
    assert [(level.name, level.above) for level in found.levels][:2] == [("Camping", ""), ("Tents", "Camping")]
    assert found.more == 0


def test_of_many_the_first_are_shown_and_the_others_counted():
    tree = TaxonomyTree.of(Level(f"l{number}", f"Level {number}") for number in range(2_000))
    found = find_levels(tree, "level")
    assert (len(found.levels), found.more) == (MOST_SHOWN, 2_000 - MOST_SHOWN)
