"""What values of one revision are called in another."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.taxonomy.renames import ValueRename, renames_back, renames_on
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from tests.domain.taxonomy.trees import choice, level

WORDS = ("Moss", "Fern", "Clay", "Sky", "Sand")


def gear(*values: str, tents: tuple[str, ...] = ()) -> TaxonomyTree:
    own: list[dict[str, Any]] = [choice("colour", *tents)] if tents else []
    return check_structure([level("gear", level("tents", attributes=own), attributes=[choice("colour", *values)])]).tree


def save(*pairs: tuple[str, str], level_id: str = "gear") -> list[ValueRename]:
    return [ValueRename(level_id, "colour", value, renamed) for value, renamed in pairs]


def test_a_rename_is_taken_back():
    earlier, later = gear("Moss", "Clay"), gear("Fern", "Clay")
    assert renames_on([save(("Moss", "Fern"))], earlier, later) == save(("Moss", "Fern"))
    assert renames_back([save(("Moss", "Fern"))], earlier, later) == save(("Fern", "Moss"))


def test_several_saves_count_as_one():
    saves = [save(("Moss", "Fern")), [], save(("Clay", "Sand"), ("Fern", "Sky"))]
    found = renames_back(saves, gear("Moss", "Clay"), gear("Sky", "Sand"))
    assert found == save(("Sky", "Moss"), ("Sand", "Clay"))
    assert renames_back([save(("Moss", "Fern")), save(("Fern", "Moss"))], gear("Moss"), gear("Moss")) == []


def test_two_values_that_changed_places_change_them_again():
    both = gear("Moss", "Fern")
    assert renames_back([save(("Moss", "Fern"), ("Fern", "Moss"))], both, both) == save(
        ("Fern", "Moss"), ("Moss", "Fern")
    )


def test_a_word_that_was_given_anew_is_not_followed():
    saves = [save(("Moss", "Fern")), save(("Moss", "Sky"))]
    assert renames_back(saves, gear("Moss"), gear("Fern", "Sky")) == save(("Fern", "Moss"))


def test_a_value_that_another_became_stays_and_one_that_is_gone_comes_back_to_nobody():
    assert renames_back([save(("Moss", "Fern"))], gear("Moss", "Fern"), gear("Fern")) == []
    assert renames_back([save(("Moss", "Fern"))], gear("Moss", "Clay"), gear("Clay")) == []


def test_products_whose_own_definition_went_are_followed_by_the_one_above():
    saves = [save(("Moss", "Fern"))]
    found = renames_back(saves, gear("Moss", tents=("Moss", "Sky")), gear("Fern"))
    assert found == [*save(("Fern", "Moss")), *save(("Fern", "Moss"), level_id="tents")]
    assert renames_back(saves, gear("Moss", tents=("Moss",)), gear("Fern", tents=("Moss",))) == save(("Fern", "Moss"))


def test_without_its_level_there_is_nobody_to_follow():
    assert renames_back([save(("Moss", "Fern"))], gear("Moss"), TaxonomyTree()) == []
    assert renames_on([save(("Moss", "Fern"))], gear("Moss"), TaxonomyTree()) == []


@settings(deadline=None)
@given(st.lists(st.permutations(WORDS), min_size=1, max_size=5))
def test_whatever_was_renamed_and_back_again_is_what_it_was(states: list[list[str]]):
    """The word of each place is renamed to that of the same place in the next state."""
    states = [list(WORDS), *states]
    saves = [save(*((a, b) for a, b in zip(old, new, strict=True) if a != b)) for old, new in pairwise(states)]
    back = renames_back(saves, gear(*states[0]), gear(*states[-1]))
    on = renames_on(saves, gear(*states[0]), gear(*states[-1]))
    assert {(r.value, r.renamed) for r in back} == {(r.renamed, r.value) for r in on}
    words = {rename.value: rename.renamed for rename in back}
    assert [words.get(word, word) for word in states[-1]] == states[0]
