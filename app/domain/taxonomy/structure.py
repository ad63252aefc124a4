"""From a tree that somebody sent to one that can be stored: normalise first, then say everything that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.shared.addresses import free_slug, slug
from app.domain.taxonomy.drafts import (
    AllowedValue,
    AttributeDraft,
    LevelDraft,
    StructureProblem,
    every_level,
    read_levels,
)
from app.domain.taxonomy.reserved import is_reserved
from app.domain.taxonomy.validation import problems_of

LONGEST_GENERATED_ID = 50


@dataclass(frozen=True, slots=True)
class CheckedStructure:
    """`levels` is the stored form, without the records that hold a problem; `ids` maps ids that stood for new
    records (`new-…`) to the ones they got."""

    levels: list[dict[str, Any]]
    ids: dict[str, str]
    problems: tuple[StructureProblem, ...]


def check_structure(
    raw: Sequence[Any], existing_ids: Collection[str] = (), pointer: str = "#/rootLevels"
) -> CheckedStructure:
    """Normalise and validate. Ids in `existing_ids` (those of the stored taxonomy) keep their form whatever it is.

    Problems name records by the ids that were sent. Who saves whole or not at all looks at `problems`; an import
    takes `levels`, from which each smallest record with a problem (an allowed value, an attribute, a level with
    those below) was left out.
    """
    levels, problems = read_levels(list(raw), pointer)
    sent = _ids_by_place(levels)
    ids = normalise(levels)
    found = [*problems, *problems_of(levels, existing_ids)]
    levels = _without(levels, {problem.record for problem in found})
    while more := [problem for problem in problems_of(levels, existing_ids) if problem not in found]:
        found += more
        levels = _without(levels, {problem.record for problem in more})
    told = tuple(_told_with_sent_ids(problem, sent) for problem in found)
    return CheckedStructure([_stored_level(level, None, n) for n, level in enumerate(levels)], ids, told)


def _ids_by_place(levels: list[LevelDraft]) -> dict[str, str]:
    found = {}
    for level in every_level(levels):
        found[level.at] = level.id
        found |= {attribute.at: attribute.id for attribute in level.attributes}
    return found


def _told_with_sent_ids(problem: StructureProblem, sent: Mapping[str, str]) -> StructureProblem:
    """Whoever sent a new record knows it by the id that it had then; one that was blank helps nobody."""
    level_at, _, below = problem.record.partition("/attributes/")
    attribute_at = f"{level_at}/attributes/{below.partition('/')[0]}"
    return replace(problem, level_id=sent.get(level_at) or None, attribute_id=sent.get(attribute_at) or None)


def normalise(levels: list[LevelDraft]) -> dict[str, str]:
    """Blank and `new-…` ids become slugs of the names, allowed values are trimmed and told once each.
    Returns the new ids by the ids they replace."""
    ids: dict[str, str] = {}
    taken = {level.id for level in every_level(levels) if not level.has_generated_id}
    for level in every_level(levels):
        if level.has_generated_id:
            fresh = free_slug(slug(level.name, "level")[:LONGEST_GENERATED_ID].rstrip("-"), taken)
            _rename(level, fresh, ids)
            taken.add(fresh)
    for level in levels:
        _normalise_attributes(level, frozenset(), ids)
    return ids


def _rename(record: LevelDraft | AttributeDraft, fresh: str, ids: dict[str, str]) -> None:
    if record.id:
        ids[record.id] = fresh
    record.id = fresh


def _normalise_attributes(level: LevelDraft, above: frozenset[str], ids: dict[str, str]) -> None:
    taken = set(above) | {attribute.id for attribute in level.attributes if not attribute.has_generated_id}
    for attribute in level.attributes:
        if attribute.has_generated_id:
            wanted = slug(attribute.name, "attribute")[:LONGEST_GENERATED_ID].rstrip("-")
            fresh = free_slug(wanted, _TakenOrReserved(taken))
            _rename(attribute, fresh, ids)
            taken.add(fresh)
        attribute.allowed_values = _told_once(attribute.allowed_values)
    for child in level.children:
        _normalise_attributes(child, frozenset(taken), ids)


class _TakenOrReserved:
    def __init__(self, taken: Collection[str]) -> None:
        self._taken = taken

    def __contains__(self, wanted: object) -> bool:
        return wanted in self._taken or is_reserved(str(wanted))


def _told_once(values: list[AllowedValue]) -> list[AllowedValue]:
    kept: dict[Any, AllowedValue] = {}
    for allowed in values:
        if isinstance(allowed.value, str):
            allowed.value = allowed.value.strip()
        kept.setdefault(allowed.value if isinstance(allowed.value, str) else allowed.at, allowed)
    return list(kept.values())


def _without(levels: list[LevelDraft], records: Collection[str]) -> list[LevelDraft]:
    kept = [level for level in levels if level.at not in records]
    for level in kept:
        level.attributes = [attribute for attribute in level.attributes if attribute.at not in records]
        for attribute in level.attributes:
            attribute.allowed_values = [value for value in attribute.allowed_values if value.at not in records]
        level.children = _without(level.children, records)
    return kept


def _stored_level(level: LevelDraft, parent_id: str | None, order: int) -> dict[str, Any]:
    return {
        "levelId": level.id,
        "name": level.name,
        "description": level.description,
        "parentLevelId": parent_id,
        "displayOrder": order,
        "attributes": [_stored_attribute(attribute, place) for place, attribute in enumerate(level.attributes)],
        "children": [_stored_level(child, level.id, place) for place, child in enumerate(level.children)],
    }


def _stored_attribute(attribute: AttributeDraft, order: int) -> dict[str, Any]:
    stored: dict[str, Any] = {
        "attributeId": attribute.id,
        "name": attribute.name,
        "type": attribute.type,
        "displayOnProductPage": bool(attribute.fields.get("displayOnProductPage")),
        "displayOrder": order,
    }
    for name in ("helpText", "displayLabel"):
        if text := (attribute.fields.get(name) or "").strip():
            stored[name] = text
    if attribute.allowed_values:
        stored["allowedValues"] = [allowed.value for allowed in attribute.allowed_values]
    if attribute.validation:
        stored["validation"] = attribute.validation
    return stored
