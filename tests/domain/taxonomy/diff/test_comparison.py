"""What differs between two trees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid
from app.domain.taxonomy import diff
from app.domain.taxonomy.diff import MovedLevel, StructureDiff
from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    RenameValue,
)
from app.domain.taxonomy.editor.level_edits import AddLevel, ChangeLevel, DeleteLevel, Edit, MoveLevel
from app.domain.taxonomy.editor.steps import apply_edit, redo_step
from app.domain.taxonomy.renames import ValueRename, draft_renames, without_renames
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from tests.domain.taxonomy.any_tree import OUTDOOR, edits_of, stored, trees
from tests.domain.taxonomy.trees import Sent, choice, level, number


def compare(before: list[Sent], after: list[Sent], renames: Iterable[ValueRename] = ()) -> StructureDiff:
    return diff.compare(TaxonomyTree.parse(before), TaxonomyTree.parse(after), renames)


def proposed(draft: TaxonomyTree) -> tuple[list[Sent], list[ValueRename]]:
    """The stored form of a draft, and the renames that it carries."""
    return without_renames(draft).as_stored(), draft_renames(draft.levels.values())


def after(*edits: Edit, tree: list[Sent] = OUTDOOR) -> tuple[list[Sent], list[ValueRename]]:
    levels = TaxonomyTree.parse(tree)
    for edit in edits:
        levels = redo_step(levels, apply_edit(levels, edit))
    return proposed(levels)


@pytest.mark.parametrize(
    ("edits", "sentences"),
    [
        ([AddLevel("outdoor", "Axes")], ["Added the level “Axes” below “Outdoor”."]),
        ([AddLevel(None, "Toys")], ["Added the level “Toys”."]),
        (
            [DeleteLevel("tents")],
            [
                "Removed the level “Tents” below “Outdoor” with 2 attributes: “Colour” (2 values), “Sleeps”.",
                "Removed the level “Tarps” below “Tents”.",
            ],
        ),
        ([MoveLevel("tarps", "home", 0)], ["Moved the level “Tarps” below “Home”."]),
        ([MoveLevel("tents", None, 0)], ["Moved the level “Tents” to the top."]),
        ([ChangeLevel("tents", "Shelters", "")], ["Renamed the level “Tents” to “Shelters”."]),
        ([ChangeLevel("tents", "Tents", "Dry.")], ["Changed the description of the level “Tents”."]),
        (
            [ChangeLevel("tents", "Tents", "", ["Shelters", "Pods"])],
            ["Changed the other names of the level “Tents” to “Shelters” and “Pods”."],
        ),
        (
            [ChangeLevel("tents", "Tents", "", ["Shelters"]), ChangeLevel("tents", "Tents", "", [])],
            [],
        ),
        ([MoveLevel("lamps", "outdoor", 0)], ["Changed the order of the levels below “Outdoor”."]),
        ([MoveLevel("home", None, 0)], ["Changed the order of the levels at the top."]),
        ([AddAttribute("home", number("weight"))], ["Added the attribute “Weight” to “Home”."]),
        (
            [ChangeAttribute("tents", "sleeps", number("sleeps", unit="people"))],
            ["Changed the unit of “Sleeps” (Tents)."],
        ),
        ([DeleteAttribute("tents", "sleeps")], ["Removed the attribute “Sleeps” from “Tents”."]),
        ([MoveAttribute("tents", "sleeps", 0)], ["Changed the order of the attributes of “Tents”."]),
        (
            [ChangeAttribute("tents", "colour", choice("colour", "Clay", "Moss", "Fern", "Sky", name="Hue"))],
            [
                "Changed the name, order of values of “Hue” (Tents).",
                "Added the values “Fern” and “Sky” to “Hue” (Tents).",
            ],
        ),
        (
            [ChangeAttribute("tents", "sleeps", number("sleeps", validation={"minValue": 0}, displayLabel="For"))],
            ["Changed the validation, display of “Sleeps” (Tents)."],
        ),
        (
            [ChangeAttribute("outdoor", "colour", choice("colour", "Red"))],
            ["Removed the value “Blue” from “Colour” (Outdoor)."],
        ),
        (
            [ChangeAttribute("tents", "colour", choice("colour", "Clay") | {"mergedValues": {"Moss": "Clay"}})],
            ["Merged the value “Moss” of “Colour” (Tents) into “Clay”."],
        ),
        ([RenameValue("tents", "colour", "Moss", "Fern")], ["Renamed the value “Moss” of “Colour” (Tents) to “Fern”."]),
    ],
)
def test_every_change_is_told_in_a_sentence(edits: list[Edit], sentences: list[str]):
    tree, renames = after(*edits)
    assert compare(OUTDOOR, tree, renames).sentences() == sentences


def test_the_attributes_of_a_level_that_came_or_went_are_not_told_one_by_one():
    shelter = level("shelter", attributes=[number("height")])
    assert compare(stored(shelter), stored(level("home"))).attributes_removed == ()
    assert compare(stored(level("home")), stored(shelter)).attributes_added == ()


def test_a_level_that_came_or_went_says_which_attributes_it_has():
    shelter = level("shelter", attributes=[choice("colour", *"ABCD"), number("height")])
    many = level("many", attributes=[number(f"n{n}") for n in range(8)])
    assert compare(stored(), stored(shelter)).sentences() == [
        "Added the level “Shelter” with 2 attributes: “Colour” (4 values), “Height”."
    ]
    assert compare(stored(level("sole", attributes=[choice("colour", "A")])), []).sentences() == [
        "Removed the level “Sole” with 1 attribute: “Colour” (1 value)."
    ]
    assert compare([], stored(many)).sentences()[0].endswith("with 8 attributes: “N0”, “N1”, “N2”, “N3”, “N4”, 3 more.")


def test_a_moved_level_says_from_where_and_to_where():
    moved = compare(OUTDOOR, after(MoveLevel("tarps", None, 0))[0]).levels_moved
    assert moved == (MovedLevel("tarps", "Tarps", "tents", "Tents", None, None),)


def test_values_that_change_names_are_neither_removed_nor_added():
    tree, renames = after(
        RenameValue("tents", "colour", "Moss", "x"),
        RenameValue("tents", "colour", "Clay", "Moss"),
        RenameValue("tents", "colour", "x", "Clay"),
    )
    found = compare(OUTDOOR, tree, renames)
    assert (found.values_added, found.values_removed) == ((), ())
    assert {(value.value, value.renamed) for value in found.values_renamed} == {("Moss", "Clay"), ("Clay", "Moss")}


def test_values_that_swap_their_words_where_they_stand_are_told_although_the_level_is_as_it_was():
    renames = [ValueRename("tents", "colour", "Moss", "Clay"), ValueRename("tents", "colour", "Clay", "Moss")]
    found = compare(OUTDOOR, OUTDOOR, renames)
    assert {(value.value, value.renamed) for value in found.values_renamed} == {("Moss", "Clay"), ("Clay", "Moss")}
    assert found.levels_renamed == ()


def test_a_rename_of_what_is_not_there_is_not_told():
    wrong = [ValueRename("tents", "colour", "Pink", "Clay"), ValueRename("tents", "colour", "Moss", "Pink")]
    assert compare(OUTDOOR, OUTDOOR, wrong).is_empty


def test_what_does_not_fit_is_counted():
    tree = stored(*[level(f"l{n}") for n in range(30)])
    sentences = compare([], tree).sentences(most=10)
    assert (len(sentences), sentences[-1]) == (10, "… and 21 more")


@given(trees)
def test_a_tree_does_not_differ_from_itself(tree: list[dict[str, Any]]):
    assert compare(tree, tree).is_empty
    assert compare(tree, check_structure(tree).levels).sentences() == []


@given(st.data(), trees)
def test_nothing_differs_only_if_the_trees_are_the_same(data: st.DataObject, tree: list[dict[str, Any]]):
    levels = TaxonomyTree.parse(tree)
    try:
        levels = redo_step(levels, apply_edit(levels, data.draw(edits_of(levels))))
    except Invalid:
        return
    changed, renames = proposed(levels)
    found = compare(tree, changed, renames)
    assert found.is_empty == (check_structure(changed).levels == check_structure(tree).levels and changed == tree)
    assert bool(found.sentences()) != found.is_empty
