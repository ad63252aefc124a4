"""Visits of crawlers to pages that they may not list, as they are recorded: without address and without whose. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from app.domain.seo.indexing_decision import PARAMETER_REASONS

LONGEST_PARAMETER = 64
OTHERS = "(others)"  # Stands for parameters whose names are too long, or came when a day had too many.
_PARAMETERS = {reason: name for name, reason in PARAMETER_REASONS.items()}


@dataclass(frozen=True, slots=True)
class CrawlerVisit:
    """A visit of a crawler. `day` is the site's, `parameter` what decided that the page is not indexable, empty where
    something else did."""

    site_id: int
    day: date
    family: str
    parameter: str


def parameter_of(reason: str) -> str:
    """Return the parameter that a decision's reason names, empty for none."""
    code, _, parameter = reason.partition(":")
    if code != "facet_parameter":
        return _PARAMETERS.get(code, "")
    is_name = 0 < len(parameter) <= LONGEST_PARAMETER and parameter.isprintable()
    return parameter if is_name else OTHERS


def as_json(visit: CrawlerVisit) -> list[Any]:
    """Return the form that `from_json` reads."""
    return [visit.site_id, visit.day.isoformat(), visit.family, visit.parameter]


def from_json(value: Any) -> CrawlerVisit | None:
    """Return None for anything but a visit, such as the beginning of a line that a full disk cut off."""
    try:
        site_id, day, family, parameter, *_later = value
        return CrawlerVisit(int(site_id), date.fromisoformat(day), str(family), str(parameter))
    except (TypeError, ValueError, OverflowError):
        return None
