"""The rules of a tree. Every problem is reported at once, with its place and the record that holds it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from app.domain.shared.problems import Problem
from app.domain.shared.text import UNPRINTABLE, block_problems, fold, is_printable, is_unseen, line_problems
from app.domain.taxonomy.tree import MANDATORY, NO_RULES, Attribute, AttributeType, Level, TaxonomyTree, Validation
from app.domain.taxonomy.validation.sent_tree import (
    DEEPEST,
    MOST_PROBLEMS,
    MOST_RECORDS,
    MOST_VALUES_IN_ALL,
    ROOT_LEVELS,
    TOO_MANY_RECORDS,
    TOO_MANY_VALUES,
    NewIds,
    SentTree,
    StructureProblem,
    attribute_place,
    is_reserved,
    other_name_place,
    value_place,
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


@dataclass(frozen=True)
class Checked:
    """What is checked: a tree with the ids that its new records get, without the records at the places `left_out`."""

    sent: SentTree
    ids: NewIds
    exempt: Exemptions
    left_out: frozenset[str] = frozenset()

    @cached_property
    def _texts(self) -> dict[str, dict[int, str]]:
        return {}

    @cached_property
    def _shortened(self) -> frozenset[str]:
        """The places of the lists of which an item is left out."""
        return frozenset(place.rpartition("/")[0] for place in self.left_out)

    def texts(self, items: Sequence[str], place: str) -> dict[int, str]:
        """Return the allowed values or other names at a place by their numbers: trimmed, and once each. What is no text
        stays, as a blank one, for the rules to report."""
        if (known := self._texts.get(place)) is not None:
            return known
        texts = dict(enumerate(map(str.strip, items)))
        if len(set(texts.values())) < len(texts):
            no_texts = {n for n in texts if f"{place}/{n}" in self.sent.no_texts}
            first = {text: n for n, text in reversed(texts.items()) if n not in no_texts}
            texts = {n: text for n, text in texts.items() if n in no_texts or first[text] == n}
        if place in self._shortened:
            texts = {n: text for n, text in texts.items() if f"{place}/{n}" not in self.left_out}
        self._texts[place] = texts
        return texts


def patterns_problem(tree: TaxonomyTree) -> StructureProblem | None:
    """Return the problem of too many patterns, or None. Called before any is compiled."""
    rules = (attribute.validation for level in tree.levels.values() for attribute in level.attributes)
    count = len({rule.pattern for rule in rules if rule.pattern})
    if count <= MOST_PATTERNS:
        return None
    message = f"The attributes of a taxonomy use at most {MOST_PATTERNS:,} different patterns; these are {count:,}."
    return StructureProblem("too_many_patterns", message, ROOT_LEVELS, record="#")


def size_problem(tree: TaxonomyTree) -> StructureProblem | None:
    """Return the problem of too many records, allowed values or levels, or None."""
    attributes = [attribute for level in tree.levels.values() for attribute in level.attributes]
    if len(tree.levels) + len(attributes) > MOST_RECORDS:
        return StructureProblem("too_large", TOO_MANY_RECORDS, ROOT_LEVELS, record="#")
    if sum(len(attribute.allowed_values) for attribute in attributes) > MOST_VALUES_IN_ALL:
        return StructureProblem("too_large", TOO_MANY_VALUES, ROOT_LEVELS, record="#")
    if len(tree.levels) <= MOST_LEVELS:
        return None
    message = f"A taxonomy has at most {MOST_LEVELS:,} levels; these are {len(tree.levels):,}."
    return StructureProblem("too_many_levels", message, ROOT_LEVELS, record="#")


def problems_of(checked: Checked) -> list[StructureProblem]:
    """Return the problems, at most the first MOST_PROBLEMS."""
    return list(islice(_problems(checked), MOST_PROBLEMS))


def _problems(checked: Checked) -> Iterator[StructureProblem]:
    depths: dict[str | None, int] = {None: 0}  # By the places of the levels that are not left out.
    names: dict[str | None, set[str]] = {}  # Of the levels side by side, by the place of the one above.
    seen_ids: set[str] = set()
    for place, level in checked.sent.tree.levels.items():
        if place in checked.left_out or level.parent_id not in depths:
            continue
        depths[place] = depths[level.parent_id] + 1
        if depths[place] > DEEPEST:
            yield _level_problem(level, "too_deep", f"Levels nest at most {DEEPEST} deep.", place, place)
        beside = names.setdefault(level.parent_id, set())
        for code, message, field in _level_problems(checked, place, level, beside, seen_ids):
            pointer = f"{place}{field}"
            is_other_name = field.startswith("/otherNames/")
            yield _level_problem(level, code, message, pointer, pointer if is_other_name else place)
        beside.add(level.name.casefold())
        seen_ids.add(checked.ids.of_level(place, level))
        for attribute, problem, record in _attributes_problems(checked, place, level):
            ids = level.id or None, attribute.id or None
            yield StructureProblem(problem.code, problem.message, problem.pointer, *ids, record)


def _level_problem(level: Level, code: str, message: str, pointer: str, record: str) -> StructureProblem:
    return StructureProblem(code, message, pointer, level.id or None, None, record)


def _level_problems(
    checked: Checked, place: str, level: Level, names: set[str], seen_ids: set[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield (code, message, field) of each problem of a level itself."""
    yield from _name_problems("The level", level.name)
    if level.name and level.name.casefold() in names:
        yield "duplicate_name", f"“{level.name[:80]}” is the name of two levels side by side.", "/name"
    yield from _other_names_problems(checked, place, level)
    yield from _text_problems(level.description, "The description", "/description")
    level_id = checked.ids.of_level(place, level)
    if level_id in seen_ids:
        yield "duplicate_id", f"Two levels have the id “{level_id[:80]}”.", "/levelId"
    if level_id not in checked.exempt.ids and (message := _id_problem(level_id)):
        yield "invalid_id", message, "/levelId"
    if place in checked.sent.parents and (message := _parent_problem(checked, checked.sent.parents[place], level)):
        yield "wrong_parent", message, "/parentLevelId"


def _parent_problem(checked: Checked, named: str, level: Level) -> str | None:
    """Return the problem of a level that names another parent than the one below which it stands. It may call a new
    one by the id with which it was sent."""
    parent_id = ""
    if level.parent_id is not None:
        above = checked.sent.tree.levels[level.parent_id]
        parent_id = checked.ids.of_level(level.parent_id, above)
        if named in (parent_id, above.id):
            return None
    return f"The level names “{named[:80]}” as its parent but stands below “{parent_id or 'none'}”."


def _other_names_problems(checked: Checked, place: str, level: Level) -> Iterator[tuple[str, str, str]]:
    """Yield the problems of the other names of a level, such as “SSD” of “Solid-state drives”: searches for one mean
    the level as its own name does. No two may differ only in case or accents, nor one from the level's own name."""
    if not level.other_names:
        return
    seen = {fold(level.name): level.name}
    names = checked.texts(level.other_names, f"{place}/otherNames")
    for number, (at, name) in enumerate(names.items(), 1):
        if number > MOST_OTHER_NAMES:
            yield "too_many", f"A level has at most {MOST_OTHER_NAMES} other names.", f"/otherNames/{at}"
        elif other_name_place(place, at) in checked.sent.no_texts:
            yield "wrong_type", "Another name of a level must be a text.", f"/otherNames/{at}"
        elif problem := _other_name_problem(name, seen):
            yield *problem, f"/otherNames/{at}"
        else:
            seen[fold(name)] = name


def _other_name_problem(name: str, seen: dict[str, str]) -> tuple[str, str] | None:
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


def _attributes_problems(checked: Checked, place: str, level: Level) -> Iterator[tuple[Attribute, Problem, str]]:
    """Yield each problem of the attributes of a level, with the attribute and the place of the record that holds it."""
    seen: set[str] = set()
    kept = 0
    for number, attribute in enumerate(level.attributes):
        at = attribute_place(place, number)
        if at in checked.left_out:
            continue
        attribute_id = checked.ids.of_attribute(place, number, attribute)
        for code, message, field in _attribute_problems(checked.exempt, attribute, attribute_id, seen):
            yield attribute, Problem(code, message, f"{at}{field}"), at
        kept += 1
        if kept > MOST_ATTRIBUTES:
            yield attribute, Problem("too_many", f"A level has at most {MOST_ATTRIBUTES} attributes.", at), at
        for problem in _values_problems(checked, attribute, at):
            is_of_one_value = problem.pointer.startswith(f"{at}/allowedValues/")
            yield attribute, problem, problem.pointer if is_of_one_value else at
        seen.add(attribute_id)


def _attribute_problems(
    exempt: Exemptions, attribute: Attribute, attribute_id: str, seen: set[str]
) -> Iterator[tuple[str, str, str]]:
    if attribute_id in seen:
        message = f"Two attributes of the level have the id “{attribute_id[:80]}”."
        yield "duplicate_attribute_id", message, "/attributeId"
    if attribute_id not in exempt.ids:
        yield from _attribute_id_problems(attribute_id)
    yield from _name_problems("The attribute", attribute.name)
    for field, text in (("helpText", attribute.help_text), ("displayLabel", attribute.display_label)):
        if text:
            yield from _text_problems(text, f"“{field}”", f"/{field}")
    if attribute.unit:
        yield from _unit_problems(attribute, attribute.unit.strip())
    if attribute.unknown_type is not None:
        yield "unknown_type", f"There is no attribute type “{attribute.unknown_type[:40]}”.", "/type"
    if attribute.validation not in (NO_RULES, MANDATORY):
        yield from _validation_problems(attribute.validation, exempt)


def _attribute_id_problems(attribute_id: str) -> Iterator[tuple[str, str, str]]:
    if id_message := _id_problem(attribute_id):
        yield "invalid_id", id_message, "/attributeId"
    elif is_reserved(attribute_id):
        yield "reserved_id", f"“{attribute_id}” is a name that the shop uses for something else.", "/attributeId"


def _name_problems(what: str, name: str) -> Iterator[tuple[str, str, str]]:
    if not name:
        yield "name_missing", f"{what} has no name.", "/name"
    for problem in line_problems(name, f"{what}’s name", LONGEST_NAME, "/name"):
        yield problem.code, problem.message, "/name"


def _text_problems(text: str, label: str, field: str) -> Iterator[tuple[str, str, str]]:
    if text:
        for problem in block_problems(text, label, LONGEST_TEXT, field):
            yield problem.code, problem.message, field


def _id_problem(record_id: str) -> str | None:
    if len(record_id) > LONGEST_ID:
        return f"The id is longer than {LONGEST_ID} characters."
    if not ID.fullmatch(record_id):
        return f"The id “{record_id[:80]}” may hold only letters, digits, hyphens and underscores after the first."
    return None


def _unit_problems(attribute: Attribute, unit: str) -> Iterator[tuple[str, str, str]]:
    if unit and attribute.unknown_type is None and attribute.type is not AttributeType.NUMBER:
        yield "unit_not_allowed", f"An attribute of type {attribute.type.value} has no unit.", "/unit"
    for problem in line_problems(unit, "The unit", LONGEST_UNIT, "/unit"):
        yield problem.code, problem.message, "/unit"


def _validation_problems(rules: Validation, exempt: Exemptions) -> Iterator[tuple[str, str, str]]:
    if rules.min_length is not None and rules.max_length is not None and rules.min_length > rules.max_length:
        yield "min_greater_than_max", "minLength is greater than maxLength.", "/validation/minLength"
    if rules.min_value is not None and rules.max_value is not None and rules.min_value > rules.max_value:
        yield "min_greater_than_max", "minValue is greater than maxValue.", "/validation/minValue"
    yield from _bound_problems(rules)
    if rules.pattern and (message := exempt.pattern_problem(rules.pattern)):
        yield "invalid_pattern", message, "/validation/pattern"
    yield from _text_problems(rules.error_message or "", "The message", "/validation/errorMessage")


def _bound_problems(rules: Validation) -> Iterator[tuple[str, str, str]]:
    for name, length in (("minLength", rules.min_length), ("maxLength", rules.max_length)):
        if length is not None and length < 0:
            yield "negative_length", f"{name} is below 0.", f"/validation/{name}"
    if (rules.max_length or 0) > LARGEST_LENGTH:
        yield "out_of_range", f"maxLength is beyond {LARGEST_LENGTH:,}.", "/validation/maxLength"
    if (rules.min_length or 0) > LONGEST_VALUE:
        yield "out_of_range", f"No value is longer than {LONGEST_VALUE:,} characters.", "/validation/minLength"
    for name, number in (("minValue", rules.min_value), ("maxValue", rules.max_value)):
        if not abs(number or 0) <= LARGEST_NUMBER:  # Nor is NaN.
            yield "out_of_range", f"{name} is beyond ±10¹⁵.", f"/validation/{name}"


def _values_problems(checked: Checked, attribute: Attribute, at: str) -> Iterator[Problem]:
    place = f"{at}/allowedValues"
    values = checked.texts(attribute.allowed_values, place) if attribute.allowed_values else {}
    if attribute.unknown_type is None and attribute.type.is_choice != bool(values):
        if values:
            kind = attribute.type.value
            yield Problem("values_not_allowed", f"An attribute of type {kind} has no list of values.", place)
        else:
            yield Problem("values_missing", f"“{attribute.name[:80]}” offers a choice but has no values.", place)
    if len(values) > MOST_VALUES:
        yield Problem("too_many", f"An attribute has at most {MOST_VALUES:,} values.", place)
    if not values or _are_plain(values.values()):
        return
    seen: dict[str, str] = {}
    for number, value in values.items():
        pointer = value_place(at, number)
        if pointer in checked.sent.no_texts:
            yield Problem("wrong_type", "An allowed value must be a text.", pointer)
        elif problem := _value_problem(value, seen):
            yield Problem(*problem, pointer)
        else:
            seen[value.casefold()] = value


def _are_plain(values: Collection[str]) -> bool:
    """Whether the values have nothing wrong with them. That holds for nearly all lists, and is seen faster of all
    values together than of each. No value may contain a comma, so that one can stand between them."""
    together = ",".join(values)
    folded = together.casefold().split(",")
    if len(folded) > len(values) or "" in folded or not is_printable(together):
        return False
    return len(set(folded)) == len(folded) and max(map(len, folded)) <= LONGEST_ALLOWED_VALUE


def _value_problem(value: str, seen: dict[str, str]) -> tuple[str, str] | None:
    if not value:
        return "blank_value", "An allowed value is blank."
    if "," in value:
        return "comma_in_value", f"The allowed value “{value[:80]}” contains a comma."
    if len(value) > LONGEST_ALLOWED_VALUE or UNPRINTABLE.search(value):
        return "invalid_value", f"“{value[:80]}” cannot be shown or is over {LONGEST_ALLOWED_VALUE:,} characters long."
    if earlier := seen.get(value.casefold()):
        return "duplicate_value", f"The allowed values “{earlier[:80]}” and “{value[:80]}” differ only in case."
    return None
