"""Recorded visits of crawlers to pages that are not indexable: neither the page's address nor the client's is kept.
Pure."""

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
    """A visit of a crawler. `day` is in the site's time zone; `parameter` is the one that made the page not indexable,
    empty where something else did."""

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
    """Read a visit from JSON; None for anything else, such as the beginning of a line that a full disk cut off."""
    try:
        site_id, day, family, parameter, *_later = value
        return CrawlerVisit(int(site_id), date.fromisoformat(day), str(family), str(parameter))
    except (TypeError, ValueError, OverflowError):
        return None
