"""The edits of levels that forms of the taxonomy editor request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.domain.catalogue.product_rules import split_terms
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.level_edits import (
    AddLevel,
    ChangeLevel,
    DeleteLevel,
    Direction,
    Edit,
    MoveLevel,
    ShiftLevel,
)
from app.domain.taxonomy.editor.level_lines import level_lines
from app.domain.taxonomy.editor.levels_added import AddLevels
from app.domain.taxonomy.levels.flat import FlatLevels, siblings

Form = Mapping[str, str]
MOST_AT_ONCE = 200


def level_edits(form: Form, levels: FlatLevels) -> Sequence[Edit]:
    """Return the edits that a form requests. `edit` names the kind: level.add (parent, after, name: one level a line,
    nested by indentation or as ways), level.rename (level, name), level.change (level, name, description,
    and otherNames with commas between them), level.move (level, parent, and before or after for its place), level.up,
    .down, .indent, .outdent and .delete (level). Raises Invalid for any other."""
    read = _READERS.get(form.get("edit", ""))
    if read is None:
        raise Invalid.one("unknown_edit", "Unknown edit. Reload the page.", "#/edit")
    return read(form, levels)


def _add(form: Form, levels: FlatLevels) -> Sequence[Edit]:
    lines = level_lines(form.get("name", ""))
    if not lines:
        raise Invalid.one("name_missing", "A level needs a name.", "#/name")
    if len(lines) > MOST_AT_ONCE:
        message = f"At most {MOST_AT_ONCE} levels can be added at once; these are {len(lines):,}."
        raise Invalid.one("too_many", message, "#/name")
    parent_id, after_id = form.get("parent") or None, form.get("after") or None
    if len(lines) == len(lines[0].way) == 1:
        return [AddLevel(parent_id, lines[0].way[0], after_id)]
    return [AddLevels(parent_id, lines, after_id)]


def _rename(form: Form, levels: FlatLevels) -> Sequence[Edit]:
    level = levels.get(form.get("level", ""))
    return [ChangeLevel(form.get("level", ""), form.get("name", ""), level["description"] if level else "")]


def _change(form: Form, levels: FlatLevels) -> Sequence[Edit]:
    other_names = split_terms(form["otherNames"]) if "otherNames" in form else None
    return [ChangeLevel(form.get("level", ""), form.get("name", ""), form.get("description", ""), other_names)]


def _move(form: Form, levels: FlatLevels) -> Sequence[Edit]:
    """Return the edit that moves a level. `parent` blank is the top. Without a neighbour it becomes the last there."""
    level_id, parent_id = form.get("level", ""), form.get("parent") or None
    beside = [found for found in siblings(levels, parent_id) if found != level_id]
    position = len(beside)
    if (before := form.get("before")) in beside:
        position = beside.index(before or "")
    elif (after := form.get("after")) in beside:
        position = beside.index(after or "") + 1
    return [MoveLevel(level_id, parent_id, position)]


def _shift(direction: Direction) -> Callable[[Form, FlatLevels], Sequence[Edit]]:
    return lambda form, levels: [ShiftLevel(form.get("level", ""), direction)]


def _delete(form: Form, levels: FlatLevels) -> Sequence[Edit]:
    return [DeleteLevel(form.get("level", ""))]


_READERS: Mapping[str, Callable[[Form, FlatLevels], Sequence[Edit]]] = {
    "level.add": _add,
    "level.rename": _rename,
    "level.change": _change,
    "level.move": _move,
    "level.delete": _delete,
} | {f"level.{direction.value}": _shift(direction) for direction in Direction}
