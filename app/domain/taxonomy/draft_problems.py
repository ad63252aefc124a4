"""What is wrong with a draft, told by the ids that its records have there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.domain.taxonomy.drafts import StructureProblem

START = "#/rootLevels"


def by_draft_ids(
    root_levels: Sequence[Mapping[str, Any]], problems: Iterable[StructureProblem]
) -> tuple[StructureProblem, ...]:
    """A check gives new records the ids that they would be saved under; in the draft they are still `new-…`. The
    place of each problem in the nested draft says which record is meant."""
    return tuple(_by_draft_ids(root_levels, problem) for problem in problems)


def _by_draft_ids(root_levels: Sequence[Mapping[str, Any]], problem: StructureProblem) -> StructureProblem:
    level_id = attribute_id = None
    inside: Any = root_levels
    for name in problem.record.removeprefix(START).split("/")[1:]:
        inside = inside[int(name)] if name.isdigit() else inside.get(name)
        if not isinstance(inside, dict):
            continue
        level_id = inside.get("levelId", level_id)
        attribute_id = inside.get("attributeId")
        if attribute_id is not None:
            break
    return replace(problem, level_id=level_id, attribute_id=attribute_id)
