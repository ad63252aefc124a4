"""Three-way merge of one attribute, part by part: the change of a draft, and the one that was saved meanwhile."""

from __future__ import annotations

from typing import Any

from app.domain.taxonomy.levels.flat import Record

# What belongs together: renamed and merged values say nothing without the list that offers them, a unit nothing without
# numbers.
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("name", ("name",)),
    ("help text", ("helpText",)),
    ("type, unit and values", ("type", "unit", "allowedValues", "renamedValues", "mergedValues")),
    ("validation", ("validation",)),
    ("display", ("displayOnProductPage", "displayLabel")),
)


def merged_attribute(old: Record | None, mine: Record, theirs: Record | None) -> tuple[Record | None, list[str]]:
    """Return the merged definition, None where the attribute is deleted, and the rest of a sentence about each
    conflict."""
    if old is None:
        return _both_added(mine, theirs)
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


def _both_added(mine: Record, theirs: Record | None) -> tuple[Record, list[str]]:
    if theirs is None:
        return mine, []
    alike = all(_part(mine, names) == _part(theirs, names) for _, names in PARTS)
    return theirs, [] if alike else ["was not added: another user added one with this id meanwhile"]


def _part(attribute: Record, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: attribute[name] for name in names if attribute.get(name) not in (None, "", False, [], {})}
