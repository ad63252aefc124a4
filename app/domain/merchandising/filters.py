"""The filters of a listing as shoppers see them: what each is called and how it is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.domain.merchandising.tree import FLAGS, NUMBER_FACETS, Display, Facet
from app.domain.taxonomy.levels.attribute import Attribute, AttributeType

LABELS = {
    "manufacturer": "Brand",
    "price": "Price",
    "rating": "Rating",
    "inStock": "In stock",
    "onSale": "On sale",
    "featured": "Featured",
}
COLOUR_WORDS = ("colour", "color")


@dataclass(frozen=True, slots=True)
class Filter:
    """A facet made ready to draw: `display` fits what it counts, whatever was configured."""

    facet_id: str
    label: str
    display: Display
    swatches: Mapping[str, str]


def filters_of(facets: Iterable[Facet], attributes: Mapping[str, Attribute]) -> tuple[Filter, ...]:
    """Facets of attributes that the active taxonomy does not have are left out, and so is a range over choices,
    which has no numbers to span."""
    wanted = {facet.facet_id: facet for facet in facets}
    shown = (_filter(facet, attributes.get(facet.facet_id)) for facet in wanted.values())
    return tuple(filter for filter in shown if filter is not None)


def default_facets(facet_ids: Iterable[str], attributes: Mapping[str, Attribute]) -> tuple[Facet, ...]:
    """Facets named by their ids alone (the filters beside search results), drawn as suits each."""
    return tuple(Facet(facet_id, _natural_display(facet_id, attributes.get(facet_id))) for facet_id in facet_ids)


def is_colour(attribute_id: str) -> bool:
    return any(word in attribute_id.casefold() for word in COLOUR_WORDS)


def _filter(facet: Facet, attribute: Attribute | None) -> Filter | None:
    if attribute is None and facet.facet_id not in LABELS:
        return None
    display = _natural_display(facet.facet_id, attribute)
    if display is Display.LIST or display is Display.SWATCH:
        if facet.display is Display.RANGE:
            return None
        display = Display.SWATCH if facet.display is Display.SWATCH else Display.LIST
    label = (attribute.display_label or attribute.name) if attribute else LABELS[facet.facet_id]
    return Filter(facet.facet_id, facet.label or label, display, facet.swatches)


def _natural_display(facet_id: str, attribute: Attribute | None) -> Display:
    if facet_id in FLAGS or (attribute and attribute.type is AttributeType.BOOLEAN):
        return Display.TOGGLE
    if facet_id == "price" or facet_id in NUMBER_FACETS or (attribute and attribute.type is AttributeType.NUMBER):
        return Display.RANGE
    return Display.SWATCH if is_colour(facet_id) else Display.LIST
