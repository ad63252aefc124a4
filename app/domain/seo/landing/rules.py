"""Rules for landing pages, as they are saved: which facet of a category gets pages of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Many, Record, Text, Whole
from app.domain.shared.text import UNPRINTABLE_IN_BLOCK
from app.domain.taxonomy.levels.attribute import Attribute

OVERRIDE = Record(
    value=Text(required=True),
    heading=Text(allow_none=True),
    metaTitle=Text(allow_none=True),
    metaDescription=Text(allow_none=True),
    intro=Text(allow_none=True),
    excluded=Flag(),
)
MOST_OVERRIDES = 200
RULE = Record(
    facetId=Text(required=True),
    pathSegment=Text(allow_none=True),
    minProducts=Whole(allow_none=True),
    overrides=Many(OVERRIDE, MOST_OVERRIDES, allow_none=True),
)
MANUFACTURER = "manufacturer"
BRAND_SEGMENT = "brand"
WITHOUT_PAGES = frozenset(("onSale", "inStock", "featured", "price", "rating"))
SEGMENT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
LONGEST_SEGMENT = 40
LONGEST_TEXT = 5_000
MOST_RULES = 10

Rule = dict[str, Any]


def segment_of(rule: Mapping[str, Any]) -> str:
    """The step of the address that leads to the rule's pages."""
    default = BRAND_SEGMENT if rule["facetId"] == MANUFACTURER else rule["facetId"]
    return str(rule.get("pathSegment") or default)


def clean_rules(
    raw: Sequence[Any],
    attributes: Mapping[str, Sequence[Attribute]],
    shown_as_range: Collection[str],
    pointer: str,
) -> tuple[list[Rule], list[Problem]]:
    """The rules trimmed, without those that are refused, and why those are. `attributes` are the definitions of
    the active taxonomy by id; `shown_as_range` the facets that the category shows as a number range."""
    kept: list[Rule] = []
    problems: list[Problem] = []
    for index, item in enumerate(raw):
        at = f"{pointer}/{index}"
        found: list[Problem] = []
        rule = _read(item, at, found)
        if not found:
            found += _problems(rule, kept, attributes, shown_as_range, at)
        if found:
            problems += found
        else:
            kept.append(rule)
    return kept, problems


def _read(item: Any, at: str, problems: list[Problem]) -> Rule:
    fields = RULE.read(item, at, problems)
    rule: Rule = {"facetId": (fields.get("facetId") or "").strip()}
    if segment := (fields.get("pathSegment") or "").strip().lower():
        rule["pathSegment"] = segment
    if fields.get("minProducts") is not None:
        rule["minProducts"] = fields["minProducts"]
    overrides = fields.get("overrides") or []
    if overrides:
        rule["overrides"] = [_tidy(o, f"{at}/overrides/{n}", problems) for n, o in enumerate(overrides)]
    return rule


def _tidy(override: Mapping[str, Any], at: str, problems: list[Problem]) -> dict[str, Any]:
    trimmed = {name: value.strip() if isinstance(value, str) else value for name, value in override.items()}
    for name, value in trimmed.items():
        if isinstance(value, str) and (len(value) > LONGEST_TEXT or UNPRINTABLE_IN_BLOCK.search(value)):
            problems.append(Problem("invalid_text", f"“{name}” is too long or cannot be shown.", f"{at}/{name}"))
    return {name: value for name, value in trimmed.items() if value not in (None, "", False)}


def _problems(
    rule: Rule,
    earlier: Sequence[Rule],
    attributes: Mapping[str, Sequence[Attribute]],
    shown_as_range: Collection[str],
    at: str,
) -> Iterator[Problem]:
    if message := facet_problem(rule["facetId"], attributes, shown_as_range):
        yield Problem("invalid_facet", message, f"{at}/facetId")
    segment = segment_of(rule)
    if "pathSegment" in rule and (not SEGMENT.fullmatch(segment) or len(segment) > LONGEST_SEGMENT):
        message = f"The path segment may hold a–z, 0–9 and single hyphens, at most {LONGEST_SEGMENT} of them."
        yield Problem("invalid_segment", message, f"{at}/pathSegment")
    if rule.get("minProducts", 1) < 1:
        yield Problem("invalid_minimum", "A landing page needs at least 1 product.", f"{at}/minProducts")
    yield from _override_problems(rule.get("overrides", []), f"{at}/overrides")
    if any(rule["facetId"] == other["facetId"] or segment == segment_of(other) for other in earlier):
        yield Problem("duplicate_rule", "Two rules share a facet or a path segment.", at)
    if len(earlier) >= MOST_RULES:
        yield Problem("too_many", f"A list holds at most {MOST_RULES} landing rules.", at)


def facet_problem(
    facet_id: str, attributes: Mapping[str, Sequence[Attribute]], shown_as_range: Collection[str]
) -> str | None:
    """Return why a facet can have no landing pages; None where it can (spec, "Supported facets")."""
    if facet_id == MANUFACTURER:
        return None
    if facet_id in WITHOUT_PAGES:
        return f"“{facet_id}” has no values to give pages to."
    if facet_id not in attributes:
        return f"The active taxonomy has no attribute “{facet_id[:80]}”."
    if not any(attribute.type.has_named_values for attribute in attributes[facet_id]):
        return f"“{facet_id}” is a yes/no or number attribute and has no values to give pages to."
    if facet_id in shown_as_range:
        return f"“{facet_id}” is shown as a number range and has no values to give pages to."
    return None


def _override_problems(overrides: Sequence[Mapping[str, Any]], at: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, override in enumerate(overrides):
        value = override.get("value", "")
        if not value:
            yield Problem("value_missing", "The override has no value.", f"{at}/{index}/value")
        elif value.casefold() in seen:
            yield Problem("duplicate_value", f"Two overrides name “{value[:80]}”.", f"{at}/{index}/value")
        seen.add(value.casefold())
