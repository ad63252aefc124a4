"""The demo shop's taxonomy: three levels with every type of attribute."""

from __future__ import annotations

from typing import Any

COLOURS = (
    "Black/Blue/Brass/Brown/Charcoal/Clay/Copper/Cream/Forest/Grey/Heather/Moss/Mustard/Natural/Navy/Oak/Oat/Olive/"
    "Orange/Plum/Red/Rust/Sage/Slate/Steel/Tan/Teal/Terracotta/Titanium/White/Yellow"
)
CARE_PATTERN = r"(Wash at (30|40|60) °C|Hand wash|Wipe clean|Wax yearly)"


def choice(attribute_id: str, name: str, values: str, **more: Any) -> dict[str, Any]:
    """One of several values, which a text separates by `/`."""
    return _attribute(attribute_id, name, "SINGLE_SELECT", allowedValues=values.split("/"), **more)


def several(attribute_id: str, name: str, values: str, **more: Any) -> dict[str, Any]:
    return {**choice(attribute_id, name, values, **more), "type": "MULTI_SELECT"}


def number(attribute_id: str, name: str, **more: Any) -> dict[str, Any]:
    return _attribute(attribute_id, name, "NUMBER", **more)


def yes_no(attribute_id: str, name: str, **more: Any) -> dict[str, Any]:
    return _attribute(attribute_id, name, "BOOLEAN", **more)


def text(attribute_id: str, name: str, **more: Any) -> dict[str, Any]:
    return _attribute(attribute_id, name, "STRING", **more)


def needed(**rules: Any) -> dict[str, Any]:
    return {"mandatory": True, **rules}


def _attribute(attribute_id: str, name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"attributeId": attribute_id, "name": name, "type": kind, "displayOnProductPage": True, **more}


def level(level_id: str, name: str, attributes: list[dict[str, Any]], *children: dict[str, Any]) -> dict[str, Any]:
    return {"levelId": level_id, "name": name, "attributes": attributes, "children": list(children)}


COLOUR = several("colour", "Colour", COLOURS)
WEIGHT = number("weight-g", "Weight", displayLabel="Weight in grams", validation=needed(minValue=1, maxValue=60_000))
MADE_IN = text("made-in", "Made in", validation={"maxLength": 60})
POWER = several("power-source", "Power", "USB/AAA/AA/Solar/Paraffin/Candle", validation=needed())
LUMENS = number("lumens", "Brightness", displayLabel="Lumens", validation=needed(minValue=1, maxValue=5_000))
INGRESS = text(
    "ingress-rating",
    "Protection from water",
    helpText="The IP rating as printed on the lamp, such as IPX4.",
    validation={"pattern": "IP[0-6X][0-9X]", "errorMessage": "Write the rating like IPX4."},
)
LOAD = number(
    "max-load-kg", "Carries up to", displayLabel="Carries up to (kg)", validation=needed(minValue=20, maxValue=500)
)
WATERPROOF = yes_no("waterproof", "Waterproof")
WIDTH = number("width-cm", "Width", displayLabel="Width in cm", validation={"minValue": 1, "maxValue": 500})
LENGTH = number("length-cm", "Length", displayLabel="Length in cm", validation={"minValue": 1, "maxValue": 500})
DISHWASHER = yes_no("dishwasher-safe", "Dishwasher safe")
HANDMADE = yes_no("handmade", "Made by hand")
CAPACITY = number("capacity-ml", "Holds", displayLabel="Holds (ml)", validation=needed(minValue=10, maxValue=20_000))
FABRICS = "Cotton/Down/Felt/Hemp/Leather/Merino/Nylon/Recycled nylon/Recycled polyester/Silk/Waxed cotton/Wool"
MATERIALS = (
    "Ash/Beeswax/Brass/Carbon steel/Cast iron/Coir/Copper/Cotton/Enamel/Glass/Goat’s milk/Jute/Leather/Linen/Merino/"
    "Oak/Paper/Porcelain/Recycled cotton/Recycled plastic/Recycled polyester/Recycled wool/Seeds/Slate/Soy wax/"
    "Steel/Stoneware/Terracotta/Waxed cotton/Willow/Wool"
)

CAMPING = level(
    "outdoor-camping",
    "Camping",
    [],
    level(
        "outdoor-camping-tents",
        "Tents",
        [
            number("sleeps", "Sleeps", validation=needed(minValue=1, maxValue=12)),
            choice("season", "Season", "2-season/3-season/4-season", validation=needed()),
            number("hydrostatic-head-mm", "Hydrostatic head", displayLabel="Hydrostatic head (mm)"),
            yes_no("freestanding", "Stands without pegs"),
        ],
    ),
    level(
        "outdoor-camping-sleeping-bags",
        "Sleeping bags",
        [
            choice("filling", "Filling", "Cotton/Down/Silk/Synthetic/Wool", validation=needed()),
            number(
                "comfort-temperature",
                "Comfortable down to",
                displayLabel="Comfortable down to (°C)",
                validation=needed(minValue=-40, maxValue=25),
            ),
        ],
    ),
    level(
        "outdoor-camping-mats",
        "Sleeping mats",
        [
            choice("mat-type", "Kind", "Foam/Inflatable/Self-inflating", validation=needed()),
            number("r-value", "Warmth (R-value)", validation={"minValue": 0.5, "maxValue": 10}),
        ],
    ),
    level(
        "outdoor-camping-stoves",
        "Stoves",
        [
            choice("fuel", "Fuel", "Gas/Multi-fuel/Spirit/Wood", validation=needed()),
            number("boil-minutes", "Half a litre boils in", displayLabel="Half a litre boils in (minutes)"),
        ],
    ),
    level("outdoor-camping-camp-cookware", "Camp cookware", [number("pieces", "Pieces")]),
    level("outdoor-camping-camp-chairs", "Camp chairs", [LOAD]),
    level("outdoor-camping-hammocks", "Hammocks", [LOAD]),
    level("outdoor-camping-lanterns", "Lanterns", [LUMENS, POWER, INGRESS]),
)
WALKING = level(
    "outdoor-walking",
    "Walking",
    [],
    level(
        "outdoor-walking-rucksacks",
        "Rucksacks",
        [
            number("volume-l", "Volume", displayLabel="Volume in litres", validation=needed(minValue=1, maxValue=120)),
            several("suited-to", "Suited to", "Commuting/Day walks/Overnight/Travel"),
            yes_no("rain-cover", "With rain cover"),
        ],
    ),
    level(
        "outdoor-walking-walking-poles",
        "Walking poles",
        [
            choice("pole-material", "Material", "Aluminium/Ash/Carbon/Glass fibre/Hazel", validation=needed()),
            number("sections", "Sections", validation={"minValue": 1, "maxValue": 6}),
        ],
    ),
    level("outdoor-walking-head-torches", "Head torches", [LUMENS, POWER, INGRESS]),
    level(
        "outdoor-walking-bottles",
        "Flasks and bottles",
        [
            CAPACITY,
            choice("bottle-material", "Material", "Copper/Recycled plastic/Steel"),
            yes_no("insulated", "Insulated"),
        ],
    ),
    level(
        "outdoor-walking-maps-and-guides",
        "Maps and guides",
        [
            number("weight-g", "Weight", displayOnProductPage=False),  # A book's is nobody's concern.
            choice("region", "Region", "Lake District/Pennines/Scottish Borders/Yorkshire Dales"),
            text("scale", "Scale", validation={"pattern": "1:[0-9]{2},[0-9]{3}"}),
            number("pages", "Pages"),
        ],
    ),
    level("outdoor-walking-compasses", "Compasses", []),
)
OUTDOOR = level("outdoor", "Outdoor", [COLOUR, WEIGHT, MADE_IN], CAMPING, WALKING)

FOOTWEAR = level(
    "clothing-footwear",
    "Footwear",
    [
        choice("upper", "Upper", "Canvas/Felt/Leather/Rubber/Suede/Synthetic", validation=needed()),
        WATERPROOF,
        choice("cut", "Cut", "Low/Mid/High"),
    ],
    level("clothing-footwear-walking-boots", "Walking boots", []),
    level("clothing-footwear-wellingtons", "Wellingtons", []),
    level("clothing-footwear-sandals", "Sandals and slippers", []),
)
CLOTHING = level(
    "clothing",
    "Clothing",
    [
        choice("fit", "Made for", "Children's/Men's/Unisex/Women's", validation=needed()),
        several("colour", "Colour", COLOURS, validation=needed()),
        text("care", "Care", validation={"pattern": CARE_PATTERN}),
    ],
    level(
        "clothing-outerwear",
        "Outerwear",
        [choice("fabric", "Fabric", FABRICS, validation=needed()), WATERPROOF],
        level("clothing-outerwear-waterproof-jackets", "Waterproof jackets", []),
        level("clothing-outerwear-fleeces", "Fleeces and jumpers", []),
        level("clothing-outerwear-walking-trousers", "Walking trousers", []),
        level("clothing-outerwear-base-layers", "Base layers", []),
    ),
    FOOTWEAR,
    level(
        "clothing-accessories",
        "Accessories",
        [choice("fabric", "Fabric", FABRICS, validation=needed())],
        level("clothing-accessories-hats", "Hats", []),
        level("clothing-accessories-gloves", "Gloves", []),
        level("clothing-accessories-socks", "Socks", []),
        level("clothing-accessories-scarves", "Scarves", []),
        level("clothing-accessories-belts", "Belts", []),
    ),
)
HOME = level(
    "home",
    "Home",
    [COLOUR, choice("material", "Material", MATERIALS, validation=needed()), MADE_IN],
    level(
        "home-kitchen",
        "Kitchen",
        [DISHWASHER, HANDMADE],
        level("home-kitchen-mugs", "Mugs", [CAPACITY]),
        level("home-kitchen-pans", "Pans", [WIDTH]),
        level("home-kitchen-knives", "Knives", [number("blade-cm", "Blade", displayLabel="Blade in cm")]),
        level("home-kitchen-bowls", "Plates and bowls", [WIDTH]),
        level("home-kitchen-kitchen-linen", "Kitchen linen", [WIDTH, LENGTH]),
    ),
    level(
        "home-living",
        "Living",
        [WIDTH, LENGTH],
        level("home-living-throws", "Throws", []),
        level("home-living-cushions", "Cushions", []),
        level(
            "home-living-lamps",
            "Lamps",
            [text("bulb-cap", "Bulb cap", validation=needed(pattern="(E|GU|B)[0-9]{1,2}", maxLength=5))],
        ),
        level(
            "home-living-candles",
            "Candles",
            [
                choice("scent", "Scent", "Citronella/Heather/Honey/Sea salt/Tomato leaf/Unscented/Woodsmoke"),
                number("burn-hours", "Burns for", displayLabel="Burns for (hours)"),
            ],
        ),
        level("home-living-rugs", "Rugs", []),
        level("home-living-clocks", "Clocks", []),
    ),
    level(
        "home-bath",
        "Bath",
        [WIDTH, LENGTH, choice("scent", "Scent", "Lemon/Unscented")],
        level("home-bath-towels", "Towels and bath", []),
    ),
    level(
        "home-garden",
        "Garden",
        [WIDTH, LENGTH],
        level("home-garden-planters", "Planters", []),
        level("home-garden-garden-tools", "Garden tools", []),
        level("home-garden-outdoor-furniture", "Benches, tables and chairs", []),
    ),
)
TAXONOMY = {
    "id": "outdoor-and-home",
    "name": "Outdoor and home",
    "description": "What the demo shop sells: levels, and what is known about the products of each.",
    "active": True,
    "rootLevels": [OUTDOOR, CLOTHING, HOME],
}
