"""Aggregate what was opened and bought from searches into changes of the counts of products. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.shared.counting_memory import week_of

COLUMNS = ("opens", "weight", "bought")
OF_WEEK = ("all_opens", "all_weight", "all_bought")

Key = tuple[date, str, int]


@dataclass(frozen=True, slots=True)
class ProductChange:
    """An increment of a product's counts for one search in the week that begins on a Monday. `weight` sums up, in
    hundredths, by how much each open counts for the place at which the product stood. `all_opens`, `all_weight` and
    `all_bought` are those of the whole week so far, as far as the shop remembers."""

    week: date
    word: str
    product_id: int
    opens: int = 0
    weight: int = 0
    bought: int = 0
    all_opens: int = 0
    all_weight: int = 0
    all_bought: int = 0

    @property
    def key(self) -> Key:
        return self.week, self.word, self.product_id


def aggregate_products(events: Iterable[Event]) -> list[ProductChange]:
    """Return one change for each week, search and product, in this order."""
    changes: dict[Key, ProductChange] = {}
    for event in events:
        if event.kind.is_of_product and event.product_id is not None:
            change = _change(event, event.product_id)
            known = changes.get(change.key)
            changes[change.key] = change if known is None else _merged(known, change)
    return [changes[key] for key in sorted(changes)]


def _change(event: Event, product_id: int) -> ProductChange:
    week = week_of(event.day)
    if event.kind is EventKind.BOUGHT:
        return ProductChange(week, event.word, product_id, bought=event.visits, all_bought=event.all_visits)
    opens = {"opens": event.visits, "weight": event.weight}
    return ProductChange(week, event.word, product_id, **opens, all_opens=event.all_visits, all_weight=event.all_weight)


def _merged(first: ProductChange, second: ProductChange) -> ProductChange:
    sums = {name: getattr(first, name) + getattr(second, name) for name in COLUMNS}
    latest = {name: max(getattr(first, name), getattr(second, name)) for name in OF_WEEK}
    return replace(first, **sums, **latest)
