"""From a tree as a client sent it to one that can be stored: normalise it, then report every problem."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.taxonomy.renames import split_renames
from app.domain.taxonomy.stored_tree import FlatLevels, Record, changed_levels, made_once, nest, path, stored_records
from app.domain.taxonomy.validation.level_drafts import (
    MOST_PROBLEMS,
    NOTHING_IN_USE,
    AttributeDraft,
    InUse,
    LevelDraft,
    StructureProblem,
    every_level,
    normalise,
    read_levels,
    too_many_problems,
)
from app.domain.taxonomy.validation.rules import MOST_LEVELS, Exemptions, count_problem, patterns_problem, problems_of

OWN = frozenset(("levelId", "name", "otherNames", "description"))  # Fields of a level without those about others.
FEW_CHANGES = 200  # Levels; with more of them the whole tree is looked at.


@dataclass(frozen=True, slots=True)
class CheckedStructure:
    """The outcome of checking a tree. `levels` is the stored form, without the records that hold a problem; `ids` maps
    ids that stood for new records (`new-…`) to the ones they got. `further` are problems that arose only because
    something was left out, like a choice whose last value went."""

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
    """Normalise and validate a tree. Ids in `existing_ids` (those of the stored taxonomy) keep their form; those that
    are `in_use` are not given to new records. `known_patterns` (those of the stored taxonomy) are not checked again.

    Problems name records by the ids that were sent. A save, whole or not at all, looks at `problems`; an import takes
    `levels`, from which each smallest record with a problem (an allowed value, another name, an attribute, a level with
    those below) was left out. Where a problem concerns the whole tree (its `record` is "#"), nothing is left, and
    nothing more was looked at.
    """
    exempt = Exemptions.of(existing_ids, known_patterns)
    levels, ids, problems = _normalise_and_check(raw, pointer, in_use, exempt)
    levels, further = _leave_out_problems(levels, problems, exempt)
    stored = [_stored_level(level, None, place) for place, level in enumerate(levels)]
    return CheckedStructure(stored, ids, problems, further)


def _normalise_and_check(
    raw: Sequence[Any], pointer: str, in_use: InUse, exempt: Exemptions
) -> tuple[list[LevelDraft], dict[str, str], tuple[StructureProblem, ...]]:
    """The tree, the new ids by those that they replace, and every problem; no tree where a problem concerns it all."""
    levels, problems = read_levels(raw, pointer)
    for too_many in (count_problem(sum(1 for _ in every_level(levels))), patterns_problem(levels)):
        if too_many:
            problems.append(too_many)
    if any(problem.record == "#" for problem in problems):
        return [], {}, tuple(problems)
    ids = normalise(levels, exempt.ids, in_use)
    problems += problems_of(levels, exempt)
    if len(problems) >= MOST_PROBLEMS:
        return [], {}, (*problems[:MOST_PROBLEMS], too_many_problems())
    return levels, ids, tuple(dict.fromkeys(problems))


def _leave_out_problems(
    levels: list[LevelDraft], problems: Sequence[StructureProblem], exempt: Exemptions
) -> tuple[list[LevelDraft], tuple[StructureProblem, ...]]:
    """Return the levels without the records that hold a problem, and the further problems that leaving these out
    caused."""
    reported, further = set(problems), list[StructureProblem]()
    more = list(problems)
    while more:
        levels = _without_records(levels, {problem.record for problem in more})
        more = [problem for problem in problems_of(levels, exempt) if problem not in reported]
        reported.update(more)
        further += more
    return levels, tuple(further)


def draft_problems(
    levels: FlatLevels, base: FlatLevels, root_levels: Sequence[Mapping[str, Any]]
) -> tuple[StructureProblem, ...]:
    """Return the problems of a draft of the stored tree `root_levels`, whose levels are `base`.

    Attributes of levels that are the very records of `base` were checked when it was saved. Where the stored tree has
    no problem, a draft can have one only near what was changed, and the rest of the tree is not looked at.
    """
    changed = changed_levels(levels, base)
    if len(changed) <= FEW_CHANGES and len(levels) <= MOST_LEVELS and not _stored_problems(root_levels):
        levels = _levels_near(levels, base, changed)
    return _problems_but_for_attributes(levels, base, root_levels)


@made_once
def _stored_problems(root_levels: Sequence[Mapping[str, Any]]) -> tuple[StructureProblem, ...]:
    return _problems_in(_without_attributes(root_levels), root_levels)


def _without_attributes(root_levels: Sequence[Mapping[str, Any]]) -> list[Record]:
    """The levels of a stored tree with what is their own; the nesting says their parents and places."""
    return [
        {name: value for name, value in level.items() if name in OWN}
        | {"children": _without_attributes(level.get("children") or ())}
        for level in root_levels
    ]


def _problems_but_for_attributes(
    levels: FlatLevels, base: FlatLevels, root_levels: Sequence[Mapping[str, Any]]
) -> tuple[StructureProblem, ...]:
    """Return the problems of a draft but for the attributes of levels that are records of `base`."""
    thin = {
        level_id: level | {"attributes": []} if level is base.get(level_id) else level
        for level_id, level in levels.items()
    }
    return _problems_in(split_renames(nest(thin))[0], root_levels)


def _problems_in(
    proposed: Sequence[Mapping[str, Any]], root_levels: Sequence[Mapping[str, Any]]
) -> tuple[StructureProblem, ...]:
    """Return the problems of a tree that is to replace the stored one, which is `root_levels`."""
    exempt = Exemptions.of(ids_of(root_levels), patterns_of(root_levels))
    return _normalise_and_check(proposed, "#/rootLevels", NOTHING_IN_USE, exempt)[2]


def _levels_near(levels: FlatLevels, base: FlatLevels, changed: Sequence[Record]) -> FlatLevels:
    """The changed levels with those beside them (of which no two may have one name), all above with those beside
    them (so that each keeps its place), and all below what moved (which may be too deep)."""
    parents = {None, *(above for level in changed for above in path(levels, level["parentLevelId"]))}
    moved = {
        level["levelId"]
        for level in changed
        if (stored := base.get(level["levelId"])) and stored["parentLevelId"] != level["parentLevelId"]
    }
    near: FlatLevels = {}
    for level_id, level in levels.items():
        if (parent_id := level["parentLevelId"]) in parents or parent_id in moved:
            near[level_id] = level
            if parent_id in moved:
                moved.add(level_id)
    return near


@made_once
def ids_of(root_levels: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the ids of every level and attribute of a stored tree."""
    found: set[str] = set()
    for level in stored_records(root_levels):
        found.add(level["levelId"])
        found.update(attribute["attributeId"] for attribute in level.get("attributes") or ())
    return frozenset(found)


@made_once
def patterns_of(root_levels: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """Return the patterns of every attribute of a stored tree."""
    return frozenset(
        pattern
        for level in stored_records(root_levels)
        for attribute in level.get("attributes") or ()
        if (rules := attribute.get("validation")) and (pattern := rules.get("pattern"))
    )


def _without_records(levels: list[LevelDraft], records: Collection[str]) -> list[LevelDraft]:
    kept = [level for level in levels if level.at not in records]
    for level in kept:
        level.other_names = {
            place: name for place, name in level.other_names.items() if level.other_name_at(place) not in records
        }
        level.attributes = [attribute for attribute in level.attributes if attribute.at not in records]
        for attribute in level.attributes:
            attribute.allowed_values = {
                place: value
                for place, value in attribute.allowed_values.items()
                if attribute.value_at(place) not in records
            }
        level.children = _without_records(level.children, records)
    return kept


def _stored_level(level: LevelDraft, parent_id: str | None, order: int) -> dict[str, Any]:
    other_names = {"otherNames": list(level.other_names.values())} if level.other_names else {}
    return {
        "levelId": level.id,
        "name": level.name,
        **other_names,
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
    for name in ("helpText", "unit", "displayLabel"):
        if text := (attribute.fields.get(name) or "").strip():
            stored[name] = text
    if attribute.allowed_values:
        stored["allowedValues"] = list(attribute.allowed_values.values())
    if attribute.validation:
        stored["validation"] = attribute.validation
    return stored
