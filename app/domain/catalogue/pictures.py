"""Pictures as files: pure.

The names of the forms of a stored picture, and drawings for products that have
no picture, made from their kind and colour. `drawings/` holds an outline per shape, on a canvas of 400 by 400 where {c}
is the main colour, {d} darker and {l} lighter, and the words that lead to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

from app.domain.shared.problems import NotFound

LARGEST_UPLOAD = 5 * 1024 * 1024  # Bytes.
MOST_PIXELS = 25_000_000
LONGEST_SIDE = 1_600  # Pixels; larger pictures are scaled down to it.
# The smaller forms of a picture by name, with their longest sides: thumbs, cards, and pages on phones.
FORMS = {"tiny": 240, "small": 480, "medium": 960}
JPEG_SIDE = 960  # Of the one JPEG, for programs that read no WebP: old browsers, previews of links.


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A stored picture. `file` is a name without folders, made from its content; sizes are in pixels."""

    file: str
    width: int
    height: int


def form_of(file: str, name: str) -> str:
    """Return the file name of a form of a stored picture; `name` is one of FORMS."""
    stem, point, suffix = file.rpartition(".")
    return f"{stem}-{name}{point}{suffix}"


def small_form(file: str) -> str:
    """Return the file name of the small form of a stored picture, for lists and cards."""
    return form_of(file, "small")


def jpeg_form(file: str) -> str:
    """Return the JPEG of a stored picture, by the name or address of the picture or of a form of it."""
    folder, slash, name = file.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0].partition('-')[0]}.jpg"


def scale_to(width: int, height: int, longest_side: int) -> tuple[int, int]:
    """Return the size of a picture with at most that longest side; a smaller one stays as it is."""
    factor = min(1.0, longest_side / max(width, height))
    return max(1, round(width * factor)), max(1, round(height * factor))


def srcset(url: str, width: int, height: int) -> str:
    """Return the forms of a picture by their widths in pixels, as the attribute `srcset` of HTML names them; empty for
    a picture that has no smaller form."""
    smaller = [(form_of(url, name), side) for name, side in FORMS.items() if side < max(width, height)]
    sizes = [(file, scale_to(width, height, side)[0]) for file, side in smaller]
    return ", ".join(f"{file} {pixels}w" for file, pixels in [*sizes, (url, width)]) if smaller else ""


DRAWINGS = Path(__file__).parent / "drawings"
DRAWN_ANEW = 1  # Raised when a drawing changes, so that browsers fetch pictures again.
PLAIN = "7d8a86"  # The colour of a product whose colour is not known.
GROUNDS = ("#f3f0e9", "#eaf0ee", "#f2ecec", "#ebeef4", "#f1f1ea", "#eef0eb")  # Backgrounds.

# The last word of a kind that is listed here decides the shape; two words that mean something of their own together
# are joined by a hyphen.
WORDS: dict[str, list[str]] = json.loads((DRAWINGS / "words.json").read_text(encoding="utf-8"))
SHAPES = {*WORDS, "box"}
_SHAPE_OF_WORD = {word: shape for shape, words in WORDS.items() for word in words}
_DRAWING_NAME = re.compile(r"(?P<colour>[0-9a-f]{6})-(?P<ground>[0-9])", re.ASCII)
_AFTER = re.compile(r" (?:for|with|and accessories)\b")  # "Cases for phones" are cases.


def shape_of(kind: str) -> str:
    """Return the name of the outline for a kind ("Walking boots" is a boot); `box` for what nothing fits."""
    words = re.findall(r"[a-z]+", _AFTER.split(kind.casefold())[0])
    pairs = ["", *(f"{first}-{second}" for first, second in pairwise(words))]
    endings = (name for pair, word in zip(reversed(pairs), reversed(words), strict=False) for name in (pair, word))
    return next((_SHAPE_OF_WORD[name] for name in endings if name in _SHAPE_OF_WORD), "box")


def shape_among(kinds: Iterable[str]) -> str:
    """Return the outline of the first kind that has one of its own."""
    return next((shape for kind in kinds if (shape := shape_of(kind)) != "box"), "box")


def picture_path(kind: str, colour: str | None, number: int) -> str:
    """Return the path of a product's drawing: `colour` is `#rrggbb`, `number` distinguishes products."""
    return shape_path(shape_of(kind), colour, number)


def shape_path(shape: str, colour: str | None, number: int) -> str:
    tint = (colour or f"#{PLAIN}").removeprefix("#")
    return f"/picture/{shape}/{tint}-{number % len(GROUNDS)}.svg?v={DRAWN_ANEW}"


def drawing_at(shape: str, name: str) -> str:
    """Return the drawing that a path of `picture_path` names. Raises NotFound for anything else."""
    found = _DRAWING_NAME.fullmatch(name)
    if shape not in SHAPES or found is None:
        raise NotFound("There is no such picture.")
    return draw(shape, found["colour"], int(found["ground"]))


@lru_cache(maxsize=512)
def draw(shape: str, colour: str, ground: int) -> str:
    """Draw an SVG of 400 by 400. `colour` is six hexadecimal digits. Raises KeyError for an unknown shape."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (0, 2, 4))
    main = _soften((red, green, blue))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" width="400" height="400">'
        f'<rect width="400" height="400" fill="{GROUNDS[ground % len(GROUNDS)]}"/>'
        '<ellipse cx="200" cy="318" rx="132" ry="14" fill="#1c2420" opacity=".1"/>'
        + _outline(shape).format(c=_hex(main), d=_hex(_mix(main, 0, 0.34)), l=_hex(_mix(main, 255, 0.48)))
        + "</svg>"
    )


@cache
def _outline(shape: str) -> str:
    if shape not in SHAPES:
        raise KeyError(shape)
    return "".join((DRAWINGS / f"{shape}.svg").read_text(encoding="utf-8").splitlines())


def _soften(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    """Return a colour moved towards grey, the purest the farthest: pure screen colours look like no dye, and white
    cannot be seen on a pale ground."""
    purity = (max(colour) - min(colour)) / 255
    return _mix(colour, 128, 0.26 if min(colour) > 225 else 0.12 + 0.3 * purity)


def _mix(colour: tuple[int, int, int], with_grey: int, share: float) -> tuple[int, int, int]:
    red, green, blue = (round(part + (with_grey - part) * share) for part in colour)
    return red, green, blue


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
