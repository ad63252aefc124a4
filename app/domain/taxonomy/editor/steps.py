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
from app.domain.taxonomy.stored_tree import FlatLevels, Record, by_place, in_tree_order

Change = tuple[Record | None, Record | None]
"""A level before and after. None means that it was not there. Where it was there both times, both sides hold only the
fields that differ; of `attributes` the ones that differ, by attribute id (None for one that was not there)."""

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
        changes = {level_id: _read_change(*change) for level_id, change in stored["changes"].items()}
        return cls(stored["label"], changes, stored["levelId"])


def _read_change(before: Record | None, after: Record | None) -> Change:
    """Return a stored change. Records of added or removed levels that were stored before levels had other names get
    none."""
    if before is None or after is None:
        return before and {"otherNames": []} | before, after and {"otherNames": []} | after
    return before, after


def apply_edit(levels: FlatLevels, edit: Edit) -> Step:
    """Return the changes that the edit makes; `redo_step(levels, step)` does it. A step without changes means
    that nothing differs. Raises Invalid for what cannot be done; new levels and attributes get ids `new-1`, `new-a1`,
    … free in `levels`."""
    outcome = edit.apply(levels)
    return Step(outcome.label, differences(levels, outcome.levels), outcome.level_id)


def differences(before: FlatLevels, after: FlatLevels) -> dict[str, Change]:
    """Return the changes of the levels that are not the same in both, by id."""
    changes: dict[str, Change] = {}
    for level_id in [*after, *(gone for gone in before if gone not in after)]:
        old, new = before.get(level_id), after.get(level_id)
        if old is not new and old != new:
            changes[level_id] = _change(old, new)
    return changes


def _change(old: Record | None, new: Record | None) -> Change:
    if old is None or new is None:
        return old, new
    names = [name for name in FIELDS if old[name] != new[name]]
    before, after = {name: old[name] for name in names}, {name: new[name] for name in names}
    if old["attributes"] != new["attributes"]:
        before["attributes"], after["attributes"] = _attribute_changes(old["attributes"], new["attributes"])
    return before, after


def _attribute_changes(old: Iterable[Record], new: Iterable[Record]) -> tuple[Record, Record]:
    before = {attribute["attributeId"]: attribute for attribute in old}
    after = {attribute["attributeId"]: attribute for attribute in new}
    changed = [found for found in {**before, **after} if before.get(found) != after.get(found)]
    return {found: before.get(found) for found in changed}, {found: after.get(found) for found in changed}


def redo_step(levels: FlatLevels, step: Step) -> FlatLevels:
    """Return the levels after a step, which must have been made on equal levels."""
    return _in_order(_apply_changes(levels, step.changes), [step.changes])


def undo_step(levels: FlatLevels, step: Step) -> FlatLevels:
    changes = {level_id: (after, before) for level_id, (before, after) in step.changes.items()}
    return _in_order(_apply_changes(levels, changes), [changes])


def apply_steps(levels: FlatLevels, steps: Iterable[Step]) -> FlatLevels:
    done = [step.changes for step in steps]
    for changes in done:
        levels = _apply_changes(levels, changes)
    return _in_order(levels, done)


def _in_order(levels: Mapping[str, Record], done: Iterable[Mapping[str, Change]]) -> FlatLevels:
    """Return the levels, put in tree order once where any of the steps moved a level."""
    moved = any(_moves(change) for changes in done for change in changes.values())
    return in_tree_order(levels) if moved else dict(levels)


def _apply_changes(levels: Mapping[str, Record], changes: Mapping[str, Change]) -> dict[str, Record]:
    changed = dict(levels)
    for level_id, (before, after) in changes.items():
        if after is None:
            del changed[level_id]
        else:
            changed[level_id] = after if before is None else _with_fields(changed[level_id], after)
    return changed


def _with_fields(level: Record, fields: Record) -> Record:
    if "attributes" not in fields:
        return level | fields
    kept = {attribute["attributeId"]: attribute for attribute in level["attributes"]} | fields["attributes"]
    return level | fields | {"attributes": by_place([found for found in kept.values() if found is not None])}


def _moves(change: Change) -> bool:
    before, after = change
    return before is None or after is None or "parentLevelId" in after or "displayOrder" in after


def merge_edits(levels: FlatLevels, edits: Sequence[Edit]) -> Step:
    """Merge one or more edits into one step, each done on what those before it left. Raises Invalid when one cannot be
    done."""
    if len(edits) == 1:
        return apply_edit(levels, edits[0])
    after, done = levels, []
    for edit in edits:
        done.append(apply_edit(after, edit))
        after = redo_step(after, done[-1])
    label = f"{done[0].label} and {len(done) - 1:,} more"
    return Step(label, differences(levels, after), done[-1].level_id)


def cut_steps(steps: Sequence[Step], base: FlatLevels) -> list[Step]:
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
