"""Which landing rules hold for a category."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from app.domain.seo.landing.rules import Rule


class LandingMode(StrEnum):
    """Spec, "States and transitions": without rules of its own a category inherits the tree's default, an empty list
    switches landing pages off."""

    INHERIT = "inherit"
    OFF = "off"
    OWN = "own"


def mode_of(own: Sequence[Rule] | None) -> LandingMode:
    if own is None:
        return LandingMode.INHERIT
    return LandingMode.OWN if own else LandingMode.OFF


def effective_rules(own: Sequence[Rule] | None, tree_default: Sequence[Rule]) -> Sequence[Rule]:
    return tree_default if own is None else own
