"""The landing rules that hold for a category."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from app.domain.merchandising.tree import segment_of
from app.domain.seo.landing.rules import Rule


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


def describe_move(folder: str, old: str, new: str) -> str:
    """Describe the effect of a changed segment on the pages below `folder`, the address of a category."""
    return f"The pages below {folder}/{old}/ moved to {folder}/{new}/. The old addresses answer 404 from now on."
