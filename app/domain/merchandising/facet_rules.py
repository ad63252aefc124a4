"""The filters of a tree or a category, in the form in which bundles and the admin send them and tables hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.merchandising.tree import Display
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Object, Record, Text, token
from app.domain.shared.text import line_problems
from app.domain.taxonomy.validation.level_drafts import BUILT_IN_FACETS, is_reserved
from app.domain.taxonomy.validation.rules import ID

FACET = Record(
    facetId=Text(required=True),
    display=Text(),
    label=Text(allow_none=True),
    swatches=Object(allow_none=True),
)
COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)
LONGEST_LABEL = 80
LONGEST_VALUE = 200
MOST_FACETS = 60
MOST_SWATCHES = 500


def clean_facets(raw: Sequence[Any], pointer: str) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The facets in their stored form, without those that are refused, and why those are."""
    kept: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for index, item in enumerate(raw):
        at = f"{pointer}/{index}"
        found: list[Problem] = []
        fields = FACET.read(item, at, found)
        found += _problems(fields, [facet["facetId"] for facet in kept], at)
        if found:
            problems += found
        else:
            kept.append(_stored(fields))
    return kept, problems


def _problems(fields: Mapping[str, Any], earlier: Sequence[str], at: str) -> Iterator[Problem]:
    facet_id = fields.get("facetId", "x")
    if facet_id not in BUILT_IN_FACETS and (not ID.fullmatch(facet_id) or is_reserved(facet_id)):
        yield Problem("invalid_facet", f"“{facet_id[:80]}” is neither a built-in filter nor an attribute id.", at)
    if facet_id in earlier:
        yield Problem("duplicate_facet", f"The filter “{facet_id[:80]}” stands in the list twice.", at)
    if len(earlier) >= MOST_FACETS:
        yield Problem("too_many", f"A list holds at most {MOST_FACETS} filters.", at)
    if fields.get("display", Display.LIST) not in list(Display):
        message = f"A filter is displayed as {', '.join(Display)}."
        yield Problem("invalid_display", message, f"{at}/display")
    yield from line_problems(fields.get("label") or "", "The label", LONGEST_LABEL, f"{at}/label")
    yield from _swatch_problems(fields.get("swatches") or {}, f"{at}/swatches")


def _swatch_problems(swatches: Mapping[str, Any], at: str) -> Iterator[Problem]:
    for value, colour in swatches.items():
        if not isinstance(colour, str) or not COLOUR.fullmatch(colour) or len(value) > LONGEST_VALUE:
            message = f"The colour of “{value[:80]}” must be written like #1b2a4e."
            yield Problem("invalid_colour", message, f"{at}/{token(value)}")
    if len(swatches) > MOST_SWATCHES:
        yield Problem("too_many", f"A filter has at most {MOST_SWATCHES} colours.", at)


def _stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    facet: dict[str, Any] = {"facetId": fields["facetId"], "display": fields.get("display", str(Display.LIST))}
    if label := (fields.get("label") or "").strip():
        facet["label"] = label
    if fields.get("swatches"):
        facet["swatches"] = {value: colour.lower() for value, colour in fields["swatches"].items()}
    return facet
