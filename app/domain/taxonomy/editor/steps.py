"""The steps of a draft, with redo and undo. Pure.

A step holds the changes of one edit, or of several, small enough to keep many; a draft keeps no more than it can
store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.level_edits import Edit
from app.domain.taxonomy.stored_tree import Record
from app.domain.taxonomy.tree import Attribute, Level, TaxonomyTree, in_place_order

Change = tuple[Record | None, Record | None]
"""A level in JSON before and after. None means that it was not there. Where it was there both times, both sides hold
only the fields that differ; of `attributes` the ones that differ, by attribute id (None for one that was not there)."""

FIELDS = ("name", "otherNames", "description", "parentLevelId", "displayOrder")
MOST_STEPS = 500  # Beyond that the oldest two become one, which can only be undone together.
MOST_BYTES = 8 << 20
LARGEST = 3 * MOST_BYTES  # The tree itself, which can be deleted in one step, is sent as up to MOST_BYTES.
EARLIER = "Earlier changes"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a draft. `label` says for people what was done; `level_id` is the level to look at afterwards, None for
    none. A step without `changes` did nothing."""

    label: str
    changes: Mapping[str, Change] = field(default_factory=dict)
    level_id: str | None = None

    def as_json(self) -> dict[str, Any]:
        changes = {level_id: list(change) for level_id, change in self.changes.items()}
        return {"label": self.label, "changes": changes, "levelId": self.level_id}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Step:
        changes = {level_id: (before, after) for level_id, (before, after) in stored["changes"].items()}
        return cls(stored["label"], changes, stored["levelId"])


def apply_edit(tree: TaxonomyTree, edit: Edit) -> Step:
    """Return the changes that the edit makes; `redo_step(tree, step)` does it. A step without changes means that
    nothing differs. Raises Invalid for what cannot be done; new levels and attributes get ids `new-1`, `new-a1`, … free
    in the tree."""
    outcome = edit.apply(tree)
    return Step(outcome.label, differences(tree, outcome.tree), outcome.level_id)


def differences(before: TaxonomyTree, after: TaxonomyTree) -> dict[str, Change]:
    """Return the changes of the levels that are not the same in both, by id."""
    changes: dict[str, Change] = {}
    for level_id in [*after.levels, *(gone for gone in before.levels if gone not in after.levels)]:
        old, new = before.levels.get(level_id), after.levels.get(level_id)
        if old is not new and old != new:
            changes[level_id] = _change(old, new)
    return changes


def _change(old: Level | None, new: Level | None) -> Change:
    if old is None or new is None:
        return old.as_json() if old else None, new.as_json() if new else None
    was, now = old.as_json(), new.as_json()
    names = [name for name in FIELDS if was[name] != now[name]]
    before, after = {name: was[name] for name in names}, {name: now[name] for name in names}
    if old.attributes != new.attributes:
        before["attributes"], after["attributes"] = _attribute_changes(was["attributes"], now["attributes"])
    return before, after


def _attribute_changes(old: Iterable[Record], new: Iterable[Record]) -> tuple[Record, Record]:
    before = {attribute["attributeId"]: attribute for attribute in old}
    after = {attribute["attributeId"]: attribute for attribute in new}
    changed = [found for found in {**before, **after} if before.get(found) != after.get(found)]
    return {found: before.get(found) for found in changed}, {found: after.get(found) for found in changed}


def redo_step(tree: TaxonomyTree, step: Step) -> TaxonomyTree:
    """Return the tree after a step, which must have been made on an equal one."""
    return _apply_all(tree, [step.changes])


def undo_step(tree: TaxonomyTree, step: Step) -> TaxonomyTree:
    return _apply_all(tree, [{level_id: (after, before) for level_id, (before, after) in step.changes.items()}])


def apply_steps(tree: TaxonomyTree, steps: Iterable[Step]) -> TaxonomyTree:
    return _apply_all(tree, [step.changes for step in steps])


def _apply_all(tree: TaxonomyTree, done: Sequence[Mapping[str, Change]]) -> TaxonomyTree:
    """Return the tree after the changes, put in tree order once where any of them moved a level."""
    levels = dict(tree.levels)
    for changes in done:
        for level_id, (before, after) in changes.items():
            if after is None:
                del levels[level_id]
            elif before is None:
                levels[level_id] = Level.read(after, after["parentLevelId"], after["displayOrder"])
            else:
                levels[level_id] = _with_fields(levels[level_id], after)
    changed = TaxonomyTree(levels)
    return changed.in_order() if any(_moves(change) for changes in done for change in changes.values()) else changed


def _with_fields(level: Level, fields: Record) -> Level:
    """Return the level with other fields; of its attributes those are given that differ, None for one that is gone."""
    attributes = level.attributes
    if "attributes" in fields:
        kept = {attribute.id: attribute for attribute in attributes}
        for attribute_id, record in fields["attributes"].items():
            if record is None:
                kept.pop(attribute_id, None)
            else:
                kept[attribute_id] = Attribute.read(record)
        attributes = in_place_order(kept.values())
    return Level(
        id=level.id,
        name=fields.get("name", level.name),
        parent_id=fields.get("parentLevelId", level.parent_id),
        description=fields.get("description", level.description),
        attributes=attributes,
        display_order=fields.get("displayOrder", level.display_order),
        other_names=tuple(fields.get("otherNames", level.other_names)),
    )


def _moves(change: Change) -> bool:
    before, after = change
    return before is None or after is None or "parentLevelId" in after or "displayOrder" in after


def merge_edits(tree: TaxonomyTree, edits: Sequence[Edit]) -> Step:
    """Merge one or more edits into one step, each done on what those before it left. Raises Invalid when one cannot be
    done."""
    if len(edits) == 1:
        return apply_edit(tree, edits[0])
    after, done = tree, []
    for edit in edits:
        done.append(apply_edit(after, edit))
        after = redo_step(after, done[-1])
    label = f"{done[0].label} and {len(done) - 1:,} more"
    return Step(label, differences(tree, after), done[-1].level_id)


def cut_steps(steps: Sequence[Step], base: TaxonomyTree) -> list[Step]:
    """Return the steps to keep, of which the first was made on `base`: no more than MOST_STEPS and about MOST_BYTES,
    since every edit writes all of them. The newest one stays by itself. Raises Invalid where they would still take more
    than LARGEST."""
    sizes = [len(json.dumps(step.as_json())) for step in steps]
    oldest = max(len(steps) - MOST_STEPS + 1, _too_many(sizes))
    if oldest < 2:
        return list(steps)
    merged = Step(EARLIER, differences(base, apply_steps(base, steps[:oldest])), steps[oldest - 1].level_id)
    if len(json.dumps(merged.as_json())) + sum(sizes[oldest:]) > LARGEST:
        raise Invalid.one("draft_too_large", "The draft has grown too large. Save it, then go on.")
    return [merged, *steps[oldest:]]


def _too_many(sizes: Sequence[int]) -> int:
    """Return how many of the oldest steps must become one, so that it need not be done again at the very next edit."""
    if sum(sizes) <= MOST_BYTES:
        return 0
    kept, size = 1, sizes[-1]
    while kept < len(sizes) - 2 and size + sizes[-kept - 1] <= MOST_BYTES // 2:
        size += sizes[-kept - 1]
        kept += 1
    return len(sizes) - kept
