"""The colour that a colour's name means, for swatches and drawn pictures."""

from __future__ import annotations

import re
from collections.abc import Mapping

HEX = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)

# The names of CSS Color 4 that shops use, then names that only shops use.
CSS = {
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
SHOPS = {
    "anthracite": "#383e42", "bronze": "#a97142", "burgundy": "#6d1a36", "camel": "#c19a6b", "charcoal": "#3d4147",
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
KNOWN = CSS | SHOPS


def colour_of(name: str, swatches: Mapping[str, str] | None = None) -> str | None:
    """A colour as `#rrggbb`: the shop's own swatch, else the whole name, else its last word that is a colour
    ("Navy blue" without a swatch is a blue). None for names that mean no one colour."""
    own = (swatches or {}).get(name, "")
    if HEX.fullmatch(own):
        return own.lower()
    words = re.findall(r"[a-z]+", name.casefold())
    whole = KNOWN.get("".join(words))
    return whole or next((KNOWN[word] for word in reversed(words) if word in KNOWN), None)
