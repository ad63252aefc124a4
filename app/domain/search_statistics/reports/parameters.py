"""Query parameters of the Analytics pages. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlencode

from app.domain.catalogue.listing import page_number
from app.domain.search_statistics.counting.days import PERIODS

DEFAULT_DAYS = 30
PAGE_SIZE = 50
LONGEST_WORDS = 100


class ListName(StrEnum):
    """A list, by its name in the address of its page."""

    TOP = "top"
    NOTHING = "found-nothing"
    RARELY = "rarely-clicked"
    LEADS = "leads-to"

    @property
    def needs_clicks(self) -> bool:
        return self in (ListName.RARELY, ListName.LEADS)


class SortKey(StrEnum):
    """The column by which a list is sorted, largest first."""

    SEARCHES = "searches"
    NOTHING = "found_nothing"
    CLICKED = "clicked"
    BASKET = "added_to_basket"
    ORDERED = "ordered"
    REVENUE = "revenue"


DEFAULT_ORDER = {ListName.NOTHING: SortKey.NOTHING}


def days_of(parameters: Mapping[str, str]) -> int:
    """Return the period's days; 30 for an invalid number."""
    return next((days for days in PERIODS if str(days) == parameters.get("days")), DEFAULT_DAYS)


@dataclass(frozen=True, slots=True)
class ListRequest:
    """One page of a list. Invalid parameters have their defaults."""

    name: ListName
    days: int = DEFAULT_DAYS
    words: str = ""
    order: SortKey = SortKey.SEARCHES
    page: int = 1

    @classmethod
    def read(cls, name: ListName, parameters: Mapping[str, str]) -> ListRequest:
        words = parameters.get("q", "").replace("\0", "")[:LONGEST_WORDS].casefold()
        default = DEFAULT_ORDER.get(name, SortKey.SEARCHES)
        order = next((order for order in SortKey if order == parameters.get("sort")), default)
        return cls(name, days_of(parameters), " ".join(words.split()), order, page_number(parameters.get("p")))

    def query(self, **changes: object) -> str:
        """Return the query string of this list with changes, which start at the first page."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "days": changed.days,
            "q": changed.words,
            "sort": "" if changed.order == DEFAULT_ORDER.get(self.name, SortKey.SEARCHES) else str(changed.order),
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})
