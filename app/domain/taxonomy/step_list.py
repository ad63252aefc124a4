"""The steps of a draft: several edits as one step, and no more steps than can be kept."""

from __future__ import annotations

from collections.abc import Sequence

from app.domain.taxonomy.edits import Edit, Step, apply_edit, redo
from app.domain.taxonomy.flat import FlatLevels
from app.domain.taxonomy.steps import differences

MOST_STEPS = 500  # Beyond that the oldest two become one, which can only be taken back together.
EARLIER = "Earlier changes"


def one_step(levels: FlatLevels, edits: Sequence[Edit]) -> Step:
    """At least one edit, each done on what those before it left. Raises Invalid when one cannot be done."""
    if len(edits) == 1:
        return apply_edit(levels, edits[0])
    after, done = levels, []
    for edit in edits:
        done.append(apply_edit(after, edit))
        after = redo(after, done[-1])
    label = f"{done[0].label} and {len(done) - 1:,} more"
    return Step(label, differences(levels, after), done[-1].level_id)


def at_most(steps: Sequence[Step], base: FlatLevels) -> list[Step]:
    """`base` is what the first step was made on."""
    kept = list(steps)
    while len(kept) > MOST_STEPS:
        both = redo(redo(base, kept[0]), kept[1])
        kept = [Step(EARLIER, differences(base, both), kept[1].level_id), *kept[2:]]
    return kept
