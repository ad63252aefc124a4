"""The archive slot of a product: the classification it had when another taxonomy became active, and what of that fits
the taxonomy that is active now. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.taxonomy.levels.completeness import completeness
from app.domain.taxonomy.levels.tree import TaxonomyTree
from app.domain.taxonomy.levels.values import DroppedValue, Value, check_values


@dataclass(frozen=True, slots=True)
class Restored:
    """The classification that a product gets back: `level_id`, valid `values` and its completeness in per cent. `left`
    is the slot afterwards, with the values that fit no more; None when nothing is left. `dropped` has the reasons why
    they do not fit."""

    level_id: str
    values: dict[str, Value]
    score: int
    left: dict[str, Any] | None
    dropped: tuple[DroppedValue, ...] = field(default=())

    @property
    def left_values(self) -> dict[str, Any]:
        return {} if self.left is None else dict(self.left["attributes"])


def restored(tree: TaxonomyTree, slot: Mapping[str, Any]) -> Restored | None:
    """Return the classification that the slot restores, None when the tree has no level of the slot's id: then all
    stays in the slot. It does not matter from which taxonomy the slot is, since a copy that was worked over keeps the
    ids of its levels."""
    level_id, archived = slot.get("levelId"), slot.get("attributes") or {}
    if not isinstance(level_id, str) or level_id not in tree.levels:
        return None
    attributes = tree.applicable_attributes(level_id)
    values, dropped = check_values(attributes, archived)
    left_values = _left(archived, dropped)
    left = {**slot, "attributes": left_values} if left_values else None
    return Restored(level_id, values, completeness(attributes, values), left, tuple(dropped))


def _left(archived: Mapping[str, Any], dropped: list[DroppedValue]) -> dict[str, Any]:
    """Return the archived values that were dropped; of a multi-select only the dropped ones."""
    left: dict[str, Any] = {}
    for value in dropped:
        if isinstance(archived[value.attribute_id], list) and not isinstance(value.value, list):
            left.setdefault(value.attribute_id, []).append(value.value)
        else:
            left[value.attribute_id] = archived[value.attribute_id]
    return left
