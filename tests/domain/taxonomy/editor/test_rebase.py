"""A draft's edits done again on what another user saved meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    RenameValue,
)
from app.domain.taxonomy.editor.level_edits import AddLevel, ChangeLevel, DeleteLevel, Edit, MoveLevel
from app.domain.taxonomy.editor.rebase import rebase
from app.domain.taxonomy.editor.steps import Step, apply_edit, apply_steps, redo_step
from app.domain.taxonomy.renames import without_renames
from app.domain.taxonomy.tree import TaxonomyTree, Validation
from app.domain.taxonomy.validation.sent_tree import DEEPEST
from app.domain.taxonomy.validation.structure import check_structure
from tests.domain.taxonomy.any_tree import OUTDOOR, edits_of, trees
from tests.domain.taxonomy.trees import choice, number

BASE = TaxonomyTree.parse(OUTDOOR)


def steps_of(*edits: Edit) -> list[Step]:
    steps, levels = [], BASE
    for edit in edits:
        steps.append(apply_edit(levels, edit))
        levels = redo_step(levels, steps[-1])
    return steps


def saved(levels: TaxonomyTree) -> TaxonomyTree:
    return check_structure(without_renames(levels).as_stored(), set(levels.levels)).tree


def both(mine: list[Edit], theirs: list[Edit]) -> tuple[TaxonomyTree, list[str]]:
    """The draft after it was done again, and what was refused."""
    newest = saved(apply_steps(BASE, steps_of(*theirs)))
    rebased = rebase(BASE, newest, steps_of(*mine))
    return apply_steps(newest, rebased.steps), rebased.refused


def order(levels: TaxonomyTree, parent_id: str | None) -> list[str]:
    return levels.siblings(parent_id)


def test_what_only_one_of_two_changed_is_kept_of_both():
    levels, refused = both(
        [
            ChangeLevel("tents", "Shelters", ""),
            AddLevel("outdoor", "Axes", "tents"),
            AddAttribute("tarps", number("size")),
        ],
        [ChangeLevel("tents", "Tents", "Dry.", ["Pods"]), MoveLevel("tarps", "home", 0), DeleteLevel("lamps")],
    )
    assert refused == []
    assert (levels.levels["tents"].name, levels.levels["tents"].description) == ("Shelters", "Dry.")
    assert levels.levels["tents"].other_names == ("Pods",)
    assert order(levels, "outdoor") == ["tents", "new-1", "stoves"]
    assert levels.levels["tarps"].parent_id == "home"
    assert levels.levels["tarps"].attributes[0].id == "size"


def test_attributes_are_joined_part_by_part():
    levels, refused = both(
        [
            ChangeAttribute("tents", "sleeps", number("sleeps", validation={"minValue": 1})),
            RenameValue("tents", "colour", "Moss", "Fern"),
            MoveAttribute("tents", "sleeps", 0),
        ],
        [
            ChangeAttribute("tents", "sleeps", number("sleeps", helpText="People", name="Room for")),
            AddAttribute("tents", number("weight")),
        ],
    )
    sleeps, colour, weight = levels.levels["tents"].attributes
    assert refused == []
    assert (sleeps.name, sleeps.help_text, sleeps.validation) == ("Room for", "People", Validation(min_value=1))
    assert (colour.renamed_values, weight.id) == ({"Fern": "Moss"}, "weight")


@pytest.mark.parametrize(
    ("mine", "theirs", "sentence"),
    [
        (
            ChangeLevel("tents", "Shelters", ""),
            ChangeLevel("tents", "Cabins", ""),
            "“Tents” did not get your new name: its name was changed meanwhile.",
        ),
        (
            ChangeLevel("tents", "Tents", "", ["Shelters"]),
            ChangeLevel("tents", "Tents", "", ["Cabins"]),
            "“Tents” did not get your other names: its other names were changed meanwhile.",
        ),
        (
            ChangeLevel("tents", "Shelters", ""),
            DeleteLevel("tents"),
            "“Tents” was not changed: it was deleted meanwhile.",
        ),
        (
            AddLevel("tents", "Axes"),
            DeleteLevel("tents"),
            "“Axes” was not added: the level above it was deleted meanwhile.",
        ),
        (
            DeleteLevel("tents"),
            ChangeLevel("tents", "Cabins", ""),
            "“Tents” was not deleted: it was changed meanwhile.",
        ),
        (
            DeleteLevel("outdoor"),
            ChangeLevel("tarps", "Cabins", ""),
            "“Outdoor” was not deleted: “Cabins” below it was changed meanwhile.",
        ),
        (
            DeleteLevel("home"),
            MoveLevel("tents", "home", 0),
            "“Home” was not deleted: “Tents” below it was changed meanwhile.",
        ),
        (
            MoveLevel("tarps", "home", 0),
            MoveLevel("tarps", "lamps", 0),
            "“Tarps” did not get your new place: it was moved elsewhere meanwhile.",
        ),
        (
            MoveLevel("tarps", "home", 0),
            DeleteLevel("home"),
            "“Tarps” was not moved: the level above it was deleted meanwhile.",
        ),
        (
            MoveLevel("stoves", "lamps", 0),
            MoveLevel("lamps", "stoves", 0),
            "“Stoves” was not moved: “Stoves” cannot stand below itself.",
        ),
        (
            ChangeAttribute("tents", "sleeps", number("sleeps", name="Room")),
            DeleteAttribute("tents", "sleeps"),
            "The attribute “Room” of “Tents” was not changed: it was deleted meanwhile.",
        ),
        (
            DeleteAttribute("tents", "sleeps"),
            ChangeAttribute("tents", "sleeps", number("sleeps", name="Room")),
            "The attribute “Sleeps” of “Tents” was not deleted: it was changed meanwhile.",
        ),
        (
            RenameValue("tents", "colour", "Moss", "Fern"),
            RenameValue("tents", "colour", "Clay", "Sand"),
            "The attribute “Colour” of “Tents” did not get your type, unit and values: "
            "another user changed that meanwhile.",
        ),
        (
            AddAttribute("home", choice("size", "S")),
            AddAttribute("home", number("size")),
            "The attribute “Size” of “Home” was not added: another user added one with this id meanwhile.",
        ),
    ],
)
def test_what_both_changed_differently_stays_as_it_was_saved_and_is_told(mine: Edit, theirs: Edit, sentence: str):
    levels, refused = both([mine], [theirs])
    assert refused == [sentence]
    assert saved(levels) == saved(apply_steps(BASE, steps_of(theirs)))


def test_what_both_did_alike_is_done():
    same: list[Edit] = [ChangeLevel("tents", "Shelters", ""), DeleteLevel("lamps"), DeleteAttribute("tents", "sleeps")]
    newest = saved(apply_steps(BASE, steps_of(*same)))
    assert rebase(BASE, newest, steps_of(*same)).steps == []
    assert rebase(BASE, newest, steps_of(*same)).refused == []


def edits(data: st.DataObject, levels: TaxonomyTree) -> list[Step]:
    steps: list[Step] = []
    for _ in range(data.draw(st.integers(0, 5))):
        try:
            steps.append(apply_edit(levels, data.draw(edits_of(levels))))
        except Invalid:
            continue
        levels = redo_step(levels, steps[-1])
    return steps


@given(st.data(), trees)
def test_on_an_unchanged_tree_the_steps_stay_what_they_are(data: st.DataObject, tree: list[dict[str, Any]]):
    base = TaxonomyTree.parse(tree)
    steps = edits(data, base)
    rebased = rebase(base, TaxonomyTree.parse(tree), steps)
    assert (rebased.steps, rebased.refused) == (steps, [])


@given(st.data(), trees)
def test_without_edits_there_is_nothing_to_do_again(data: st.DataObject, tree: list[dict[str, Any]]):
    base = TaxonomyTree.parse(tree)
    newest = saved(apply_steps(base, edits(data, base)))
    assert rebase(base, newest, []).steps == []


@given(st.data(), trees)
def test_whatever_two_people_did_the_result_is_a_tree(data: st.DataObject, tree: list[dict[str, Any]]):
    base = TaxonomyTree.parse(tree)
    newest = saved(apply_steps(base, edits(data, base)))
    rebased = rebase(base, newest, edits(data, base))
    levels = apply_steps(newest, rebased.steps)
    assert set(TaxonomyTree.parse(levels.as_stored()).levels) == set(levels.levels)
    assert all(len(levels.path(level_id)) <= DEEPEST for level_id in levels.levels)
