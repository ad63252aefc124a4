"""A draft's edits rebased on a tree that another user saved meanwhile: a three-way merge by level, field and part of an
attribute. Pure.

What only one side changed is taken from that side; what both changed alike is as it is. Where both changed the same
thing differently, the stored tree stays as it is and the draft's change is refused in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import MoveAttribute
from app.domain.taxonomy.editor.level_edits import DeleteLevel, MoveLevel, quote
from app.domain.taxonomy.editor.steps import Step, apply_edit, apply_steps, differences, redo_step
from app.domain.taxonomy.stored_tree import FlatLevels, Record, attribute_of, branch, in_tree_order, path, siblings
from app.domain.taxonomy.validation.level_drafts import DEEPEST

LABEL = "Your changes, done again on the newest revision"
FIELD_WORDS = {
    "name": "new name",
    "otherNames": "other names",
    "description": "new description",
    "parentLevelId": "new place",
}
CHANGED = {
    "name": "its name was changed",
    "otherNames": "its other names were changed",
    "description": "its description was changed",
}
# What belongs together: renamed and merged values say nothing without the list that offers them, a unit nothing without
# numbers.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("name", ("name",)),
    ("help text", ("helpText",)),
    ("type, unit and values", ("type", "unit", "allowedValues", "renamedValues", "mergedValues")),
    ("validation", ("validation",)),
    ("display", ("displayOnProductPage", "displayLabel")),
)


@dataclass(frozen=True, slots=True)
class Rebased:
    """The outcome of a rebase. `steps` are on the new base, none where nothing is left to do; `refused` are sentences
    about what was not done."""

    steps: list[Step]
    refused: list[str]


def rebase(old_base: FlatLevels, new_base: FlatLevels, steps: Sequence[Step]) -> Rebased:
    """Rebase the steps, which were made on `old_base`. On an unchanged base they stay what they are."""
    if differences(old_base, new_base) == {}:
        return Rebased(list(steps), [])
    merge = _Merge(old_base, new_base, apply_steps(old_base, steps))
    levels = merge.run()
    changes = differences(new_base, levels)
    looked_at = next((step.level_id for step in reversed(steps) if step.level_id in levels), None)
    return Rebased([Step(LABEL, changes, looked_at)] if changes else [], merge.refused)


class _Merge:
    """The merge of two trees that began as `old`: `mine` is the draft's, `theirs` the one that was saved meanwhile.
    `levels` becomes the merged tree."""

    def __init__(self, old: FlatLevels, theirs: FlatLevels, mine: FlatLevels) -> None:
        self._old = old
        self._theirs = theirs
        self._mine = mine
        self.levels = theirs
        self.refused: list[str] = []
        self._kept: set[str] = set()  # Levels that the draft deleted but that stay, with all below them.

    def run(self) -> FlatLevels:
        """Merge the draft's changes in its tree order, so that a parent is there before those below it."""
        changed = [found for found in self._mine if self._mine[found] != self._old.get(found)]
        for level_id in changed:
            if level_id not in self._old:
                self._add(level_id)
            elif level_id in self._theirs:
                self._change(level_id)
            else:
                self._refuse(self._old[level_id], "was not changed", "it was deleted meanwhile")
        self._place(changed)
        for level_id in [found for found in self._old if found not in self._mine]:
            self._delete(level_id)
        return self.levels

    def _add(self, level_id: str) -> None:
        level = self._mine[level_id]
        parent_id = level["parentLevelId"]
        if parent_id is not None and parent_id not in self.levels:
            self._refuse(level, "was not added", "the level above it was deleted meanwhile")
        elif len(path(self.levels, parent_id)) >= DEEPEST:
            self._refuse(level, "was not added", f"levels nest at most {DEEPEST} deep")
        elif level_id in self.levels:
            self._refuse(level, "was not added", "its id was given to another level meanwhile")
        else:
            beside = [self.levels[found]["displayOrder"] for found in siblings(self.levels, parent_id)]
            placed = level | {"displayOrder": max(beside, default=0) + 1}
            self.levels = in_tree_order(self.levels | {level_id: placed})

    def _change(self, level_id: str) -> None:
        old, mine, theirs = self._old[level_id], self._mine[level_id], self._theirs[level_id]
        merged = dict(theirs)
        for name, why in CHANGED.items():
            if mine[name] != old[name] and not self._clash(old, mine, theirs, name, why):
                merged[name] = mine[name]
        if mine["attributes"] != old["attributes"]:
            merged["attributes"] = self._attributes(old, mine, theirs)
        self.levels = self.levels | {level_id: merged}

    def _clash(self, old: Record, mine: Record, theirs: Record, name: str, why: str) -> bool:
        """Return whether the saved tree changed the field too, and to another value; if so, note the refusal."""
        clashes = bool(theirs[name] != old[name] and theirs[name] != mine[name])
        if clashes:
            self._refuse(old, f"did not get your {FIELD_WORDS[name]}", f"{why} meanwhile")
        return clashes

    def _attributes(self, old: Record, mine: Record, theirs: Record) -> list[Record]:
        merged = {attribute["attributeId"]: attribute for attribute in theirs["attributes"]}
        was = {attribute["attributeId"]: attribute for attribute in old["attributes"]}
        for attribute in mine["attributes"]:
            attribute_id = attribute["attributeId"]
            before, now = was.pop(attribute_id, None), merged.get(attribute_id)
            result, conflicts = merge_attribute(before, attribute, now)
            for conflict in conflicts:
                self._refuse_attribute(mine, attribute, conflict)
            if result is not None:
                merged[attribute_id] = result if now else result | {"displayOrder": _last(merged) + 1}
        for attribute_id, before in was.items():
            if _same(merged.get(attribute_id, before), before):
                merged.pop(attribute_id, None)
            else:
                self._refuse_attribute(mine, before, "was not deleted: it was changed meanwhile")
        return sorted(merged.values(), key=lambda found: float(found["displayOrder"]))

    def _place(self, changed: Sequence[str]) -> None:
        """Move the levels and attributes that have another place in the draft behind the neighbour that they have
        there."""
        for level_id in changed:
            if level_id not in self.levels:
                continue
            if self._is_elsewhere(level_id):
                self._move(level_id)
            for attribute_id in self._moved_attributes(level_id):
                self._move_attribute(level_id, attribute_id)

    def _is_elsewhere(self, level_id: str) -> bool:
        old, mine = self._old.get(level_id), self._mine[level_id]
        return old is None or any(old[name] != mine[name] for name in ("parentLevelId", "displayOrder"))

    def _move(self, level_id: str) -> None:
        mine, old, theirs = self._mine[level_id], self._old.get(level_id), self._theirs.get(level_id)
        parent_id = mine["parentLevelId"]
        if old and theirs and old["parentLevelId"] != parent_id:
            if self._clash(old, mine, theirs, "parentLevelId", "it was moved elsewhere"):
                return
            if parent_id is not None and parent_id not in self.levels:
                self._refuse(mine, "was not moved", "the level above it was deleted meanwhile")
                return
        elif theirs and theirs["parentLevelId"] != parent_id:
            return  # The draft changed only the order where the level no longer stands.
        position = self._position(level_id, parent_id)
        try:
            self.levels = redo_step(self.levels, apply_edit(self.levels, MoveLevel(level_id, parent_id, position)))
        except Invalid as invalid:
            self._refuse(mine, "was not moved", invalid.message.rstrip("."))

    def _position(self, level_id: str, parent_id: str | None) -> int:
        before = siblings(self._mine, parent_id)
        before = before[: before.index(level_id)] if level_id in before else []
        beside = [found for found in siblings(self.levels, parent_id) if found != level_id]
        return next((beside.index(found) + 1 for found in reversed(before) if found in beside), 0)

    def _moved_attributes(self, level_id: str) -> Iterator[str]:
        old = self._old.get(level_id)
        for attribute in self._mine[level_id]["attributes"] if old else ():
            before = attribute_of(old or {}, attribute["attributeId"])
            if before is None or before["displayOrder"] != attribute["displayOrder"]:
                yield attribute["attributeId"]

    def _move_attribute(self, level_id: str, attribute_id: str) -> None:
        if attribute_of(self.levels[level_id], attribute_id) is None:
            return
        mine = [found["attributeId"] for found in self._mine[level_id]["attributes"]]
        before = mine[: mine.index(attribute_id)]
        beside = [found["attributeId"] for found in self.levels[level_id]["attributes"]]
        beside.remove(attribute_id)
        position = next((beside.index(found) + 1 for found in reversed(before) if found in beside), 0)
        self.levels = MoveAttribute(level_id, attribute_id, position).apply(self.levels).levels

    def _delete(self, level_id: str) -> None:
        """Delete a level, unless it or a level below it was changed or added meanwhile, or is still in the draft."""
        if level_id not in self.levels or not self._kept.isdisjoint(path(self.levels, level_id)):
            return
        below = branch(self.levels, level_id)
        wanted = [found for found in below if found in self._mine or found not in self._old]
        changed = [found for found in below if found in self._theirs and self._touched(found)]
        if wanted or changed:
            self._kept.add(level_id)
            name = (wanted or changed)[0]
            what = "it was" if name == level_id else f"{quote(self.levels[name]['name'])} below it was"
            self._refuse(self._old[level_id], "was not deleted", f"{what} changed meanwhile")
        else:
            self.levels = redo_step(self.levels, apply_edit(self.levels, DeleteLevel(level_id)))

    def _touched(self, level_id: str) -> bool:
        old, theirs = self._old.get(level_id), self._theirs[level_id]
        return old is None or any(old[name] != theirs[name] for name in old if name != "displayOrder")

    def _refuse(self, level: Mapping[str, Any], what: str, why: str) -> None:
        self.refused.append(f"{quote(level['name'])} {what}: {why}.")

    def _refuse_attribute(self, level: Record, attribute: Record, what: str) -> None:
        self.refused.append(f"The attribute {quote(attribute['name'])} of {quote(level['name'])} {what}.")


def _last(attributes: Mapping[str, Record]) -> float:
    return max((float(found["displayOrder"]) for found in attributes.values()), default=-1)


def _same(one: Record, other: Record) -> bool:
    """Whether two records are the same but for the place."""
    return one | {"displayOrder": 0} == other | {"displayOrder": 0}


def merge_attribute(old: Record | None, mine: Record, theirs: Record | None) -> tuple[Record | None, list[str]]:
    """Return the merged definition, None where the attribute is deleted, and the rest of a sentence about each
    conflict."""
    if old is None:
        return _merge_added(mine, theirs)
    if theirs is None:
        changed = any(_part(old, names) != _part(mine, names) for _, names in PARTS)
        return None, ["was not changed: it was deleted meanwhile"] if changed else []
    merged, conflicts = dict(theirs), []
    for word, names in PARTS:
        was, wanted, now = _part(old, names), _part(mine, names), _part(theirs, names)
        if wanted in (was, now):
            continue
        if now == was:
            merged = {name: value for name, value in merged.items() if name not in names} | wanted
        else:
            conflicts.append(f"did not get your {word}: another user changed that meanwhile")
    return merged, conflicts


def _merge_added(mine: Record, theirs: Record | None) -> tuple[Record, list[str]]:
    if theirs is None:
        return mine, []
    alike = all(_part(mine, names) == _part(theirs, names) for _, names in PARTS)
    return theirs, [] if alike else ["was not added: another user added one with this id meanwhile"]


def _part(attribute: Record, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: attribute[name] for name in names if attribute.get(name) not in (None, "", False, [], {})}
