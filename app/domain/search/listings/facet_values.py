"""The values that products carry, for forms in which a value is chosen or given a colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.search.engine import IndexName, SearchEngine, SearchRequest, SearchUnavailable, ValueFilter

MOST_OFFERED = 300  # Values of a facet: who needs a rarer one types it.


@dataclass(frozen=True, slots=True)
class CarriedValue:
    """A value of a facet and how many products carry it."""

    value: str
    products: int


CarriedValues = Mapping[str, Sequence[CarriedValue]]


def carried_values(
    engine: SearchEngine, site_id: int, facet_ids: Sequence[str], category_id: int | None = None
) -> CarriedValues:
    """Return the commonest values of each facet, in a category with those below it or in the whole shop. Forms work
    without them, so there are none while search is unavailable."""
    wanted = tuple(dict.fromkeys(facet_ids))
    scope = () if category_id is None else (ValueFilter("category", (str(category_id),)),)
    if not wanted:
        return {}
    try:
        found = engine.search(site_id, IndexName.PRODUCTS, SearchRequest(scope=scope, facets=wanted, per_page=0)).facets
    except SearchUnavailable:
        return {}
    return {facet_id: _commonest(found.get(facet_id, ())) for facet_id in wanted}


def _commonest(counts: Sequence[tuple[str, int]]) -> tuple[CarriedValue, ...]:
    values = (CarriedValue(value, products) for value, products in counts if products)
    return tuple(sorted(values, key=lambda one: (-one.products, one.value.casefold())))[:MOST_OFFERED]
