"""From a tree that somebody sent to one that can be stored: normalise first, then say everything that is wrong."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.levels.flat import FlatLevels, nest
from app.domain.taxonomy.levels.renames import split_renames
from app.domain.taxonomy.structure.normalisation import NOTHING_IN_USE, InUse, normalise
from app.domain.taxonomy.structure.sent import (
    MOST_PROBLEMS,
    AttributeDraft,
    LevelDraft,
    StructureProblem,
    every_level,
    read_levels,
    too_many_problems,
)
from app.domain.taxonomy.structure.validation import Known, count_problem, patterns_problem, problems_of


@dataclass(frozen=True, slots=True)
class CheckedStructure:
    """`levels` is the stored form, without the records that hold a problem; `ids` maps ids that stood for new
    records (`new-…`) to the ones they got. `further` are problems that arose only because something was left out,
    like a choice whose last value went."""

    levels: list[dict[str, Any]]
    ids: dict[str, str]
    problems: tuple[StructureProblem, ...]
    further: tuple[StructureProblem, ...] = ()


def check_structure(
    raw: Sequence[Any],
    existing_ids: Collection[str] = (),
    pointer: str = "#/rootLevels",
    in_use: InUse = NOTHING_IN_USE,
    known_patterns: Collection[str] = (),
) -> CheckedStructure:
    """Normalise and validate. Ids in `existing_ids` (those of the stored taxonomy) keep their form; those
    that are `in_use` are not given to new records. `known_patterns` (those of the stored taxonomy) are right.

    Problems name records by the ids that were sent. Who saves whole or not at all looks at `problems`; an import
    takes `levels`, from which each smallest record with a problem (an allowed value, an attribute, a level with
    those below) was left out. Where a problem concerns the whole tree (its `record` is "#"), nothing is left, and
    nothing more was looked at.
    """
    levels, problems = read_levels(raw, pointer)
    if too_many := count_problem(sum(1 for _ in every_level(levels))):
        problems.append(too_many)
    if too_many := patterns_problem(levels):
        problems.append(too_many)
    if any(problem.record == "#" for problem in problems):
        return CheckedStructure([], {}, tuple(problems))
    ids = normalise(levels, existing_ids, in_use)
    known = Known.good(existing_ids, known_patterns)
    problems += problems_of(levels, known)
    if len(problems) >= MOST_PROBLEMS:
        return CheckedStructure([], {}, (*problems[:MOST_PROBLEMS], too_many_problems()))
    levels, further = _sound(levels, problems, known)
    stored = [_stored_level(level, None, place) for place, level in enumerate(levels)]
    return CheckedStructure(stored, ids, tuple(dict.fromkeys(problems)), further)


def _sound(
    levels: list[LevelDraft], problems: Sequence[StructureProblem], known: Known
) -> tuple[list[LevelDraft], tuple[StructureProblem, ...]]:
    """The levels without the records that hold a problem, and the problems that this made."""
    told, further = set(problems), list[StructureProblem]()
    more = list(problems)
    while more:
        levels = _without(levels, {problem.record for problem in more})
        more = [problem for problem in problems_of(levels, known) if problem not in told]
        told.update(more)
        further += more
    return levels, tuple(further)


def draft_problems(
    levels: FlatLevels, base: FlatLevels, existing_ids: Collection[str], known_patterns: Collection[str] = ()
) -> list[StructureProblem]:
    """What is wrong with a draft of which `base` is the stored tree. Attributes of levels that are the very records
    of `base` were checked when it was saved and are not looked at again, so it takes as long as the draft is large."""
    thin = {
        level_id: level | {"attributes": []} if level is base.get(level_id) else level
        for level_id, level in levels.items()
    }
    return list(check_structure(split_renames(nest(thin))[0], existing_ids, known_patterns=known_patterns).problems)


def _without(levels: list[LevelDraft], records: Collection[str]) -> list[LevelDraft]:
    kept = [level for level in levels if level.at not in records]
    for level in kept:
        level.attributes = [attribute for attribute in level.attributes if attribute.at not in records]
        for attribute in level.attributes:
            attribute.allowed_values = {
                place: value
                for place, value in attribute.allowed_values.items()
                if attribute.value_at(place) not in records
            }
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
        stored["allowedValues"] = list(attribute.allowed_values.values())
    if attribute.validation:
        stored["validation"] = attribute.validation
    return stored
