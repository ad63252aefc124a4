"""Pictures for products that have none, drawn from their kind and colour.

`drawings/` holds an outline per shape, on a canvas of 400 by 400 where {c} is the main colour, {d} darker and {l}
lighter, and the words that lead to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from app.domain.shared.problems import NotFound

DRAWINGS = Path(__file__).parent / "drawings"
DRAWN_ANEW = 1  # Raised when a drawing changes, so that browsers fetch pictures again.
PLAIN = "7d8a86"  # The colour of a product whose colour is not known.
GROUNDS = ("#f3f0e9", "#eaf0ee", "#f2ecec", "#ebeef4", "#f1f1ea", "#eef0eb")  # Backgrounds.

# The last word of a kind that is listed here decides the shape; two words that mean something of their own together
# are joined by a hyphen.
WORDS: dict[str, list[str]] = json.loads((DRAWINGS / "words.json").read_text(encoding="utf-8"))
SHAPES = {*WORDS, "box"}
_SHAPE_OF_WORD = {word: shape for shape, words in WORDS.items() for word in words}
_NAME = re.compile(r"(?P<colour>[0-9a-f]{6})-(?P<ground>[0-9])", re.ASCII)
_AFTER = re.compile(r" (?:for|with|and accessories)\b")  # "Cases for phones" are cases.


def shape_of(kind: str) -> str:
    """The name of the outline for a kind ("Walking boots" is a boot); `box` for what nothing fits."""
    words = re.findall(r"[a-z]+", _AFTER.split(kind.casefold())[0])
    pairs = ["", *(f"{first}-{second}" for first, second in pairwise(words))]
    endings = (name for pair, word in zip(reversed(pairs), reversed(words), strict=False) for name in (pair, word))
    return next((_SHAPE_OF_WORD[name] for name in endings if name in _SHAPE_OF_WORD), "box")


def shape_among(kinds: Iterable[str]) -> str:
    """The outline of the first kind that has one of its own."""
    return next((shape for kind in kinds if (shape := shape_of(kind)) != "box"), "box")


def picture_path(kind: str, colour: str | None, number: int) -> str:
    """The path of a product's drawing: `colour` is `#rrggbb`, `number` distinguishes products."""
    return shape_path(shape_of(kind), colour, number)


def shape_path(shape: str, colour: str | None, number: int) -> str:
    tint = (colour or f"#{PLAIN}").removeprefix("#")
    return f"/picture/{shape}/{tint}-{number % len(GROUNDS)}.svg?v={DRAWN_ANEW}"


def drawn_picture(shape: str, name: str) -> str:
    """The drawing that a path of `picture_path` names. Raises NotFound for anything else."""
    found = _NAME.fullmatch(name)
    if shape not in SHAPES or found is None:
        raise NotFound("There is no such picture.")
    return draw(shape, found["colour"], int(found["ground"]))


@lru_cache(maxsize=512)
def draw(shape: str, colour: str, ground: int) -> str:
    """An SVG of 400 by 400. `colour` is six hexadecimal digits. Raises KeyError for an unknown shape."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (0, 2, 4))
    main = _softened((red, green, blue))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400">'
        f'<rect width="400" height="400" fill="{GROUNDS[ground % len(GROUNDS)]}"/>'
        '<ellipse cx="200" cy="318" rx="132" ry="14" fill="#1c2420" opacity=".1"/>'
        + _outline(shape).format(c=_hex(main), d=_hex(_mixed(main, 0, 0.34)), l=_hex(_mixed(main, 255, 0.48)))
        + "</svg>"
    )


@cache
def _outline(shape: str) -> str:
    if shape not in SHAPES:
        raise KeyError(shape)
    return "".join((DRAWINGS / f"{shape}.svg").read_text(encoding="utf-8").splitlines())


def _softened(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return a colour moved towards grey, the purest the farthest: pure screen colours look like no dye, and white
    cannot be seen on a pale ground."""
    purity = (max(colour) - min(colour)) / 255
    return _mixed(colour, 128, 0.26 if min(colour) > 225 else 0.12 + 0.3 * purity)


def _mixed(colour: tuple[int, int, int], with_grey: int, share: float) -> tuple[int, int, int]:
    red, green, blue = (round(part + (with_grey - part) * share) for part in colour)
    return red, green, blue


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
