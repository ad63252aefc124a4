"""The demo shop's categories: filters of every kind, landing pages, and orders made by hand."""

from __future__ import annotations

from typing import Any

BRAND = {"facetId": "manufacturer", "display": "list", "label": "Brand"}
PRICE = {"facetId": "price", "display": "range"}
IN_STOCK = {"facetId": "inStock", "display": "toggle", "label": "In stock"}
ON_SALE = {"facetId": "onSale", "display": "toggle", "label": "On sale"}
RATING = {"facetId": "rating", "display": "range", "label": "Rating"}
SWATCHES = {"Natural": "#e3d6bf", "Heather": "#8d7b9a", "Oat": "#ded3bd", "Titanium": "#8b8d8f", "Plum": "#6b3a5b"}
COLOUR = {"facetId": "colour", "display": "swatch", "label": "Colour", "swatches": SWATCHES}
EVERYWHERE = [BRAND, COLOUR, PRICE, RATING, IN_STOCK, ON_SALE]


def choice(attribute_id: str, label: str | None = None) -> dict[str, Any]:
    return {"facetId": attribute_id, "display": "list", **({"label": label} if label else {})}


def span(attribute_id: str, label: str) -> dict[str, Any]:
    return {"facetId": attribute_id, "display": "range", "label": label}


def switch(attribute_id: str, label: str) -> dict[str, Any]:
    return {"facetId": attribute_id, "display": "toggle", "label": label}


def category(name: str, level_id: str | None, *children: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Shows the products of a level; `also` adds filters before those of every category."""
    also = more.pop("also", None)
    node: dict[str, Any] = {"name": name, **more, "children": list(children)}
    if level_id is not None:
        node["source"] = {"levels": [level_id]}
    if also is not None:
        node["facets"] = [BRAND, *also, COLOUR, PRICE, IN_STOCK, ON_SALE]
    return node


OUTDOOR = category(
    "Outdoor",
    "outdoor",
    category(
        "Camping",
        "outdoor-camping",
        category(
            "Tents",
            "outdoor-camping-tents",
            slug="tents",
            also=[choice("season"), span("sleeps", "Sleeps"), span("weight-g", "Weight (g)")],
            description="From a tarp for one night to a bell tent for the whole summer.",
            landingRules=[
                {"facetId": "manufacturer", "minProducts": 2},
                {
                    "facetId": "season",
                    "minProducts": 2,
                    "overrides": [
                        {
                            "value": "4-season",
                            "heading": "Tents for winter",
                            "intro": "Five poles, snow valances and room to wait for the weather.",
                        }
                    ],
                },
            ],
        ),
        category(
            "Sleeping bags",
            "outdoor-camping-sleeping-bags",
            also=[choice("filling"), span("comfort-temperature", "Comfortable down to (°C)")],
        ),
        category("Sleeping mats", "outdoor-camping-mats", also=[choice("mat-type", "Kind"), span("r-value", "Warmth")]),
        category("Stoves", "outdoor-camping-stoves", also=[choice("fuel"), span("boil-minutes", "Boils in (minutes)")]),
        category("Camp cookware", "outdoor-camping-camp-cookware"),
        category("Camp chairs", "outdoor-camping-camp-chairs", also=[span("max-load-kg", "Carries up to (kg)")]),
        category("Hammocks", "outdoor-camping-hammocks"),
        category("Lanterns", "outdoor-camping-lanterns", also=[choice("power-source"), span("lumens", "Lumens")]),
        description="Everything between the grass and the stars.",
    ),
    category(
        "Walking",
        "outdoor-walking",
        category(
            "Rucksacks",
            "outdoor-walking-rucksacks",
            also=[choice("suited-to"), span("volume-l", "Litres"), switch("rain-cover", "With rain cover")],
        ),
        category("Walking poles", "outdoor-walking-walking-poles", also=[choice("pole-material")]),
        category(
            "Head torches", "outdoor-walking-head-torches", also=[choice("power-source"), span("lumens", "Lumens")]
        ),
        category(
            "Flasks and bottles",
            "outdoor-walking-bottles",
            also=[choice("bottle-material"), span("capacity-ml", "Holds (ml)"), switch("insulated", "Insulated")],
        ),
        category("Maps and guides", "outdoor-walking-maps-and-guides", also=[choice("region")]),
        category("Compasses", "outdoor-walking-compasses"),
    ),
)
CLOTHING = category(
    "Clothing",
    "clothing",
    category(
        "Outerwear",
        "clothing-outerwear",
        category("Waterproof jackets", "clothing-outerwear-waterproof-jackets"),
        category("Fleeces and jumpers", "clothing-outerwear-fleeces"),
        category("Walking trousers", "clothing-outerwear-walking-trousers"),
        category("Base layers", "clothing-outerwear-base-layers"),
        also=[choice("fit", "Made for"), choice("fabric"), switch("waterproof", "Waterproof")],
    ),
    category(
        "Footwear",
        "clothing-footwear",
        category("Walking boots", "clothing-footwear-walking-boots", slug="boots"),
        category("Wellingtons", "clothing-footwear-wellingtons"),
        category("Sandals and slippers", "clothing-footwear-sandals"),
        also=[choice("fit", "Made for"), choice("upper"), choice("cut"), switch("waterproof", "Waterproof")],
    ),
    category(
        "Accessories",
        "clothing-accessories",
        category("Hats", "clothing-accessories-hats"),
        category("Gloves", "clothing-accessories-gloves"),
        category("Socks", "clothing-accessories-socks"),
        category("Scarves", "clothing-accessories-scarves"),
        category("Belts", "clothing-accessories-belts"),
    ),
    also=[choice("fit", "Made for")],
    landingRules=[
        {"facetId": "manufacturer", "minProducts": 3},
        {"facetId": "colour", "minProducts": 5, "overrides": [{"value": "Grey", "excluded": True}]},
        {"facetId": "fit", "pathSegment": "for", "minProducts": 4},
    ],
)
HOME = category(
    "Home",
    "home",
    category(
        "Kitchen",
        "home-kitchen",
        category("Mugs", "home-kitchen-mugs", also=[choice("material"), span("capacity-ml", "Holds (ml)")]),
        category("Pans", "home-kitchen-pans", also=[choice("material"), span("width-cm", "Width (cm)")]),
        category("Knives", "home-kitchen-knives", also=[choice("material"), span("blade-cm", "Blade (cm)")]),
        category("Plates and bowls", "home-kitchen-bowls"),
        category("Kitchen linen", "home-kitchen-kitchen-linen"),
        also=[choice("material"), switch("dishwasher-safe", "Dishwasher safe"), switch("handmade", "Made by hand")],
    ),
    category(
        "Living",
        "home-living",
        category("Throws", "home-living-throws"),
        category("Cushions", "home-living-cushions"),
        category("Lamps", "home-living-lamps", also=[choice("material"), choice("bulb-cap", "Bulb cap")]),
        category("Candles", "home-living-candles", also=[choice("scent"), span("burn-hours", "Burns for (hours)")]),
        category("Rugs", "home-living-rugs"),
        category("Clocks", "home-living-clocks"),
        also=[choice("material")],
    ),
    category("Bath", "home-bath", also=[choice("material"), choice("scent")]),
    category(
        "Garden",
        "home-garden",
        category("Planters", "home-garden-planters"),
        category("Garden tools", "home-garden-garden-tools"),
        category("Benches, tables and chairs", "home-garden-outdoor-furniture", slug="furniture"),
        also=[choice("material")],
    ),
)
GIFTS = category(
    "Gifts",
    None,
    category(
        "Under £20", None, slug="under-20", products=["MUG-02", "LANT-02", "CANDLE-06", "MAP-07", "SOCK-05", "TOOL-09"]
    ),
    category("For gardeners", None, products=["TOOL-01", "PLANT-04", "BATH-09", "TOOL-10", "TOOL-09"]),
    products=["FLASK-02", "CANDLE-01", "HAT-01", "MUG-01", "LANT-04", "THROW-01", "COMP-03", "PLANT-04"],
    description="Chosen by us, wrapped by us, and easy to return by anybody.",
    landingRules=[],
)
COLD_WEATHER = category(
    "Cold weather",
    None,
    source={"levels": ["clothing-outerwear-base-layers", "outdoor-camping-sleeping-bags"], "manufacturers": ["Ullock"]},
    seo={"canonicalOverride": "/c/clothing/outerwear", "excludeFromSitemap": True},
)
OUR_MILL = category("Thistledown Mill", None, source={"manufacturers": ["Thistledown Mill"]})
TRADE = category("Trade samples", None, visible=False, products=["TOOL-12"])

MERCHANDISING = {
    "trees": [
        {
            "name": "Shop",
            "primary": True,
            "facets": EVERYWHERE,
            "landingRules": [{"facetId": "manufacturer", "minProducts": 3}],
            "nodes": [OUTDOOR, CLOTHING, HOME, GIFTS, OUR_MILL, COLD_WEATHER, TRADE],
        }
    ]
}
