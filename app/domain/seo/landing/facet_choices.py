"""The facets that a landing rule can be for, as an editor offers them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.domain.merchandising.facets import LABELS
from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import Display, Facet
from app.domain.seo.landing.rules import MANUFACTURER, facet_problem

# Attributes beside the filters: a longer list helps nobody, and a filter can be added to the category.
MOST_OTHERS = 300


@dataclass(frozen=True, slots=True)
class FacetChoices:
    """The names of facets by id: in `shown` the brand and the filters that shoppers see, in `others` the other
    attributes of the taxonomy."""

    shown: Mapping[str, str]
    others: Mapping[str, str]

    def name(self, facet_id: str) -> str:
        return self.shown.get(facet_id) or self.others.get(facet_id) or facet_id


def facet_choices(shop: Shop, facets: Iterable[Facet]) -> FacetChoices:
    """Return the facets from which landing rules choose. `facets` are the filters of the category or tree."""
    listed = list(facets)
    definitions = shop.taxonomy.attributes_by_id()
    ranges = {facet.facet_id for facet in listed if facet.display is Display.RANGE}
    labels = {facet.facet_id: facet.label for facet in listed}
    ids = dict.fromkeys([MANUFACTURER, *labels])
    shown = [id for id in ids if facet_problem(id, definitions, ranges) is None]
    others = [id for id in shop.attributes if id not in ids and facet_problem(id, definitions, ranges) is None]
    names = {id: labels.get(id) or _name(shop, id) for id in (*shown, *others)}
    by_name = sorted(others, key=lambda id: names[id].casefold())[:MOST_OTHERS]
    return FacetChoices({id: names[id] for id in shown}, {id: names[id] for id in by_name})


def _name(shop: Shop, facet_id: str) -> str:
    attribute = shop.attributes.get(facet_id)
    return attribute.label if attribute else LABELS.get(facet_id, facet_id)
