"""The rules of a normalised tree. Every problem is reported at once, with its place and the record that holds it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from app.domain.shared.problems import Problem
from app.domain.shared.text import UNPRINTABLE, block_problems, fold, is_printable, is_unseen, line_problems
from app.domain.taxonomy.tree import AttributeType
from app.domain.taxonomy.validation.level_drafts import (
    DEEPEST,
    MOST_PROBLEMS,
    AttributeDraft,
    LevelDraft,
    StructureProblem,
    every_level,
    is_reserved,
)
from app.domain.taxonomy.values import LARGEST_NUMBER, LONGEST_UNIT, LONGEST_VALUE, pattern_problem

MOST_LEVELS = 2_000
MOST_ATTRIBUTES = 200  # On one level.
MOST_VALUES = 1_000  # Of one attribute.
MOST_PATTERNS = 500  # Different ones of all attributes; each takes up to 2 ms to look at.
LARGEST_LENGTH = 1_000_000  # Of maxLength, which may well be beyond what any value has.
LONGEST_NAME = 200
LONGEST_ID = 120
LONGEST_ALLOWED_VALUE = 2_000
LONGEST_TEXT = 2_000
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*", re.ASCII)
MOST_OTHER_NAMES = 20  # Of one level.
LONGEST_OTHER_NAME = 60
PLACE = "/otherNames/"


class Exemptions(NamedTuple):
    """The ids that may have any form, and the patterns that were checked, each with its problem or None."""

    ids: frozenset[str]
    patterns: dict[str, str | None]

    @classmethod
    def of(cls, ids: Collection[str] = (), patterns: Iterable[str] = ()) -> Exemptions:
        return cls(frozenset(ids), dict.fromkeys(patterns))

    def pattern_problem(self, pattern: str) -> str | None:
        if pattern not in self.patterns:
            self.patterns[pattern] = pattern_problem(pattern)
        return self.patterns[pattern]


def problems_of(levels: list[LevelDraft], exempt: Exemptions) -> list[StructureProblem]:
    """Return the problems of the levels, at most the first MOST_PROBLEMS."""
    return list(islice(_level_problems(levels, "", 1, set(), exempt), MOST_PROBLEMS))


def patterns_problem(levels: list[LevelDraft]) -> StructureProblem | None:
    """Return the problem of too many patterns, or None. Called before any is compiled."""
    attributes = (attribute for level in every_level(levels) for attribute in level.attributes)
    count = len({attribute.validation["pattern"] for attribute in attributes if "pattern" in attribute.validation})
    if count <= MOST_PATTERNS:
        return None
    message = f"The attributes of a taxonomy use at most {MOST_PATTERNS:,} different patterns; these are {count:,}."
    return StructureProblem("too_many_patterns", message, "#/rootLevels", record="#")


def count_problem(count: int) -> StructureProblem | None:
    """Return the problem of too many levels, or None."""
    if count <= MOST_LEVELS:
        return None
    message = f"A taxonomy has at most {MOST_LEVELS:,} levels; these are {count:,}."
    return StructureProblem("too_many_levels", message, "#/rootLevels", record="#")


def _level_problems(
    levels: list[LevelDraft], parent_id: str, depth: int, seen_ids: set[str], exempt: Exemptions
) -> Iterator[StructureProblem]:
    names: set[str] = set()
    for level in levels:
        for code, message, place in _problems_of_level(level, parent_id, depth, names, seen_ids, exempt):
            pointer = f"{level.at}{place}"
            record = pointer if place.startswith(PLACE) else level.at
            yield StructureProblem(code, message, pointer, level.sent_id or None, None, record)
        names.add(level.name.casefold())
        seen_ids.add(level.id)
        for attribute, problem in _attributes_problems(level, exempt):
            ids = level.sent_id or None, attribute.sent_id or None
            yield StructureProblem(problem.code, problem.message, problem.pointer, *ids, _record(attribute, problem))
        yield from _level_problems(level.children, level.id, depth + 1, seen_ids, exempt)


def _record(attribute: AttributeDraft, problem: Problem) -> str:
    """Return the pointer to the record that a problem leaves out: one allowed value, or the attribute."""
    return problem.pointer if problem.pointer.startswith(f"{attribute.at}/allowedValues/") else attribute.at


def _problems_of_level(
    level: LevelDraft, parent_id: str, depth: int, names: set[str], seen_ids: set[str], exempt: Exemptions
) -> Iterator[tuple[str, str, str]]:
    if depth > DEEPEST:
        yield "too_deep", f"Levels nest at most {DEEPEST} deep.", ""
    yield from _name_problems("The level", level.name)
    if level.name and level.name.casefold() in names:
        yield "duplicate_name", f"“{level.name[:80]}” is the name of two levels side by side.", "/name"
    yield from other_names_problems(level)
    yield from _text_problems(level.description, "The description", "/description")
    if level.id in seen_ids:
        yield "duplicate_id", f"Two levels have the id “{level.id[:80]}”.", "/levelId"
    if level.id not in exempt.ids and (message := _id_problem(level.id)):
        yield "invalid_id", message, "/levelId"
    if level.parent_id not in ("", parent_id):
        message = f"The level names “{level.parent_id[:80]}” as its parent but stands below “{parent_id or 'none'}”."
        yield "wrong_parent", message, "/parentLevelId"


def _name_problems(what: str, name: str) -> Iterator[tuple[str, str, str]]:
    if not name:
        yield "name_missing", f"{what} has no name.", "/name"
    for problem in line_problems(name, f"{what}’s name", LONGEST_NAME, "/name"):
        yield problem.code, problem.message, "/name"


def _text_problems(text: str, label: str, place: str) -> Iterator[tuple[str, str, str]]:
    if text:
        for problem in block_problems(text, label, LONGEST_TEXT, place):
            yield problem.code, problem.message, place


def _id_problem(record_id: str) -> str | None:
    if len(record_id) > LONGEST_ID:
        return f"The id is longer than {LONGEST_ID} characters."
    if not ID.fullmatch(record_id):
        return f"The id “{record_id[:80]}” may hold only letters, digits, hyphens and underscores after the first."
    return None


def _attributes_problems(level: LevelDraft, exempt: Exemptions) -> Iterator[tuple[AttributeDraft, Problem]]:
    seen: set[str] = set()
    for place, attribute in enumerate(level.attributes):
        for code, message, where in _attribute_problems(attribute, seen, exempt):
            yield attribute, Problem(code, message, f"{attribute.at}{where}")
        if place >= MOST_ATTRIBUTES:
            yield attribute, Problem("too_many", f"A level has at most {MOST_ATTRIBUTES} attributes.", attribute.at)
        for problem in _values_problems(attribute):
            yield attribute, problem
        seen.add(attribute.id)


def _attribute_problems(
    attribute: AttributeDraft, seen: set[str], exempt: Exemptions
) -> Iterator[tuple[str, str, str]]:
    yield from _attribute_id_problems(attribute, seen, exempt)
    yield from _name_problems("The attribute", attribute.name)
    for name in ("helpText", "displayLabel"):
        if text := attribute.fields.get(name):
            yield from _text_problems(text, f"“{name}”", f"/{name}")
    if attribute.fields.get("unit"):
        yield from _unit_problems(attribute)
    if attribute.known_type is None:
        yield "unknown_type", f"There is no attribute type “{attribute.type[:40]}”.", "/type"
    if attribute.validation:
        yield from _validation_problems(attribute.validation, exempt)


def _unit_problems(attribute: AttributeDraft) -> Iterator[tuple[str, str, str]]:
    unit = attribute.fields["unit"].strip()
    if unit and attribute.known_type not in (None, AttributeType.NUMBER):
        yield "unit_not_allowed", f"An attribute of type {attribute.type} has no unit.", "/unit"
    for problem in line_problems(unit, "The unit", LONGEST_UNIT, "/unit"):
        yield problem.code, problem.message, "/unit"


def _attribute_id_problems(
    attribute: AttributeDraft, seen: set[str], exempt: Exemptions
) -> Iterator[tuple[str, str, str]]:
    if attribute.id in seen:
        message = f"Two attributes of the level have the id “{attribute.id[:80]}”."
        yield "duplicate_attribute_id", message, "/attributeId"
    if attribute.id in exempt.ids:
        return
    if id_message := _id_problem(attribute.id):
        yield "invalid_id", id_message, "/attributeId"
    elif is_reserved(attribute.id):
        yield "reserved_id", f"“{attribute.id}” is a name that the shop uses for something else.", "/attributeId"


def _validation_problems(rules: dict[str, Any], exempt: Exemptions) -> Iterator[tuple[str, str, str]]:
    for low, high in (("minLength", "maxLength"), ("minValue", "maxValue")):
        if low in rules and high in rules and rules[low] > rules[high]:
            yield "min_greater_than_max", f"{low} is greater than {high}.", f"/validation/{low}"
    yield from _bound_problems(rules)
    if "pattern" in rules and (message := exempt.pattern_problem(rules["pattern"])):
        yield "invalid_pattern", message, "/validation/pattern"
    yield from _text_problems(rules.get("errorMessage", ""), "The message", "/validation/errorMessage")


def _bound_problems(rules: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for name in ("minLength", "maxLength"):
        if rules.get(name, 0) < 0:
            yield "negative_length", f"{name} is below 0.", f"/validation/{name}"
    if rules.get("maxLength", 0) > LARGEST_LENGTH:
        yield "out_of_range", f"maxLength is beyond {LARGEST_LENGTH:,}.", "/validation/maxLength"
    if rules.get("minLength", 0) > LONGEST_VALUE:
        yield "out_of_range", f"No value is longer than {LONGEST_VALUE:,} characters.", "/validation/minLength"
    for name in ("minValue", "maxValue"):
        if not abs(rules.get(name, 0)) <= LARGEST_NUMBER:
            yield "out_of_range", f"{name} is beyond ±10¹⁵.", f"/validation/{name}"


def _values_problems(attribute: AttributeDraft) -> Iterator[Problem]:
    kind = attribute.known_type
    at = f"{attribute.at}/allowedValues"
    values = list(attribute.allowed_values.values())
    if kind is not None and kind.is_choice != bool(values):
        if values:
            yield Problem("values_not_allowed", f"An attribute of type {kind.value} has no list of values.", at)
        else:
            yield Problem("values_missing", f"“{attribute.name[:80]}” offers a choice but has no values.", at)
    if len(values) > MOST_VALUES:
        yield Problem("too_many", f"An attribute has at most {MOST_VALUES:,} values.", at)
    if values and not _are_plain(values):
        yield from _single_value_problems(attribute)


def _are_plain(values: list[Any]) -> bool:
    """Whether the values have nothing wrong with them. That holds for nearly all lists, and is seen faster of all
    values together than of each. No value may contain a comma, so that one can stand between them."""
    try:
        together = ",".join(values)
    except TypeError:
        return False
    folded = together.casefold().split(",")
    if len(folded) > len(values) or "" in folded or not is_printable(together):
        return False
    return len(set(folded)) == len(folded) and max(map(len, folded)) <= LONGEST_ALLOWED_VALUE


def _single_value_problems(attribute: AttributeDraft) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for place, value in attribute.allowed_values.items():
        if problem := _value_problem(value, seen):
            yield Problem(*problem, attribute.value_at(place))
        else:
            seen[value.casefold()] = value


def _value_problem(value: Any, seen: dict[str, str]) -> tuple[str, str] | None:
    if not isinstance(value, str):
        return "wrong_type", "An allowed value must be a text."
    if not value:
        return "blank_value", "An allowed value is blank."
    if "," in value:
        return "comma_in_value", f"The allowed value “{value[:80]}” contains a comma."
    if len(value) > LONGEST_ALLOWED_VALUE or UNPRINTABLE.search(value):
        return "invalid_value", f"“{value[:80]}” cannot be shown or is over {LONGEST_ALLOWED_VALUE:,} characters long."
    if earlier := seen.get(value.casefold()):
        return "duplicate_value", f"The allowed values “{earlier[:80]}” and “{value[:80]}” differ only in case."
    return None


def other_names_problems(level: LevelDraft) -> Iterator[tuple[str, str, str]]:
    """Yield (code, message, place) of each invalid other name of a level, such as “SSD” of “Solid-state drives”:
    searches for one mean the level as its own name does. No two may differ only in case or accents, nor one from the
    level's own name."""
    seen = {fold(level.name): level.name}
    for number, (place, name) in enumerate(level.other_names.items(), 1):
        if number > MOST_OTHER_NAMES:
            yield "too_many", f"A level has at most {MOST_OTHER_NAMES} other names.", f"{PLACE}{place}"
        elif problem := _other_name_problem(name, seen):
            yield *problem, f"{PLACE}{place}"
        else:
            seen[fold(name)] = name


def _other_name_problem(name: object, seen: dict[str, str]) -> tuple[str, str] | None:
    if not isinstance(name, str):
        return "wrong_type", "Another name of a level must be a text."
    if is_unseen(name):
        return "blank_name", "Another name of the level is blank."
    if "," in name:
        return "comma_in_name", f"The other name “{name[:80]}” contains a comma."
    if len(name) > LONGEST_OTHER_NAME:
        message = f"The other name “{name[:40]}…” is {len(name):,} characters long; at most {LONGEST_OTHER_NAME} fit."
        return "too_long", message
    if UNPRINTABLE.search(name):
        return "unprintable", "Another name of the level contains characters that cannot be shown."
    if earlier := seen.get(fold(name)):
        return "duplicate_name", f"“{earlier[:80]}” and “{name}” are the same name of the level. Keep one of them."
    return None
