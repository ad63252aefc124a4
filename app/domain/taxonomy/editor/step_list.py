"""The steps of a draft: several edits as one step, and no more steps than can be kept."""

from __future__ import annotations

import json
from collections.abc import Sequence

from app.domain.shared.problems import Invalid
from app.domain.taxonomy.editor.level_edits import Edit
from app.domain.taxonomy.editor.steps import Step, apply_edit, apply_steps, differences, redo
from app.domain.taxonomy.levels.flat import FlatLevels

MOST_STEPS = 500  # Beyond that the oldest two become one, which can only be undone together.
MOST_BYTES = 8 << 20
LARGEST = 3 * MOST_BYTES  # The tree itself, which can be deleted in one step, is sent as up to MOST_BYTES.
EARLIER = "Earlier changes"


def one_step(levels: FlatLevels, edits: Sequence[Edit]) -> Step:
    """Merge one or more edits into one step, each done on what those before it left. Raises Invalid when one cannot be
    done."""
    if len(edits) == 1:
        return apply_edit(levels, edits[0])
    after, done = levels, []
    for edit in edits:
        done.append(apply_edit(after, edit))
        after = redo(after, done[-1])
    label = f"{done[0].label} and {len(done) - 1:,} more"
    return Step(label, differences(levels, after), done[-1].level_id)


def at_most(steps: Sequence[Step], base: FlatLevels) -> list[Step]:
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
