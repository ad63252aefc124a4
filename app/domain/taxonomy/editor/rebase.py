"""A draft's edits rebased on a tree that another user saved meanwhile: a three-way merge by level, field and part of an
attribute. Pure.

What only one side changed is taken from that side; what both changed alike is as it is. Where both changed the same
thing differently, the stored tree stays as it is and the draft's change is refused in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.attribute_edits import MoveAttribute
from app.domain.taxonomy.editor.level_edits import DeleteLevel, Edit, MoveLevel, quote
from app.domain.taxonomy.editor.steps import Step, apply_steps, differences
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree, in_place_order
from app.domain.taxonomy.validation.sent_tree import DEEPEST

LABEL = "Your changes, done again on the newest revision"
NEW_PLACE = "new place"
TEXTS: tuple[tuple[str, str, str], ...] = (  # The field, the draft's change of it, and that of the saved tree.
    ("name", "new name", "its name was changed"),
    ("other_names", "other names", "its other names were changed"),
    ("description", "new description", "its description was changed"),
)
# What belongs together: renamed and merged values say nothing without the list that offers them, a unit nothing without
# numbers.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("name", ("name",)),
    ("help text", ("help_text",)),
    (
        "type, unit and values",
        ("type", "unknown_type", "unit", "allowed_values", "renamed_values", "merged_values"),
    ),
    ("validation", ("validation",)),
    ("display", ("display_on_product_page", "display_label")),
)


@dataclass(frozen=True, slots=True)
class Rebased:
    """The outcome of a rebase. `steps` are on the new base, none where nothing is left to do; `refused` are sentences
    about what was not done."""

    steps: list[Step]
    refused: list[str]


def rebase(old_base: TaxonomyTree, new_base: TaxonomyTree, steps: Sequence[Step]) -> Rebased:
    """Rebase the steps, which were made on `old_base`. On an unchanged base they stay what they are."""
    if differences(old_base, new_base) == {}:
        return Rebased(list(steps), [])
    merge = _Merge(old_base, new_base, apply_steps(old_base, steps))
    tree = merge.run()
    changes = differences(new_base, tree)
    looked_at = next((step.level_id for step in reversed(steps) if step.level_id in tree.levels), None)
    return Rebased([Step(LABEL, changes, looked_at)] if changes else [], merge.refused)


class _Merge:
    """The merge of two trees that began as `old`: `mine` is the draft's, `theirs` the one that was saved meanwhile.
    `tree` becomes the merged one."""

    def __init__(self, old: TaxonomyTree, theirs: TaxonomyTree, mine: TaxonomyTree) -> None:
        self._old = old.levels
        self._theirs = theirs.levels
        self._mine = mine
        self.tree = theirs
        self.refused: list[str] = []
        self._kept: set[str] = set()  # Levels that the draft deleted but that stay, with all below them.

    def run(self) -> TaxonomyTree:
        """Merge the draft's changes in its tree order, so that a parent is there before those below it."""
        changed = [level for level in self._mine.levels.values() if level != self._old.get(level.id)]
        for level in changed:
            if level.id not in self._old:
                self._add(level)
            elif level.id in self._theirs:
                self._change(level)
            else:
                self._refuse(self._old[level.id], "was not changed", "it was deleted meanwhile")
        self._place(changed)
        for level_id in [found for found in self._old if found not in self._mine.levels]:
            self._delete(level_id)
        return self.tree

    def _add(self, level: Level) -> None:
        if level.parent_id is not None and level.parent_id not in self.tree.levels:
            self._refuse(level, "was not added", "the level above it was deleted meanwhile")
        elif len(self.tree.path(level.parent_id)) >= DEEPEST:
            self._refuse(level, "was not added", f"levels nest at most {DEEPEST} deep")
        elif level.id in self.tree.levels:
            self._refuse(level, "was not added", "its id was given to another level meanwhile")
        else:
            beside = (self.tree.levels[found].display_order for found in self.tree.siblings(level.parent_id))
            placed = replace(level, display_order=max(beside, default=0) + 1)
            self.tree = self.tree.with_level(placed).in_order()

    def _change(self, mine: Level) -> None:
        old, theirs = self._old[mine.id], self._theirs[mine.id]
        taken: dict[str, Any] = {}
        for name, wanted, why in TEXTS:
            was, text, now = getattr(old, name), getattr(mine, name), getattr(theirs, name)
            if text != was and not self._clashes(old, wanted, why, now not in (was, text)):
                taken[name] = text
        if mine.attributes != old.attributes:
            taken["attributes"] = self._merge_attributes(old, mine, theirs)
        self.tree = self.tree.with_level(replace(theirs, **taken))

    def _clashes(self, level: Level, wanted: str, why: str, is_clash: bool) -> bool:
        """Return whether the saved tree changed the field too, and to another value; if so, note the refusal."""
        if is_clash:
            self._refuse(level, f"did not get your {wanted}", f"{why} meanwhile")
        return is_clash

    def _merge_attributes(self, old: Level, mine: Level, theirs: Level) -> tuple[Attribute, ...]:
        merged = {attribute.id: attribute for attribute in theirs.attributes}
        was = {attribute.id: attribute for attribute in old.attributes}
        for attribute in mine.attributes:
            before, now = was.pop(attribute.id, None), merged.get(attribute.id)
            result, conflicts = merge_attribute(before, attribute, now)
            for conflict in conflicts:
                self._refuse_attribute(mine, attribute, conflict)
            if result is not None and now is None:
                last = max((found.display_order for found in merged.values()), default=-1)
                result = replace(result, display_order=last + 1)
            if result is not None:
                merged[attribute.id] = result
        for attribute_id, before in was.items():
            now = merged.get(attribute_id, before)
            if replace(now, display_order=before.display_order) == before:
                merged.pop(attribute_id, None)
            else:
                self._refuse_attribute(mine, before, "was not deleted: it was changed meanwhile")
        return in_place_order(merged.values())

    def _place(self, changed: Sequence[Level]) -> None:
        """Move the levels and attributes that have another place in the draft behind the neighbour that they have
        there."""
        for level in changed:
            if level.id not in self.tree.levels:
                continue
            old = self._old.get(level.id)
            if old is None or (old.parent_id, old.display_order) != (level.parent_id, level.display_order):
                self._move(level)
            for attribute in level.attributes if old else ():
                before = old.attribute(attribute.id) if old else None
                if before is None or before.display_order != attribute.display_order:
                    self._move_attribute(level, attribute.id)

    def _move(self, mine: Level) -> None:
        old, theirs = self._old.get(mine.id), self._theirs.get(mine.id)
        parent_id = mine.parent_id
        if old and theirs and old.parent_id != parent_id:
            is_clash = theirs.parent_id not in (old.parent_id, parent_id)
            if self._clashes(old, NEW_PLACE, "it was moved elsewhere", is_clash):
                return
            if parent_id is not None and parent_id not in self.tree.levels:
                self._refuse(mine, "was not moved", "the level above it was deleted meanwhile")
                return
        elif theirs and theirs.parent_id != parent_id:
            return  # The draft changed only the order where the level no longer stands.
        position = self._position(mine.id, parent_id)
        try:
            self._apply(MoveLevel(mine.id, parent_id, position))
        except Invalid as invalid:
            self._refuse(mine, "was not moved", invalid.message.rstrip("."))

    def _position(self, level_id: str, parent_id: str | None) -> int:
        beside = [found for found in self.tree.siblings(parent_id) if found != level_id]
        return _position_behind(level_id, self._mine.siblings(parent_id), beside)

    def _move_attribute(self, level: Level, attribute_id: str) -> None:
        beside = [found.id for found in self.tree.levels[level.id].attributes]
        if attribute_id in beside:
            beside.remove(attribute_id)
            position = _position_behind(attribute_id, [found.id for found in level.attributes], beside)
            self._apply(MoveAttribute(level.id, attribute_id, position))

    def _apply(self, edit: Edit) -> None:
        self.tree = edit.apply(self.tree).tree

    def _delete(self, level_id: str) -> None:
        """Delete a level, unless it or a level below it was changed or added meanwhile, or is still in the draft."""
        if level_id not in self.tree.levels or not self._kept.isdisjoint(self.tree.path_ids(level_id)):
            return
        below = self.tree.below(level_id)
        wanted = [found for found in below if found in self._mine.levels or found not in self._old]
        changed = [found for found in below if found in self._theirs and self._is_changed(found)]
        if wanted or changed:
            self._kept.add(level_id)
            name = (wanted or changed)[0]
            what = "it was" if name == level_id else f"{quote(self.tree.levels[name].name)} below it was"
            self._refuse(self._old[level_id], "was not deleted", f"{what} changed meanwhile")
        else:
            self._apply(DeleteLevel(level_id))

    def _is_changed(self, level_id: str) -> bool:
        """Whether the saved tree has another level there, apart from its place among its neighbours."""
        old, theirs = self._old.get(level_id), self._theirs[level_id]
        return old is None or replace(old, display_order=theirs.display_order) != theirs

    def _refuse(self, level: Level, what: str, why: str) -> None:
        self.refused.append(f"{quote(level.name)} {what}: {why}.")

    def _refuse_attribute(self, level: Level, attribute: Attribute, what: str) -> None:
        self.refused.append(f"The attribute {quote(attribute.name)} of {quote(level.name)} {what}.")


def _position_behind(wanted: str, mine: Sequence[str], beside: Sequence[str]) -> int:
    """Return the position among those beside it that is behind the nearest one that stands before it in the draft."""
    before = mine[: mine.index(wanted)] if wanted in mine else ()
    return next((beside.index(found) + 1 for found in reversed(before) if found in beside), 0)


def merge_attribute(
    old: Attribute | None, mine: Attribute, theirs: Attribute | None
) -> tuple[Attribute | None, list[str]]:
    """Return the merged definition, None where the attribute is deleted, and the rest of a sentence about each
    conflict."""
    if old is None:
        if theirs is None:
            return mine, []
        is_same = all(_part(mine, names) == _part(theirs, names) for _, names in PARTS)
        return theirs, [] if is_same else ["was not added: another user added one with this id meanwhile"]
    if theirs is None:
        changed = any(_part(old, names) != _part(mine, names) for _, names in PARTS)
        return None, ["was not changed: it was deleted meanwhile"] if changed else []
    merged, conflicts = theirs, []
    for word, names in PARTS:
        was, wanted, now = _part(old, names), _part(mine, names), _part(theirs, names)
        if wanted in (was, now):
            continue
        if now == was:
            merged = replace(merged, **wanted)
        else:
            conflicts.append(f"did not get your {word}: another user changed that meanwhile")
    return merged, conflicts


def _part(attribute: Attribute, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(attribute, name) for name in names}
