"""The filters of listings: their names and displays as shoppers see them, the form in which bundles and the admin send
them and tables hold them, and the colours of swatches. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.merchandising.tree import FLAGS, NUMBER_FACETS, Display, Facet
from app.domain.shared.problems import Problem
from app.domain.shared.schema import Object, Record, Text, token
from app.domain.shared.text import line_problems
from app.domain.taxonomy.choices import distinct_names
from app.domain.taxonomy.tree import Attribute, AttributeType, TaxonomyTree
from app.domain.taxonomy.validation.rules import ID
from app.domain.taxonomy.validation.sent_tree import BUILT_IN_FACETS, is_reserved

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
    shown = (_filter_of(facet, attributes.get(facet.facet_id)) for facet in wanted.values())
    return tuple(filter for filter in shown if filter is not None)


def default_facets(facet_ids: Iterable[str], attributes: Mapping[str, Attribute]) -> tuple[Facet, ...]:
    """Return facets for ids alone (the filters beside search results), each with its natural display."""
    return tuple(Facet(facet_id, _natural_display(facet_id, attributes.get(facet_id))) for facet_id in facet_ids)


@dataclass(frozen=True, slots=True)
class KnownFacet:
    """A facet that a list of filters may name: what it is called there, with its level where names repeat; its `label`
    for shoppers, where the list gives no other; and how it can be displayed, the natural way first."""

    facet_id: str
    name: str
    label: str
    displays: tuple[Display, ...]


def known_facets(attributes: Mapping[str, Attribute], taxonomy: TaxonomyTree) -> dict[str, KnownFacet]:
    """Return the known facets by id: the built-in ones, then the attributes of the active taxonomy by their names."""
    labels = LABELS | {facet_id: attribute.label for facet_id, attribute in attributes.items()}
    names = LABELS | {facet_id: attribute.name for facet_id, attribute in attributes.items()}
    named = distinct_names(taxonomy, names)
    ids = (*LABELS, *sorted(attributes.keys() - LABELS.keys(), key=lambda id: (named[id].casefold(), id)))
    return {id: KnownFacet(id, named[id], labels[id], _displays_of(id, attributes.get(id))) for id in ids}


def _displays_of(facet_id: str, attribute: Attribute | None) -> tuple[Display, ...]:
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


def _filter_of(facet: Facet, attribute: Attribute | None) -> Filter | None:
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


FACET = Record(
    facetId=Text(required=True),
    display=Text(),
    label=Text(allow_none=True),
    swatches=Object(allow_none=True),
)
LONGEST_LABEL = 80
LONGEST_SWATCH_VALUE = 200
MOST_FACETS = 60
MOST_SWATCHES = 500


def clean_facets(raw: Sequence[Any], pointer: str) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Return the facets in their stored form, without those that are refused, and why those are."""
    kept: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for index, item in enumerate(raw):
        at = f"{pointer}/{index}"
        found: list[Problem] = []
        fields = FACET.read(item, at, found)
        found += _facet_problems(fields, [facet["facetId"] for facet in kept], at)
        if found:
            problems += found
        else:
            kept.append(_stored_form(fields))
    return kept, problems


def _facet_problems(fields: Mapping[str, Any], earlier: Sequence[str], at: str) -> Iterator[Problem]:
    facet_id = fields.get("facetId", "x")
    if facet_id not in BUILT_IN_FACETS and (not ID.fullmatch(facet_id) or is_reserved(facet_id)):
        yield Problem("invalid_facet", f"“{facet_id[:80]}” is neither a built-in filter nor an attribute id.", at)
    if facet_id in earlier:
        yield Problem("duplicate_facet", f"The filter “{facet_id[:80]}” stands in the list twice.", at)
    if len(earlier) >= MOST_FACETS:
        yield Problem("too_many", f"A list holds at most {MOST_FACETS} filters.", at)
    if fields.get("display", Display.LIST) not in list(Display):
        message = f"A filter is displayed as {', '.join(Display)}."
        yield Problem("invalid_display", message, f"{at}/display")
    yield from line_problems(fields.get("label") or "", "The label", LONGEST_LABEL, f"{at}/label")
    yield from _swatch_problems(fields.get("swatches") or {}, f"{at}/swatches")


def _swatch_problems(swatches: Mapping[str, Any], at: str) -> Iterator[Problem]:
    for value, colour in swatches.items():
        if not isinstance(colour, str) or not HEX.fullmatch(colour) or len(value) > LONGEST_SWATCH_VALUE:
            message = f"The colour of “{value[:80]}” must be written like #1b2a4e."
            yield Problem("invalid_colour", message, f"{at}/{token(value)}")
    if len(swatches) > MOST_SWATCHES:
        yield Problem("too_many", f"A filter has at most {MOST_SWATCHES} colours.", at)


def _stored_form(fields: Mapping[str, Any]) -> dict[str, Any]:
    facet: dict[str, Any] = {"facetId": fields["facetId"], "display": fields.get("display", str(Display.LIST))}
    if label := (fields.get("label") or "").strip():
        facet["label"] = label
    if fields.get("swatches"):
        facet["swatches"] = {value: colour.lower() for value, colour in fields["swatches"].items()}
    return facet


HEX = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)

# The names of CSS Color 4 that shops use, then names that only shops use.
CSS_COLOURS = {
    "aqua": "#00ffff", "aquamarine": "#7fffd4", "azure": "#f0ffff", "beige": "#f5f5dc", "bisque": "#ffe4c4",
    "black": "#000000", "blue": "#0000ff", "brown": "#a52a2a", "chartreuse": "#7fff00", "chocolate": "#d2691e",
    "coral": "#ff7f50", "cornflowerblue": "#6495ed", "crimson": "#dc143c", "cyan": "#00ffff", "darkblue": "#00008b",
    "darkgreen": "#006400", "darkgrey": "#a9a9a9", "darkgray": "#a9a9a9", "darkred": "#8b0000", "dimgrey": "#696969",
    "forestgreen": "#228b22", "fuchsia": "#ff00ff", "gold": "#ffd700", "gray": "#808080", "green": "#008000",
    "grey": "#808080", "honeydew": "#f0fff0", "hotpink": "#ff69b4", "indianred": "#cd5c5c", "indigo": "#4b0082",
    "ivory": "#fffff0", "khaki": "#f0e68c", "lavender": "#e6e6fa", "lightblue": "#add8e6", "lightgreen": "#90ee90",
    "lightgrey": "#d3d3d3", "lightgray": "#d3d3d3", "lime": "#00ff00", "linen": "#faf0e6", "magenta": "#ff00ff",
    "maroon": "#800000", "midnightblue": "#191970", "mintcream": "#f5fffa", "moccasin": "#ffe4b5", "navy": "#000080",
    "olive": "#808000", "orange": "#ffa500", "orchid": "#da70d6", "peachpuff": "#ffdab9", "peru": "#cd853f",
    "pink": "#ffc0cb", "plum": "#dda0dd", "powderblue": "#b0e0e6", "purple": "#800080", "rebeccapurple": "#663399",
    "red": "#ff0000", "rosybrown": "#bc8f8f", "royalblue": "#4169e1", "salmon": "#fa8072", "sandybrown": "#f4a460",
    "seagreen": "#2e8b57", "seashell": "#fff5ee", "sienna": "#a0522d", "silver": "#c0c0c0", "skyblue": "#87ceeb",
    "slateblue": "#6a5acd", "slategrey": "#708090", "slategray": "#708090", "snow": "#fffafa", "steelblue": "#4682b4",
    "tan": "#d2b48c", "teal": "#008080", "thistle": "#d8bfd8", "tomato": "#ff6347", "turquoise": "#40e0d0",
    "violet": "#ee82ee", "wheat": "#f5deb3", "white": "#ffffff", "whitesmoke": "#f5f5f5", "yellow": "#ffff00",
    "yellowgreen": "#9acd32",
}  # fmt: skip
SHOP_COLOURS = {
    "anthracite": "#383e42", "brass": "#c2a04e", "bronze": "#a97142", "burgundy": "#6d1a36", "camel": "#c19a6b",
    "charcoal": "#3d4147",
    "chrome": "#c9ccd1", "clay": "#b66a50", "cobalt": "#1f4fa3", "copper": "#b87333", "cream": "#f7f0dc",
    "denim": "#3b5b85", "emerald": "#138a5e", "fern": "#4f7942", "forest": "#2b5d3a", "graphite": "#474a51",
    "heather": "#9a8fa6", "ink": "#22293d", "jade": "#2a9d74", "lilac": "#b79ed0", "mauve": "#a98096",
    "metallic": "#a9adb3", "mint": "#a6dcc4", "moss": "#6b7a3d", "mushroom": "#b3a193", "mustard": "#d2a02a",
    "natural": "#e3d6bf", "nude": "#e3bfa5", "oak": "#c49a63", "oat": "#e2d8c4", "ochre": "#c58a2b",
    "offwhite": "#f6f3ea", "peach": "#fbc6a4", "petrol": "#14525f", "pine": "#24523f", "raspberry": "#b3244d",
    "rose": "#d98a9b", "ruby": "#9b1b3f", "rust": "#a8482a", "sage": "#9caf88", "sand": "#d9c5a0", "skin": "#e6bc98",
    "slate": "#5d6b78", "steel": "#8d98a3", "stone": "#b8b0a2", "sunshine": "#fad54b", "taupe": "#8b7d6f",
    "terracotta": "#c1613f", "titanium": "#878681", "walnut": "#5f4131",
}  # fmt: skip
COLOURS = CSS_COLOURS | SHOP_COLOURS


def colour_of(name: str, swatches: Mapping[str, str] | None = None) -> str | None:
    """Return a colour as `#rrggbb`: the shop's own swatch, else the whole name, else its last word that is a colour
    ("Navy blue" without a swatch is a blue). None for names that mean no one colour."""
    own = (swatches or {}).get(name, "")
    if HEX.fullmatch(own):
        return own.lower()
    words = re.findall(r"[a-z]+", name.casefold())
    whole = COLOURS.get("".join(words))
    return whole or next((COLOURS[word] for word in reversed(words) if word in COLOURS), None)
