"""The filters of a listing as shoppers see them: what each is called and how it is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.merchandising.tree import FLAGS, NUMBER_FACETS, Display, Facet
from app.domain.taxonomy.tree import Attribute, AttributeType

LABELS = {
    "manufacturer": "Brand",
    "price": "Price",
    "rating": "Rating",
    "inStock": "In stock",
    "onSale": "On sale",
    "featured": "Featured",
}
COLOUR_WORDS = ("colour", "color")
OF_VALUES = (Display.LIST, Display.SWATCH)  # Merchandisers choose between these; every other facet has one display.


@dataclass(frozen=True, slots=True)
class Filter:
    """A facet made ready to draw: `display` fits what it counts, whatever was configured. `unit` is that of a range."""

    facet_id: str
    label: str
    display: Display
    swatches: Mapping[str, str]
    unit: str | None = None


def filters_of(facets: Iterable[Facet], attributes: Mapping[str, Attribute]) -> tuple[Filter, ...]:
    """Return the filters of facets, in their order. Facets of attributes that the active taxonomy does not have are
    left out, and so is a range over choices, which has no numbers to span."""
    wanted = {facet.facet_id: facet for facet in facets}
    shown = (_filter(facet, attributes.get(facet.facet_id)) for facet in wanted.values())
    return tuple(filter for filter in shown if filter is not None)


def default_facets(facet_ids: Iterable[str], attributes: Mapping[str, Attribute]) -> tuple[Facet, ...]:
    """Return facets for ids alone (the filters beside search results), each with its natural display."""
    return tuple(Facet(facet_id, _natural_display(facet_id, attributes.get(facet_id))) for facet_id in facet_ids)


@dataclass(frozen=True, slots=True)
class KnownFacet:
    """A facet that a list of filters may name: what it is called, and how it can be displayed, the natural way
    first."""

    facet_id: str
    name: str
    displays: tuple[Display, ...]


def known_facets(attributes: Mapping[str, Attribute]) -> dict[str, KnownFacet]:
    """Return the known facets by id: the built-in ones, then the attributes of the active taxonomy by their names."""
    named = sorted(attributes.items(), key=lambda item: (item[1].name.casefold(), item[0]))
    names = LABELS | {facet_id: attribute.name for facet_id, attribute in named}
    return {id: KnownFacet(id, name, _displays(id, attributes.get(id))) for id, name in names.items()}


def _displays(facet_id: str, attribute: Attribute | None) -> tuple[Display, ...]:
    natural = _natural_display(facet_id, attribute)
    others = OF_VALUES if natural in OF_VALUES else ()
    return (natural, *(display for display in others if display is not natural))


def shared_definition(definitions: Sequence[Attribute]) -> Attribute:
    """Return the definition by which products of all levels are filtered: the first, with the unit that all agree on.
    A range over kilograms and grams has neither's."""
    units = {definition.unit for definition in definitions if definition.unit}
    first, unit = definitions[0], units.pop() if len(units) == 1 else None
    return first if first.unit == unit else replace(first, unit=unit)


def is_colour(attribute_id: str) -> bool:
    return any(word in attribute_id.casefold() for word in COLOUR_WORDS)


def _filter(facet: Facet, attribute: Attribute | None) -> Filter | None:
    if attribute is None and facet.facet_id not in LABELS:
        return None
    display = _natural_display(facet.facet_id, attribute)
    if display in OF_VALUES:
        if facet.display is Display.RANGE:
            return None
        display = facet.display if facet.display in OF_VALUES else Display.LIST
    label = attribute.label if attribute else LABELS[facet.facet_id]
    unit = attribute.unit if attribute else None
    return Filter(facet.facet_id, facet.label or label, display, facet.swatches, unit)


def _natural_display(facet_id: str, attribute: Attribute | None) -> Display:
    if facet_id in FLAGS or (attribute and attribute.type is AttributeType.BOOLEAN):
        return Display.TOGGLE
    if facet_id == "price" or facet_id in NUMBER_FACETS or (attribute and attribute.type is AttributeType.NUMBER):
        return Display.RANGE
    return Display.SWATCH if is_colour(facet_id) else Display.LIST
