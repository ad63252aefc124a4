"""The fonts that a shop may have: their files, which the shop serves itself, and how far a font of the reader's machine
is stretched to take the same room until the file is there. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

THEME_FONT = "theme"
SANS, SERIF = ("Arial", "Liberation Sans"), ("Times New Roman", "Liberation Serif")


@dataclass(frozen=True, slots=True)
class Font:
    """A variable font. `file` lies in static/vendor; `weights` are the lightest and the boldest. `stands_in` are fonts
    of readers' machines, `size`, `ascent` and `descent` what makes them take the same room, in percent."""

    family: str
    label: str
    file: str
    weights: tuple[int, int]
    stands_in: tuple[str, ...]
    size: float
    ascent: float
    descent: float
    generic: str = "sans-serif"


# The figures are of letters as often as English has them, beside those of Arial and Times New Roman.
FONTS: Mapping[str, Font] = {
    "figtree": Font(
        "Figtree", "Figtree: friendly, clear", "figtree-5.3.0.woff2", (300, 900), SANS, 100.08, 94.93, 24.98
    ),
    "dm-sans": Font(
        "DM Sans", "DM Sans: round, modern", "dm-sans-5.3.0.woff2", (100, 1000), SANS, 105.58, 93.96, 29.36
    ),
    "outfit": Font("Outfit", "Outfit: geometric, light", "outfit-5.3.0.woff2", (100, 900), SANS, 98.95, 101.07, 26.28),
    "lora": Font(
        "Lora", "Lora: a book’s serif", "lora-5.3.0.woff2", (400, 700), SERIF, 116.51, 86.34, 23.52, "serif"
    ),
    "fraunces": Font(
        "Fraunces", "Fraunces: a warm old-style serif", "fraunces-5.3.0.woff2", (100, 900), SERIF, 126.98, 77.02, 20.08,
        "serif",
    ),
}  # fmt: skip
