"""Rules for landing pages: which facet of a category gets pages of its own, how they are checked, inherited and chosen.
Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.domain.merchandising.facets import LABELS
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import Display, Facet, segment_of
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Flag, Items, Record, Text, Whole
from app.domain.shared.text import block_problems, one_line
from app.domain.taxonomy.choices import distinct_names
from app.domain.taxonomy.tree import Attribute

MANUFACTURER = "manufacturer"
WITHOUT_PAGES = frozenset(("onSale", "inStock", "featured", "price", "rating"))
SEGMENT = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
LONGEST_SEGMENT = 40
LONGEST_TEXT = 5_000
MOST_RULES = 10
MOST_OVERRIDES = 200
LARGEST_MINIMUM = 1_000_000_000
MOST_OTHERS = 300  # Attributes offered beside the filters: a longer list helps nobody, and filters can be added.
# What a rule consists of, for forms, tables, bundles, programs and agents.
OVERRIDE = Record(
    value=Text(
        required=True,
        longest=LONGEST_TEXT,
        label="Value",
        meaning="The value of the facet that this is for.",
        for_agents="The value of the facet that this is for, such as a brand.",
    ),
    heading=Text(
        allow_none=True,
        longest=LONGEST_TEXT,
        tidy=one_line,
        label="Heading",
        meaning="By default `{value} {category}`.",
    ),
    metaTitle=Text(
        allow_none=True,
        longest=LONGEST_TEXT,
        tidy=one_line,
        label="Title for search engines",
        meaning="By default `{heading} | {site}`.",
    ),
    metaDescription=Text(
        allow_none=True,
        longest=LONGEST_TEXT,
        tidy=one_line,
        label="Description for search engines",
        meaning="By default the intro, else a sentence of heading, site and products.",
        for_agents="By default the intro, else a sentence of heading, site and number of products.",
    ),
    intro=Text(
        allow_none=True,
        longest=LONGEST_TEXT,
        label="Text under the heading",
        meaning="Stands under the heading.",
        for_agents=f"Under the heading; at most {LONGEST_TEXT:,} characters.",
    ),
    excluded=Flag(meaning="This value never has a page.", for_agents="True: this value never has a page."),
)
RULE = Record(
    facetId=Text(
        required=True,
        label="Values of",
        meaning="`manufacturer`, or an attribute of the taxonomy.",
        for_agents="“manufacturer” for brands, or the id of a list attribute of the active taxonomy, such as “colour”.",
    ),
    pathSegment=Text(
        allow_none=True,
        tidy=lambda text: text.strip().lower(),
        label="Address",
        meaning="a–z, 0–9 and single hyphens; by default `brand` for manufacturer, else the facet’s id.",
        for_agents=(
            "The step of the address before the value: a–z, 0–9 and single hyphens, at most "
            f"{LONGEST_SEGMENT}. By default “brand” for manufacturer, else the facet's id."
        ),
        metadata={"maxLength": LONGEST_SEGMENT},
    ),
    minProducts=Whole(
        allow_none=True,
        label="Minimum",
        meaning="By default the site’s setting `facet-landing-min-products`.",
        for_agents="How many products of the category must carry a value; by default the site's setting.",
        metadata={"minimum": 1},
    ),
    overrides=Items(
        of=OVERRIDE, most=MOST_OVERRIDES, allow_none=True, for_agents="Texts of single values, or no page."
    ),
)

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
        rule = _read_rule(item, at, found)
        if isinstance(item, dict):
            found += _without_those_at(found, _rule_problems(rule, earlier, attributes, shown_as_range, at))
            earlier.append(rule)
        problems += found
        if not found:
            kept.append(rule)
    return kept, problems


def _read_rule(item: Any, at: str, problems: list[Problem]) -> Rule:
    """Read a rule, without what is empty: it has its default."""
    fields = RULE.read(item, at, problems)
    in_order = {name: fields[name] for name in RULE.fields if name in fields}
    rule: Rule = {"facetId": ""} | _read_fields(RULE, in_order, at, problems)
    overrides = fields.get("overrides") or []
    problems += _too_many(overrides, MOST_OVERRIDES, "A rule", "overrides", f"{at}/overrides")
    if overrides:
        places = enumerate(overrides[:MOST_OVERRIDES])
        rule["overrides"] = [_read_override(item, f"{at}/overrides/{n}", problems) for n, item in places]
    return rule


def _read_override(item: Any, at: str, problems: list[Problem]) -> dict[str, Any]:
    return _read_fields(OVERRIDE, OVERRIDE.read(item, at, problems), at, problems)


def _read_fields(record: Record, sent: Mapping[str, Any], at: str, problems: list[Problem]) -> dict[str, Any]:
    """Return the fields of a rule or an override, its lists aside, that say something, tidied."""
    found: dict[str, Any] = {}
    for name, value in sent.items():
        field = record.fields[name]
        if isinstance(field, Text) and value is not None:
            if field.longest is not None:
                problems += block_problems(value, f"“{name}”", field.longest, f"{at}/{name}")
            value = field.tidy(value)
        is_empty = value is None or value is False or value == ""
        if not is_empty and not isinstance(field, Items):
            found[name] = value
    return found


def _rule_problems(
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


def _without_those_at(known: Sequence[Problem], found: Iterator[Problem]) -> list[Problem]:
    """Return the problems found, without those at or within a place that has a known problem."""
    places = tuple(f"{problem.pointer}/" for problem in known)
    return [problem for problem in found if not f"{problem.pointer}/".startswith(places)]


def _too_many(items: Sequence[Any], most: int, where: str, what: str, at: str) -> list[Problem]:
    return [Problem("too_many", f"{where} holds at most {most} {what}.", at)] if len(items) > most else []


class LandingMode(StrEnum):
    """The source of a category's landing rules (spec, "States and transitions"): without rules of its own it inherits
    the tree's default, an empty list switches landing pages off."""

    INHERIT = "inherit"
    OFF = "off"
    OWN = "own"


def mode_of(own: Sequence[Rule] | None) -> LandingMode:
    if own is None:
        return LandingMode.INHERIT
    return LandingMode.OWN if own else LandingMode.OFF


def effective_rules(own: Sequence[Rule] | None, tree_default: Sequence[Rule]) -> Sequence[Rule]:
    return tree_default if own is None else own


def moved_segments(before: Sequence[Rule], after: Sequence[Rule]) -> list[tuple[str, str]]:
    """Return the changed segments as (old, new), of the facets that both lists have a rule for."""
    new = {rule["facetId"]: segment_of(rule) for rule in after}
    pairs = [(segment_of(rule), new.get(rule["facetId"], segment_of(rule))) for rule in before]
    return [(old, now) for old, now in pairs if old != now]


def describe_move(folder: str, old: str, new: str, *, redirected: bool) -> str:
    """Describe the effect of a changed segment on the pages below `folder`, the address of a category. `redirected`:
    the old addresses lead to the new ones."""
    then = "lead there" if redirected else "answer 404"
    return f"The pages below {folder}/{old}/ moved to {folder}/{new}/. The old addresses {then} from now on."


@dataclass(frozen=True, slots=True)
class FacetChoices:
    """The names of facets by id: in `shown` the brand and the filters that shoppers see, in `others` the other
    attributes of the taxonomy."""

    shown: Mapping[str, str]
    others: Mapping[str, str]

    def name(self, facet_id: str) -> str:
        return self.shown.get(facet_id) or self.others.get(facet_id) or facet_id


def facet_choices(shop: Shop, facets: Iterable[Facet]) -> FacetChoices:
    """Return the facets from which landing rules choose. `facets` are the filters of the category or tree."""
    listed = list(facets)
    definitions = shop.taxonomy.attributes_by_id()
    ranges = {facet.facet_id for facet in listed if facet.display is Display.RANGE}
    labels = {facet.facet_id: facet.label for facet in listed}
    ids = dict.fromkeys([MANUFACTURER, *labels])
    shown = [id for id in ids if facet_problem(id, definitions, ranges) is None]
    others = [id for id in shop.attributes if id not in ids and facet_problem(id, definitions, ranges) is None]
    names = {
        id: labels.get(id) or (shop.attributes[id].label if id in shop.attributes else LABELS.get(id, id))
        for id in (*shown, *others)
    }
    names = distinct_names(shop.taxonomy, names)
    by_name = sorted(others, key=lambda id: names[id].casefold())[:MOST_OTHERS]
    return FacetChoices({id: names[id] for id in shown}, {id: names[id] for id in by_name})
