"""Aggregate what was opened and bought from searches into changes of the counts of products. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date

from app.domain.search.ranking.learning import examination
from app.domain.search_statistics.counting.events import Event, EventKind

HUNDREDTHS = 100  # Weights are kept as whole numbers.
COLUMNS = ("opens", "weight", "bought", "networks")

Key = tuple[date, str, int]


@dataclass(frozen=True, slots=True)
class ProductChange:
    """An increment of a product's counts for one search on one day. `weight` sums up, in hundredths, by how much each
    open counts for the place at which the product stood; `networks` counts the opens from networks new to it."""

    day: date
    word: str
    product_id: int
    opens: int = 0
    weight: int = 0
    bought: int = 0
    networks: int = 0

    @property
    def key(self) -> Key:
        return self.day, self.word, self.product_id


def aggregate_products(events: Iterable[Event]) -> list[ProductChange]:
    """Return one change for each day, search and product, in this order."""
    changes: dict[Key, ProductChange] = {}
    for event in events:
        if event.kind.is_of_product and event.product_id is not None:
            change = _change(event, event.product_id)
            known = changes.get(change.key)
            changes[change.key] = change if known is None else _merged(known, change)
    return [changes[key] for key in sorted(changes)]


def _change(event: Event, product_id: int) -> ProductChange:
    if event.kind is EventKind.BOUGHT:
        return ProductChange(event.day, event.word, product_id, bought=1)
    weight = round(HUNDREDTHS / examination(event.place))
    return ProductChange(event.day, event.word, product_id, opens=1, weight=weight, networks=int(event.of_new_network))


def _merged(first: ProductChange, second: ProductChange) -> ProductChange:
    return replace(first, **{name: getattr(first, name) + getattr(second, name) for name in COLUMNS})
