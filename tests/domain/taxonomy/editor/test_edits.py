"""What people do to a taxonomy in the editor."""

from __future__ import annotations

import json

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    OverrideAttribute,
    RenameValue,
)
from app.domain.taxonomy.editor.level_edits import (
    AddLevel,
    ChangeLevel,
    DeleteLevel,
    Direction,
    Edit,
    MoveLevel,
    ShiftLevel,
)
from app.domain.taxonomy.editor.steps import Step, apply_edit, apply_steps, redo_step, undo_step
from app.domain.taxonomy.renames import ValueRename, draft_renames, without_renames
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from tests.domain.taxonomy.any_tree import OUTDOOR, edits_of, stored, trees
from tests.domain.taxonomy.trees import choice, level, number
from tests.examples import examples

LEVELS = TaxonomyTree.parse(OUTDOOR)


def after(*edits: Edit, levels: TaxonomyTree = LEVELS) -> TaxonomyTree:
    for edit in edits:
        levels = redo_step(levels, apply_edit(levels, edit))
    return levels


def below(levels: TaxonomyTree, parent_id: str | None) -> list[str]:
    return levels.siblings(parent_id)


def attribute_ids(levels: TaxonomyTree, level_id: str) -> list[str]:
    return [attribute.id for attribute in levels.levels[level_id].attributes]


def refused(edit: Edit, levels: TaxonomyTree = LEVELS) -> str:
    with pytest.raises(Invalid) as caught:
        apply_edit(levels, edit)
    return caught.value.problems[0].code


def test_a_new_level_comes_behind_the_one_it_was_added_after():
    levels = after(AddLevel("outdoor", " Axes ", after_id="tents"), AddLevel("outdoor", "Maps"), AddLevel(None, "Toys"))
    assert below(levels, "outdoor") == ["tents", "new-1", "stoves", "lamps", "new-2"]
    assert below(levels, None) == ["outdoor", "home", "new-3"]
    assert levels.levels["new-1"].name == "Axes"


def test_levels_move_up_down_in_and_out():
    assert below(after(ShiftLevel("lamps", Direction.UP)), "outdoor") == ["tents", "lamps", "stoves"]
    assert below(after(ShiftLevel("tents", Direction.DOWN)), "outdoor") == ["stoves", "tents", "lamps"]
    assert below(after(ShiftLevel("lamps", Direction.INDENT)), "stoves") == ["lamps"]
    assert below(after(ShiftLevel("tents", Direction.OUTDENT)), None) == ["outdoor", "tents", "home"]


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (ShiftLevel("outdoor", Direction.UP), "cannot_move"),
        (ShiftLevel("home", Direction.DOWN), "cannot_move"),
        (ShiftLevel("tents", Direction.INDENT), "cannot_move"),
        (ShiftLevel("home", Direction.OUTDENT), "cannot_move"),
        (MoveLevel("outdoor", "tarps", 0), "moved_below_itself"),
        (MoveLevel("outdoor", "outdoor", 0), "moved_below_itself"),
        (MoveLevel("outdoor", "gone", 0), "unknown_level"),
        (DeleteLevel("gone"), "unknown_level"),
        (AddLevel("gone", "Axes"), "unknown_level"),
        (AddLevel(None, "Ax\x00es"), "unprintable"),
        (AddAttribute("tents", choice("colour", "Red")), "duplicate_attribute_id"),
        (AddAttribute("tents", number("weight", validation={"minValue": float("inf")})), "out_of_range"),
        (AddAttribute("tents", choice("size", "S\x00")), "unprintable"),
        (ChangeAttribute("stoves", "colour", choice("colour", "Red")), "unknown_attribute"),
        (OverrideAttribute("home", "colour"), "unknown_attribute"),
        (RenameValue("tents", "colour", "Moss", "clay"), "duplicate_value"),
        (RenameValue("tents", "colour", "Moss", "a,b"), "comma_in_value"),
        (RenameValue("tents", "colour", "Moss", "  "), "blank_value"),
        (RenameValue("tents", "colour", "Pink", "Rose"), "unknown_value"),
    ],
)
def test_what_cannot_be_done_is_refused(edit: Edit, code: str):
    assert refused(edit) == code


@pytest.mark.parametrize(
    ("edit", "pointer"),
    [
        (AddLevel(None, "Ax\u202ees"), "#/name"),
        (ChangeLevel("tents", "Te\u202ents", ""), "#/name"),
        (ChangeLevel("tents", "Tents", "For\u202e"), "#/description"),
        (ChangeLevel("tents", "Tents", "", ["Pods", "Po\u202eds"]), "#/otherNames"),
        (ChangeLevel("tents", "Tents", "", ["x" * 1_000]), "#/otherNames"),
    ],
)
def test_what_no_draft_can_keep_is_said_at_its_field(edit: Edit, pointer: str):
    with pytest.raises(Invalid) as caught:
        apply_edit(LEVELS, edit)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_levels_do_not_get_deeper_than_eight():
    nested = level("l7")
    for depth in range(6, 0, -1):
        nested = level(f"l{depth}", nested)
    levels = TaxonomyTree.parse(stored(nested, level("a", level("b"))))
    assert refused(MoveLevel("a", "l7", 0), levels) == "too_deep"
    assert after(MoveLevel("b", "l7", 0), levels=levels).path_ids("b")[-2:] == ["l7", "b"]
    assert refused(AddLevel("b", "Axes"), after(MoveLevel("b", "l7", 0), levels=levels)) == "too_deep"


def test_there_are_not_more_than_two_thousand_levels():
    full = TaxonomyTree.parse(stored(*[level(f"l{n}") for n in range(2_000)]))
    assert refused(AddLevel("l7", "Axes"), full) == "too_many_levels"


def test_deleting_a_level_deletes_those_below_and_shows_a_neighbour():
    step = apply_edit(LEVELS, DeleteLevel("tents"))
    assert set(redo_step(LEVELS, step).levels) == {"outdoor", "stoves", "lamps", "home"}
    assert (step.level_id, step.label) == ("stoves", "Deleted the level “Tents” and 1 below it")
    assert apply_edit(LEVELS, DeleteLevel("tarps")).level_id == "tents"


def test_a_step_holds_only_what_differs():
    step = apply_edit(LEVELS, ChangeLevel("tents", "Tents", "For the night"))
    assert step.changes == {"tents": ({"description": ""}, {"description": "For the night"})}


def test_other_names_are_kept_tidy_and_named_in_the_step():
    levels = after(ChangeLevel("tents", "Tents", "", [" Big  shelters", "", "Pods", "Pods"]))
    assert levels.levels["tents"].other_names == ("Big shelters", "Pods")
    step = apply_edit(levels, ChangeLevel("tents", "Tents", "", []))
    assert step.label == "Changed the other names of “Tents”"
    assert step.changes == {"tents": ({"otherNames": ["Big shelters", "Pods"]}, {"otherNames": []})}
    assert after(ChangeLevel("tents", "Cabins", ""), levels=levels).levels["tents"].other_names == (
        "Big shelters",
        "Pods",
    )
    assert refused(ChangeLevel("tents", "Tents", "", [f"n{n}" for n in range(81)])) == "too_many"


def test_other_names_go_with_a_level_that_moves_and_come_back_with_one_that_was_deleted():
    levels = after(ChangeLevel("tents", "Tents", "", ["Shelters"]), MoveLevel("tents", "home", 0))
    assert levels.levels["tents"].other_names == ("Shelters",)
    step = apply_edit(levels, DeleteLevel("tents"))
    assert undo_step(redo_step(levels, step), step) == levels


def test_steps_from_before_levels_had_other_names_can_be_undone_and_done_again():
    added = apply_edit(LEVELS, AddLevel("home", "Chairs"))
    as_stored = json.loads(json.dumps(added.as_json()))
    del as_stored["changes"]["new-1"][1]["otherNames"]
    levels = redo_step(LEVELS, Step.read(as_stored))
    assert levels == redo_step(LEVELS, added)
    assert after(ChangeLevel("new-1", "Chairs", "", ["Seats"]), levels=levels).levels["new-1"].other_names == ("Seats",)


@pytest.mark.parametrize(
    "edit",
    [
        ChangeLevel("tents", " Tents ", ""),
        ChangeLevel("tents", "Tents", "", [" "]),
        MoveLevel("stoves", "outdoor", 1),
        MoveLevel("home", None, 99),
        MoveAttribute("tents", "colour", 0),
    ],
)
def test_an_edit_that_changes_nothing_makes_an_empty_step(edit: Edit):
    assert apply_edit(LEVELS, edit).changes == {}


def test_an_attribute_keeps_its_id_and_place_when_it_changes():
    changed = {
        "attributeId": "other",
        "name": "Shade",
        "type": "SINGLE_SELECT",
        "allowedValues": ["Clay", " Clay", "Fern"],
    }
    levels = after(ChangeAttribute("tents", "colour", changed))
    assert attribute_ids(levels, "tents") == ["colour", "sleeps"]
    assert levels.levels["tents"].attributes[0].allowed_values == ("Clay", "Fern")


def test_attributes_are_added_moved_and_deleted():
    levels = after(AddAttribute("tents", {"name": "Weight", "type": "NUMBER"}), MoveAttribute("tents", "new-a1", 0))
    assert attribute_ids(levels, "tents") == ["new-a1", "colour", "sleeps"]
    assert attribute_ids(after(DeleteAttribute("tents", "colour"), levels=levels), "tents") == ["new-a1", "sleeps"]


def test_many_moves_between_the_same_two_leave_the_order_right():
    levels = LEVELS
    for number_of_move in range(200):
        last = below(levels, "outdoor")[-1]
        levels = after(MoveLevel(last, "outdoor", 1), levels=levels)
        assert below(levels, "outdoor")[1] == last, number_of_move


def test_an_inherited_attribute_is_overridden_by_a_copy_of_the_nearest():
    levels = after(OverrideAttribute("tarps", "colour"))
    assert levels.levels["tarps"].attributes[0].allowed_values == ("Moss", "Clay")


def test_values_that_were_renamed_above_are_renamed_for_the_copy_as_well():
    levels = after(RenameValue("tents", "colour", "Moss", "Fern"), OverrideAttribute("tarps", "colour"))
    assert levels.levels["tarps"].attributes[0].allowed_values == ("Fern", "Clay")
    assert draft_renames(levels.levels.values()) == [
        ValueRename("tents", "colour", "Moss", "Fern"),
        ValueRename("tarps", "colour", "Moss", "Fern"),
    ]


def test_overriding_a_new_attribute_still_overrides_it_when_both_are_saved():
    levels = after(AddAttribute("outdoor", {"name": "Weight", "type": "NUMBER"}), OverrideAttribute("tarps", "new-a1"))
    saved = check_structure(levels.as_stored()).tree
    assert attribute_ids(saved, "outdoor") == ["colour", "weight"]
    assert attribute_ids(saved, "tarps") == ["weight"]


def renames(levels: TaxonomyTree) -> list[tuple[str, str]]:
    return [(rename.value, rename.renamed) for rename in draft_renames(levels.levels.values())]


def test_a_renamed_value_remembers_the_stored_one():
    levels = after(RenameValue("tents", "colour", "Moss", "Fern"))
    assert levels.levels["tents"].attributes[0].allowed_values == ("Fern", "Clay")
    found = draft_renames(levels.levels.values())
    assert found == [ValueRename("tents", "colour", "Moss", "Fern")]
    assert check_structure(without_renames(levels).as_stored()).problems == ()


def test_renames_in_a_row_count_as_one_and_back_again_as_none():
    once = after(RenameValue("tents", "colour", "Moss", "Fern"), RenameValue("tents", "colour", "Fern", "Leaf"))
    assert renames(once) == [("Moss", "Leaf")]
    assert renames(after(RenameValue("tents", "colour", "Leaf", "Moss"), levels=once)) == []


def test_two_values_can_take_each_others_names():
    levels = after(
        RenameValue("tents", "colour", "Moss", "x"),
        RenameValue("tents", "colour", "Clay", "Moss"),
        RenameValue("tents", "colour", "x", "Clay"),
    )
    assert sorted(renames(levels)) == [("Clay", "Moss"), ("Moss", "Clay")]


def test_a_rename_is_forgotten_with_the_value_that_it_led_to():
    levels = after(
        RenameValue("tents", "colour", "Moss", "Fern"),
        ChangeAttribute("tents", "colour", choice("colour", "Clay", "Moss")),
    )
    assert renames(levels) == []


def test_a_stored_value_is_renamed_only_once():
    levels = after(
        RenameValue("tents", "colour", "Moss", "Fern"),
        ChangeAttribute("tents", "colour", choice("colour", "Fern", "Moss")),
        RenameValue("tents", "colour", "Moss", "Leaf"),
    )
    assert renames(levels) == [("Moss", "Fern")]


MERGED = choice("colour", "Clay") | {"mergedValues": {"Moss": "Clay"}}


def test_a_merged_value_becomes_the_one_that_stays():
    levels = after(ChangeAttribute("tents", "colour", MERGED))
    found = draft_renames(levels.levels.values())
    assert found == [ValueRename("tents", "colour", "Moss", "Clay")]
    assert check_structure(without_renames(levels).as_stored()).problems == ()


def test_a_merge_follows_the_name_of_the_value_that_stays_and_ends_with_it_or_with_the_merged_one_put_back():
    levels = after(ChangeAttribute("tents", "colour", MERGED))
    renamed = after(RenameValue("tents", "colour", "Clay", "Loam"), levels=levels)
    assert renames(renamed) == [("Clay", "Loam"), ("Moss", "Loam")]
    for offered in (("Sand",), ("Clay", "Moss")):
        assert renames(after(ChangeAttribute("tents", "colour", choice("colour", *offered)), levels=levels)) == []


def is_sound(levels: TaxonomyTree) -> bool:
    """Every parent is there, no level is lost on the way to the nested form, and the order is that of the tree."""
    saved = TaxonomyTree.parse(levels.as_stored())
    return set(saved.levels) == set(levels.levels) and list(levels.in_order().levels) == list(levels.levels)


class Draft(RuleBasedStateMachine):
    """Any edits, undone and done again in any order."""

    @initialize(tree=trees)
    def begin(self, tree: list[dict[str, object]]) -> None:
        self.base = TaxonomyTree.parse(tree)
        self.levels = self.base
        self.done: list[Step] = []
        self.undone: list[Step] = []

    @rule(data=st.data())
    def edit(self, data: st.DataObject) -> None:
        edit = data.draw(edits_of(self.levels))
        try:
            step = apply_edit(self.levels, edit)
        except Invalid:
            return
        before, self.levels = self.levels, redo_step(self.levels, step)
        assert self.same(undo_step(self.levels, step), before)
        if not isinstance(edit, DeleteLevel | DeleteAttribute):
            assert set(before.levels) <= set(self.levels.levels)
        if isinstance(edit, MoveLevel | ShiftLevel):
            kept = [(found.name, found.attributes) for found in before.levels.values()]
            for found in self.levels.levels.values():
                kept.remove((found.name, found.attributes))
            assert kept == []
        self.done.append(step)
        self.undone.clear()

    @precondition(lambda self: self.done)
    @rule()
    def take_back(self) -> None:
        self.undone.append(self.done.pop())
        self.levels = undo_step(self.levels, self.undone[-1])

    @precondition(lambda self: self.undone)
    @rule()
    def do_again(self) -> None:
        self.done.append(self.undone.pop())
        self.levels = redo_step(self.levels, self.done[-1])

    @invariant()
    def the_steps_lead_here_from_the_stored_tree_and_back(self) -> None:
        steps = [Step.read(json.loads(json.dumps(step.as_json()))) for step in self.done]
        assert self.same(apply_steps(self.base, steps), self.levels)
        back = self.levels
        for step in reversed(steps):
            back = undo_step(back, step)
        assert self.same(back, self.base)

    @invariant()
    def nothing_is_lost_on_the_way_to_the_stored_form(self) -> None:
        assert is_sound(self.levels)
        saved = check_structure(without_renames(self.levels).as_stored(), set(self.base.levels))
        if not saved.problems:
            assert check_structure(saved.levels).problems == ()
            assert set(self.base.levels) & set(self.levels.levels) <= set(saved.tree.levels)

    @staticmethod
    def same(one: TaxonomyTree, other: TaxonomyTree) -> bool:
        return one == other and list(one.levels) == list(other.levels)


Draft.TestCase.settings = settings(max_examples=examples(60), stateful_step_count=15, deadline=None)
TestDraft = Draft.TestCase
