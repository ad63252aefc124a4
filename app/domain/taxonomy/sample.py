"""The tree that a new taxonomy can begin with: small, and with every type of attribute and every rule once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Fields = dict[str, Any]
COLOURS = ("Black", "Blue", "Brown", "Green", "Grey", "Red", "White", "Yellow")
LETTER_SIZES = ("XS", "S", "M", "L", "XL", "XXL")
SHOE_SIZES = ("36", "37", "38", "39", "40", "41", "42", "43", "44", "45", "46")


def _attribute(name: str, kind: str, mandatory: bool = False, **more: Any) -> Fields:
    """Return a sample attribute. `more` are its further fields; `validation` gains `mandatory`."""
    validation = dict(more.pop("validation", {})) | ({"mandatory": True} if mandatory else {})
    return {"name": name, "type": kind, "displayOnProductPage": True, "validation": validation} | more


def _choice(name: str, values: Sequence[str], mandatory: bool = False, many: bool = False, **more: Any) -> Fields:
    kind = "MULTI_SELECT" if many else "SINGLE_SELECT"
    return _attribute(name, kind, mandatory, allowedValues=list(values), **more)


def _level(name: str, description: str, attributes: Sequence[Fields] = (), children: Sequence[Fields] = ()) -> Fields:
    return {"name": name, "description": description, "attributes": list(attributes), "children": list(children)}


_CLOTHING = _level(
    "Clothing",
    "What people wear. Everything here has a size, a colour and a material.",
    [
        _choice("Size", LETTER_SIZES, mandatory=True, helpText="As on the label."),
        _choice("Colour", COLOURS, mandatory=True, many=True, helpText="Every colour that can be seen from afar."),
        _attribute(
            "Material", "STRING", validation={"maxLength": 200}, helpText="As on the label: 80% wool, 20% silk."
        ),
        _choice("Season", ("Spring", "Summer", "Autumn", "Winter"), many=True),
    ],
    [
        _level(
            "Jackets",
            "Coats and jackets for outdoors.",
            [
                _attribute("Waterproof", "BOOLEAN", mandatory=True),
                _attribute(
                    "Water column",
                    "NUMBER",
                    unit="mm",
                    validation={"minValue": 0, "maxValue": 50_000, "errorMessage": "In millimetres, up to 50,000."},
                ),
            ],
        ),
        _level("Shirts and tops", "", [_choice("Sleeve", ("Short", "Long", "None"))]),
        _level("Trousers", "", [_choice("Fit", ("Slim", "Regular", "Relaxed"))]),
        _level(
            "Shoes", "", [_choice("Size", SHOE_SIZES, mandatory=True, attributeId="size", helpText="European size.")]
        ),
    ],
)

_OUTDOOR = _level(
    "Outdoor",
    "Equipment for days and nights outside.",
    [
        _attribute("Weight", "NUMBER", mandatory=True, unit="g", validation={"minValue": 0}),
        _choice("Colour", COLOURS, many=True),
    ],
    [
        _level(
            "Tents",
            "",
            [
                _attribute("Sleeps", "NUMBER", mandatory=True, validation={"minValue": 1, "maxValue": 20}),
                _choice("Seasons", ("Three seasons", "Four seasons")),
            ],
        ),
        _level("Rucksacks", "", [_attribute("Volume", "NUMBER", unit="l")]),
        _level(
            "Sleeping bags",
            "",
            [
                _choice("Filling", ("Down", "Synthetic"), mandatory=True),
                _attribute(
                    "Comfort temperature",
                    "NUMBER",
                    unit="°C",
                    validation={"minValue": -60, "maxValue": 30},
                ),
            ],
        ),
    ],
)

# As a client would send it: app/domain/taxonomy/validation/structure.py gives it its ids.
SAMPLE_LEVELS: tuple[Fields, ...] = (_CLOTHING, _OUTDOOR)
