"""Rules for landing pages, as they are saved: which facet of a category gets pages of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from app.domain.merchandising.tree import segment_of
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Record, Text, Whole
from app.domain.shared.text import block_problems, one_line
from app.domain.taxonomy.tree import Attribute

OVERRIDE = Record(
    value=Text(required=True),
    heading=Text(allow_none=True),
    metaTitle=Text(allow_none=True),
    metaDescription=Text(allow_none=True),
    intro=Text(allow_none=True),
    excluded=Flag(),
)
RULE = Record(
    facetId=Text(required=True),
    pathSegment=Text(allow_none=True),
    minProducts=Whole(allow_none=True),
    overrides=Items(allow_none=True),
)
MANUFACTURER = "manufacturer"
WITHOUT_PAGES = frozenset(("onSale", "inStock", "featured", "price", "rating"))
SEGMENT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
LONGEST_SEGMENT = 40
LONGEST_TEXT = 5_000
MOST_RULES = 10
MOST_OVERRIDES = 200
LARGEST_MINIMUM = 1_000_000_000

Rule = dict[str, Any]


def clean_rules(
    raw: Sequence[Any],
    attributes: Mapping[str, Sequence[Attribute]],
    shown_as_range: Collection[str],
    pointer: str,
) -> tuple[list[Rule], list[Problem]]:
    """Return the rules trimmed, without those that are refused, and why those are (spec, "Rule validation").
    `attributes` are the definitions of the active taxonomy by id; `shown_as_range` the facets that the category shows
    as a number range."""
    kept: list[Rule] = []
    earlier: list[Rule] = []
    problems = _too_many(raw, MOST_RULES, "A list", "landing rules", pointer)
    for index, item in enumerate(raw[:MOST_RULES]):
        at = f"{pointer}/{index}"
        found: list[Problem] = []
        rule = _read(item, at, found)
        if isinstance(item, dict):
            found += _beside(found, _problems(rule, earlier, attributes, shown_as_range, at))
            earlier.append(rule)
        problems += found
        if not found:
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
    problems += _too_many(overrides, MOST_OVERRIDES, "A rule", "overrides", f"{at}/overrides")
    if overrides:
        places = enumerate(overrides[:MOST_OVERRIDES])
        rule["overrides"] = [_read_override(item, f"{at}/overrides/{n}", problems) for n, item in places]
    return rule


def _read_override(item: Any, at: str, problems: list[Problem]) -> dict[str, Any]:
    """Read an override, without the texts that are empty: those get the copy that the specification gives them."""
    fields = OVERRIDE.read(item, at, problems)
    for name, value in fields.items():
        if isinstance(value, str):
            problems += block_problems(value, f"“{name}”", LONGEST_TEXT, f"{at}/{name}")
            fields[name] = value.strip() if name in ("value", "intro") else one_line(value)
    return {name: value for name, value in fields.items() if value not in (None, "", False)}


def _problems(
    rule: Rule,
    earlier: Sequence[Rule],
    attributes: Mapping[str, Sequence[Attribute]],
    shown_as_range: Collection[str],
    at: str,
) -> Iterator[Problem]:
    facet_id = rule["facetId"]
    refusal = facet_problem(facet_id, attributes, shown_as_range)
    if refusal:
        yield Problem("invalid_facet", refusal, f"{at}/facetId")
    elif any(facet_id == other["facetId"] for other in earlier):
        yield Problem("duplicate_facet", f"Two rules are for “{facet_id}”.", f"{at}/facetId")
    if ("pathSegment" in rule or not refusal) and (message := _segment_problem(rule, earlier)):
        yield Problem("invalid_segment", message, f"{at}/pathSegment")
    if rule.get("minProducts", 1) < 1:
        yield Problem("invalid_minimum", "A landing page needs at least 1 product.", f"{at}/minProducts")
    elif rule.get("minProducts", 1) > LARGEST_MINIMUM:
        yield Problem("invalid_minimum", "No category has so many products.", f"{at}/minProducts")
    yield from _override_problems(rule.get("overrides", []), f"{at}/overrides")


def _segment_problem(rule: Rule, earlier: Sequence[Rule]) -> str | None:
    """Return what is wrong with a rule's path segment, None for nothing. Two rules of one facet share its segment; that
    is reported as a problem of the facet alone."""
    segment = segment_of(rule)
    if not SEGMENT.fullmatch(segment) or len(segment) > LONGEST_SEGMENT:
        subject = "A path segment" if "pathSegment" in rule else f"“{segment[:80]}” is no path segment. Give one, which"
        return f"{subject} may hold a–z, 0–9 and single hyphens, at most {LONGEST_SEGMENT} of them."
    if any(segment == segment_of(other) and rule["facetId"] != other["facetId"] for other in earlier):
        return f"Two rules have the path segment “{segment}”."
    return None


def facet_problem(
    facet_id: str, attributes: Mapping[str, Sequence[Attribute]], shown_as_range: Collection[str]
) -> str | None:
    """Return why a facet can have no landing pages; None where it can (spec, "Supported facets")."""
    if facet_id == MANUFACTURER:
        return None
    if not facet_id:
        return "The rule names no facet."
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
        elif value in seen:
            yield Problem("duplicate_value", f"Two overrides name “{value[:80]}”.", f"{at}/{index}/value")
        seen.add(value)


def _beside(known: Sequence[Problem], found: Iterator[Problem]) -> list[Problem]:
    """Return the problems found, without those at or within a place that has a known problem."""
    places = tuple(f"{problem.pointer}/" for problem in known)
    return [problem for problem in found if not f"{problem.pointer}/".startswith(places)]


def _too_many(items: Sequence[Any], most: int, where: str, what: str, at: str) -> list[Problem]:
    return [Problem("too_many", f"{where} holds at most {most} {what}.", at)] if len(items) > most else []
