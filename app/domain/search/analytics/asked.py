"""What the pages of Analytics may be asked: pure, read from the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import urlencode

from app.domain.catalogue.listing import page_number

DAYS = (7, 30, 90)  # Specification: Analytics periods.
USUAL_DAYS = 30
PAGE_SIZE = 50
LONGEST_WORDS = 100


class ListName(StrEnum):
    """As in the address of the list's own page."""

    TOP = "top"
    NOTHING = "found-nothing"
    RARELY = "rarely-clicked"
    LEADS = "leads-to"

    @property
    def needs_clicks(self) -> bool:
        return self in (ListName.RARELY, ListName.LEADS)


class Order(StrEnum):
    """By what a list may be ordered, the largest first."""

    SEARCHES = "searches"
    NOTHING = "found_nothing"
    CLICKED = "clicked"
    BASKET = "added_to_basket"
    ORDERED = "ordered"
    REVENUE = "revenue"


USUAL_ORDER = {ListName.NOTHING: Order.NOTHING}


def days_of(parameters: Mapping[str, str]) -> int:
    """Of the period; 30 for what is none."""
    return next((days for days in DAYS if str(days) == parameters.get("days")), USUAL_DAYS)


@dataclass(frozen=True, slots=True)
class Asked:
    """One page of a list. What an address says wrongly counts as not said."""

    name: ListName
    days: int = USUAL_DAYS
    words: str = ""
    order: Order = Order.SEARCHES
    page: int = 1

    @classmethod
    def read(cls, name: ListName, parameters: Mapping[str, str]) -> Asked:
        words = parameters.get("q", "").replace("\0", "")[:LONGEST_WORDS].casefold()
        usual = USUAL_ORDER.get(name, Order.SEARCHES)
        order = next((order for order in Order if order == parameters.get("sort")), usual)
        return cls(name, days_of(parameters), " ".join(words.split()), order, page_number(parameters.get("p")))

    def query(self, **changes: object) -> str:
        """The query string of this list with changes, which begin at the first page again."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]
        parameters = {
            "days": changed.days,
            "q": changed.words,
            "sort": "" if changed.order == USUAL_ORDER.get(self.name, Order.SEARCHES) else str(changed.order),
            "p": "" if changed.page == 1 else changed.page,
        }
        return urlencode({name: str(value) for name, value in parameters.items() if value})
