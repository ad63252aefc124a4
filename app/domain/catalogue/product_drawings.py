"""Drawings for products that have no picture, made from their kind, name and colour: pure.

`drawings/kinds.json` says which words of a kind (the product's level) lead to which drawings: `drawing` is that of
every product of the kind, `names` those of the products whose name has one of the words, `sign` the line drawing of
`drawings/signs.json` for products that none of these fits, so that no picture shows a wrong object. `drawings/` holds a
file per drawing, on a canvas of 400 by 400 lit from the upper left, where {c} is the main colour, {d} and {e} darker,
{l} and {h} lighter, {a} another colour beside it; `studio.svg` has the gradients and filters that all of them share,
`scenes/` the places in which some of them are shown in use. A cut-out has no ground of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from app.domain.shared.problems import NotFound

DRAWINGS = Path(__file__).parent / "drawings"
DRAWN_ANEW = 3  # Raised when a drawing changes, so that browsers fetch pictures again.
SEEDS = 60
PLAIN = "#8a8f8c"  # The colour of a product whose colour is not known.
SIGN = "sign"  # The first part of the address of a sign, which has no colour.
NO_SIGN, NO_CATEGORY_SIGN = "parcel", "tag"
DETAIL, SCENE, CUTOUT = "detail", "scene", "cutout"
GROUND = '<rect width="400" height="400" fill="url(#bg)"/>\n'
GROUNDS = (  # Backgrounds of the studio: the middle and the edge in light, then in dark surroundings.
    ("#f8f6f2", "#e9e5dd", "#484b4d", "#2e3132"),
    ("#f4f6f5", "#e1e7e4", "#464c4b", "#2c3231"),
    ("#f7f4f4", "#e9e1e0", "#4b4848", "#322f2f"),
    ("#f4f6f8", "#e0e5ea", "#464b50", "#2c3035"),
    ("#f7f7f2", "#e7e6da", "#494945", "#31312e"),
)
ACCENTS = ("#c8643c", "#e0a93a", "#3f6f73", "#52606b", "#7d4f5e", "#5f7447")
COVERS = ("#2f5d62", "#7a3b3b", "#3c4f76", "#a0622d", "#55683f", "#5b4a6b")

# Colours of screens are no dyes: a pure one is drawn as what fabric, paint or glaze of its name looks like.
DYES = {
    "#000000": "#2b2c2f", "#0000ff": "#33639c", "#000080": "#283a5e", "#008000": "#3f774a", "#008080": "#2d7074",
    "#00ffff": "#5bb5bd", "#800000": "#6b2a2c", "#800080": "#6a3c71", "#808000": "#6e6b3c", "#808080": "#8b8f92",
    "#a52a2a": "#70503b", "#b87333": "#c07d4e", "#d2b48c": "#bd9668", "#dda0dd": "#6f3f5f", "#ff0000": "#b9372f",
    "#ff00ff": "#b2518f", "#ffa500": "#dd7a2e", "#ffc0cb": "#dfa3ac", "#ffff00": "#e8bd3f", "#ffffff": "#f3f1ec",
    "#f7f0dc": "#efe7d2",
}  # fmt: skip

_PARTS = re.compile(r"(?P<colour>[0-9a-f]{6})-(?P<seed>[0-9]{1,2})(?:-(?P<view>detail|scene|cutout))?", re.ASCII)
_AFTER = re.compile(r" (?:for|with|and accessories)\b")  # "Cases for phones" are cases.


@dataclass(frozen=True, slots=True)
class DrawnKind:
    """How products of a kind are drawn. `scene` is the place of the picture in use; `details` are the windows of close
    pictures, as left, top and side of a square, by drawing."""

    kinds: Sequence[str]
    sign: str = NO_SIGN
    drawing: str | None = None
    scene: str | None = None
    names: dict[str, list[str]] = field(default_factory=dict)
    details: dict[str, list[int]] = field(default_factory=dict)
    any_colour: bool = False  # Books and the like have a cover, whose colour nobody enters.

    def drawing_of(self, name: str) -> str | None:
        """Return the drawing of a product by its name; None where only the sign fits."""
        words = _words(name)
        fitting = (drawing for drawing, phrases in self.names.items() if any(f" {it} " in words for it in phrases))
        return next(fitting, self.drawing)

    @property
    def drawings(self) -> list[str]:
        """The drawings of the kind, that of most products first."""
        return list(dict.fromkeys([*([self.drawing] if self.drawing else []), *self.names]))


def _words(text: str) -> str:
    """Return the words of a text in small letters, each between spaces."""
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.casefold().replace('é', 'e').replace('ê', 'e')))} "


def _read(name: str) -> Any:
    return json.loads((DRAWINGS / name).read_text(encoding="utf-8"))


KINDS = tuple(DrawnKind(**kind) for kind in _read("kinds.json"))
SIGNS: dict[str, str] = _read("signs.json")
_OTHER = DrawnKind(())
_KIND_OF_WORD = {word: kind for kind in KINDS for word in kind.kinds}
_KIND_OF_DRAWING = {drawing: kind for kind in reversed(KINDS) for drawing in kind.drawings}


@lru_cache(maxsize=4096)
def kind_of(kind: str) -> DrawnKind:
    """Return how a kind is drawn. The last word that is known decides ("Walking boots" are boots); two words that mean
    something of their own together are joined by a hyphen."""
    words = re.findall(r"[a-z]+", _AFTER.split(kind.casefold())[0])
    pairs = ["", *(f"{first}-{second}" for first, second in pairwise(words))]
    endings = (name for pair, word in zip(reversed(pairs), reversed(words), strict=False) for name in (pair, word))
    return next((_KIND_OF_WORD[name] for name in endings if name in _KIND_OF_WORD), _OTHER)


def picture_path(kind: str, name: str, colour: str | None, number: int, view: str = "") -> str:
    """Return the path of a product's drawing, or of the sign of its kind where no drawing fits. `colour` is `#rrggbb`,
    `number` distinguishes products, `view` is DETAIL, SCENE, CUTOUT or empty."""
    found = kind_of(kind)
    drawing = found.drawing_of(name)
    tint = COVERS[number % len(COVERS)] if found.any_colour and colour is None else colour
    return drawing_path(drawing, tint, number, view) if drawing else sign_path(found.sign)


def more_views(kind: str, name: str) -> tuple[str, ...]:
    """Return the views that a product is drawn in besides the first."""
    found = kind_of(kind)
    drawing = found.drawing_of(name)
    if drawing is None:
        return ()
    return (*([SCENE] if found.scene else []), *([DETAIL] if drawing in found.details else []))


def category_path(kinds: Iterable[str], colour: str, number: int) -> str:
    """Return the path of a drawing for a category, by its name and those of what it holds: of the first one that can be
    drawn, in use where it can be, or else that has a sign. The names behind the first one that can be drawn are not
    read."""
    sign = None
    for found in map(kind_of, kinds):
        if found.drawings:
            return drawing_path(found.drawings[0], colour, number, SCENE if found.scene else "")
        if sign is None and found is not _OTHER:
            sign = found.sign
    return sign_path(sign or NO_CATEGORY_SIGN)


def drawing_path(drawing: str, colour: str | None, number: int, view: str = "") -> str:
    tint = DYES.get(colour or PLAIN, colour or PLAIN).removeprefix("#")
    return f"/picture/{drawing}/{tint}-{number % SEEDS}{f'-{view}' if view else ''}.svg?v={DRAWN_ANEW}"


def sign_path(sign: str) -> str:
    return f"/picture/{SIGN}/{sign}.svg?v={DRAWN_ANEW}"


def is_sign(path: str) -> bool:
    """Whether the path of a picture is that of a sign, which shows no product."""
    return path.startswith(f"/picture/{SIGN}/")


def drawing_at(drawing: str, name: str) -> str:
    """Return the SVG that a path of `picture_path` names. Raises NotFound for anything else."""
    if drawing == SIGN and name in SIGNS:
        return draw_sign(name)
    found = _PARTS.fullmatch(name)
    if drawing not in _KIND_OF_DRAWING or found is None or int(found["seed"]) >= SEEDS:
        raise NotFound("There is no such picture.")
    return draw(drawing, f"#{found['colour']}", int(found["seed"]), found["view"] or "")


@lru_cache(maxsize=1024)
def draw(drawing: str, colour: str, seed: int, view: str = "") -> str:
    """Draw an SVG of 400 by 400. `colour` is `#rrggbb`; the seed chooses background, proportions and second colour.
    Raises KeyError for an unknown drawing."""
    kind = _KIND_OF_DRAWING[drawing]
    scene = _file(f"scenes/{kind.scene}.svg") if view == SCENE and kind.scene else ""
    left, top, side = kind.details.get(drawing, (90, 90, 200)) if view == DETAIL else (0, 0, 400)
    wide, high = 0.97 + seed * 7 % 11 * 0.006, 0.97 + seed * 5 % 13 * 0.005
    share, floor = (0.6, 352) if scene else (1.0, 330)
    place = f"translate(200 {floor}) scale({wide * share:.3f} {high * share:.3f}) translate(-200 -330)"
    middle, edge, dark_middle, dark_edge = GROUNDS[seed % len(GROUNDS)]
    tones = tones_of(colour, seed)
    studio = _file("studio.svg").format(g=middle, k=edge, m=dark_middle, n=dark_edge, **tones)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {side} {side}" width="400" height="400">'
        f"{studio}{'' if view == CUTOUT else GROUND}{scene}"
        f'<g transform="{place}">{_file(f"{drawing}.svg").format(**tones)}</g></svg>'
    )


def draw_sign(sign: str) -> str:
    """Draw the sign of a category, an SVG of 400 by 400 in quiet lines. Raises KeyError for an unknown one."""
    return _file("sign.svg").format(lines=SIGNS[sign])


def tones_of(colour: str, seed: int) -> dict[str, str]:
    """Return the colours of a drawing by their tokens: `c` the colour itself, `d` and `e` its shades, `l` and `h` what
    light makes of it, `a` another colour, which the seed chooses."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    main = (red, green, blue)
    others = [accent for accent in ACCENTS if _distance(accent, main) > 90]
    return {
        "c": _hex(main),
        "d": _hex(_mix(main, (20, 22, 38), 0.3)),
        "e": _hex(_mix(main, (16, 18, 30), 0.55)),
        "l": _hex(_mix(main, (255, 250, 240), 0.22)),
        "h": _hex(_mix(main, (255, 252, 246), 0.5)),
        "a": others[seed % len(others)],
    }


@cache
def _file(name: str) -> str:
    return (DRAWINGS / name).read_text(encoding="utf-8")


Colour = tuple[int, int, int]


def _distance(accent: str, main: Colour) -> int:
    return sum(abs(int(accent[place : place + 2], 16) - part) for place, part in zip((1, 3, 5), main, strict=True))


def _mix(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(part + (towards - part) * share) for part, towards in zip(colour, other, strict=True))
    return red, green, blue


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
