"""How much a draft may hold: every edit writes all of it."""

from __future__ import annotations

import json

import pytest

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import AddAttribute, RenameValue
from app.domain.taxonomy.editor.level_edits import AddLevel, ChangeLevel, Edit
from app.domain.taxonomy.editor.steps import (
    EARLIER,
    LARGEST,
    MOST_BYTES,
    Step,
    apply_edit,
    apply_steps,
    cut_steps,
    redo_step,
)
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.taxonomy.validation.structure import check_structure
from tests.domain.taxonomy.trees import choice, level, text

BASE = check_structure([level("tents", attributes=[choice("colour", "Moss", "Clay")])]).tree


@pytest.mark.parametrize(
    "edit",
    [
        AddLevel(None, "n" * 801),
        ChangeLevel("tents", "n" * 801, ""),
        ChangeLevel("tents", "Tents", "d" * 8_001),
        AddAttribute("tents", text("", name="n" * 801)),
        AddAttribute("tents", text("fabric", helpText="h" * 8_001)),
        AddAttribute("tents", text("fabric", validation={"errorMessage": "e" * 8_001})),
        AddAttribute("tents", choice("fabric", "Wool", "v" * 8_001)),
        RenameValue("tents", "colour", "Moss", "v" * 8_001),
    ],
)
def test_a_text_far_too_long_is_refused_by_the_edit(edit: Edit):
    with pytest.raises(Invalid) as refused:
        apply_edit(BASE, edit)
    assert [problem.code for problem in refused.value.problems] == ["too_long"]


def test_a_text_that_can_still_be_shortened_is_kept():
    assert apply_edit(BASE, ChangeLevel("tents", "n" * 800, "d" * 8_000)).changes


def described(tree: TaxonomyTree, size: int, number: int) -> Step:
    """A step of about this many bytes."""
    names = [f"{number}-{place}" for place in range(size // 8_000)]
    tents = tree.levels["tents"].as_json()
    added = {
        name: tents | {"levelId": name, "name": name, "description": "d" * 8_000, "attributes": []} for name in names
    }
    return Step(f"Step {number}", {name: (None, record) for name, record in added.items()}, "tents")


def size_of(steps: list[Step]) -> int:
    return len(json.dumps([step.as_json() for step in steps]))


def test_steps_that_together_are_large_become_one_from_the_oldest_on():
    levels, steps = BASE, list[Step]()
    for number in range(12):
        step = described(BASE, 1_000_000, number)
        levels = redo_step(levels, step)
        steps = cut_steps([*steps, step], BASE)
        assert apply_steps(BASE, steps) == levels
    assert steps[0].label == EARLIER
    assert [step.label for step in steps[-2:]] == ["Step 10", "Step 11"]


def test_one_text_changed_again_and_again_takes_the_room_of_a_few():
    levels, steps = BASE, list[Step]()
    for number in range(700):
        step = apply_edit(levels, ChangeLevel("tents", f"Tents {number}", f"{number}" + "d" * 7_900))
        levels, steps = redo_step(levels, step), [*steps, step]
    kept = cut_steps(steps, BASE)
    assert size_of(steps) > MOST_BYTES > size_of(kept)
    assert apply_steps(BASE, kept) == levels


def test_a_draft_that_is_too_large_even_as_one_step_is_refused():
    steps = [described(BASE, LARGEST // 2, number) for number in range(3)]
    with pytest.raises(Invalid, match="too large"):
        cut_steps(steps, BASE)
    assert len(cut_steps(steps[:2], BASE)) == 2
