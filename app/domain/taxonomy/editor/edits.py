"""Everything that can be done to a taxonomy in the editor, and what is kept of each edit: a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.domain.taxonomy.editor.attribute_edits import (
    AddAttribute,
    ChangeAttribute,
    DeleteAttribute,
    MoveAttribute,
    OverrideAttribute,
    RenameElsewhere,
    RenameValue,
    add_attribute,
    change_attribute,
    delete_attribute,
    move_attribute,
    override_attribute,
    rename_elsewhere,
    rename_value,
)
from app.domain.taxonomy.editor.level_edits import (
    AddLevel,
    ChangeLevel,
    DeleteLevel,
    Direction,
    MoveLevel,
    Outcome,
    ShiftLevel,
    add_level,
    change_level,
    delete_level,
    move_level,
    shift_level,
)
from app.domain.taxonomy.editor.levels_added import AddLevels, add_levels
from app.domain.taxonomy.editor.steps import Step, apply_steps, differences, redo, undo
from app.domain.taxonomy.levels.flat import FlatLevels

__all__ = [
    "AddAttribute",
    "AddLevel",
    "AddLevels",
    "ChangeAttribute",
    "ChangeLevel",
    "DeleteAttribute",
    "DeleteLevel",
    "Direction",
    "Edit",
    "MoveAttribute",
    "MoveLevel",
    "OverrideAttribute",
    "RenameElsewhere",
    "RenameValue",
    "ShiftLevel",
    "Step",
    "apply_edit",
    "apply_steps",
    "redo",
    "undo",
]

Edit = (
    AddLevel
    | AddLevels
    | ChangeLevel
    | MoveLevel
    | ShiftLevel
    | DeleteLevel
    | AddAttribute
    | ChangeAttribute
    | MoveAttribute
    | DeleteAttribute
    | RenameValue
    | RenameElsewhere
    | OverrideAttribute
)

_EDITS: Mapping[type, Callable[[FlatLevels, Any], Outcome]] = {
    AddLevel: add_level,
    AddLevels: add_levels,
    ChangeLevel: change_level,
    MoveLevel: move_level,
    ShiftLevel: shift_level,
    DeleteLevel: delete_level,
    AddAttribute: add_attribute,
    ChangeAttribute: change_attribute,
    MoveAttribute: move_attribute,
    DeleteAttribute: delete_attribute,
    RenameValue: rename_value,
    RenameElsewhere: rename_elsewhere,
    OverrideAttribute: override_attribute,
}


def apply_edit(levels: FlatLevels, edit: Edit) -> Step:
    """What the edit changes; `redo(levels, step)` does it. A step without changes means that nothing differs.
    Raises Invalid for what cannot be done; new levels and attributes get ids `new-1`, `new-a1`, … free in `levels`."""
    outcome = _EDITS[type(edit)](levels, edit)
    return Step(outcome.label, differences(levels, outcome.levels), outcome.level_id)
