"""The colours, the font and the corners that a shop chose, as a style sheet beside that of its theme. Pure.

The address of the style sheet names the choices, so that it is the same for everybody and can be kept for good, also
for a look that is only previewed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.domain.appearance.colours import accent_shades, background_problems, ground_shades, is_colour
from app.domain.appearance.declaration import Appearance, Corners
from app.domain.appearance.fonts import FONTS, THEME_FONT, Font

THEMES_OWN = "theme"
CORNERS = {
    Corners.SQUARE: (
        ":root { --r: 0px; }",
        ".find input, .find .button, .below a, .chips a:not(.clear) { border-radius: 0; }",
    ),
    Corners.SOFT: (":root { --r: 8px; }",),
    Corners.ROUND: (
        ":root { --r: 18px; }",
        ".button { border-radius: 99px; }",
        ".rail .button, .values input { border-radius: 12px; }",
    ),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What a shop may choose for its theme; colours are `#rrggbb` or empty, as the theme has them."""

    accent: str = ""
    background: str = ""
    font: str = THEME_FONT
    corners: Corners = Corners.THEME

    @classmethod
    def of(cls, appearance: Appearance) -> Look:
        font = appearance.font if appearance.font in FONTS else THEME_FONT  # Another release may have had more.
        return cls(appearance.accent, appearance.background, font, appearance.corners)

    @classmethod
    def named(cls, name: str) -> Look | None:
        """Return the look of a style sheet's name; None for one that no shop can have."""
        parts = name.split("_")
        if len(parts) != 4:
            return None
        accent, background = ("" if part == THEMES_OWN else f"#{part}" for part in parts[:2])
        if not all(is_colour(colour) for colour in (accent, background) if colour):
            return None
        if background and background_problems(background, ""):
            return None
        if parts[2] not in (THEME_FONT, *FONTS) or parts[3] not in tuple(Corners):
            return None
        return cls(accent, background, parts[2], Corners(parts[3]))

    @property
    def name(self) -> str:
        colours = [colour.removeprefix("#") or THEMES_OWN for colour in (self.accent, self.background)]
        return "_".join((*colours, self.font, self.corners))

    @property
    def is_plain(self) -> bool:
        return self == Look()

    @property
    def font_file(self) -> str | None:
        return FONTS[self.font].file if self.font in FONTS else None


def look_style(look: Look, address_of: Callable[[str], str]) -> str:
    """Return the style sheet of a look; `address_of` gives the address of a vendored file."""
    font = FONTS.get(look.font)
    faces = list(_font_faces(font, address_of(font.file))) if font else []
    rules = [*_colours(look), *(_font_rules(font) if font else ()), *CORNERS.get(look.corners, ())]
    return "\n".join((*faces, "@layer look {", *(f"  {rule}" for rule in rules), "}", ""))


def _colours(look: Look) -> Iterator[str]:
    shades = ground_shades(look.background) if look.background else {}
    if look.accent:
        shades |= accent_shades(look.accent, look.background)
    if shades:
        tokens = " ".join(f"--{name}: light-dark({shade.light}, {shade.dark});" for name, shade in shades.items())
        yield f":root {{ {tokens} }}"
    if look.accent:
        yield ":root { --foot-ink: #f0f2f4; --foot-ink-2: #aab1ba; --hero: var(--accent-soft); }"
        yield ".foot { border-top: 0; }"
        yield ".foot :focus-visible { outline-color: var(--foot-ink); }"


def _font_faces(font: Font, address: str) -> Iterator[str]:
    least, most = font.weights
    yield (
        f'@font-face {{ font-family: "{font.family}"; src: url("{address}") format("woff2"); '
        f"font-weight: {least} {most}; font-display: swap; }}"
    )
    sources = ", ".join(f'local("{name}")' for name in font.stands_in)
    yield (
        f'@font-face {{ font-family: "{font.family} until loaded"; src: {sources}; size-adjust: {font.size}%; '
        f"ascent-override: {font.ascent}%; descent-override: {font.descent}%; line-gap-override: 0%; }}"
    )


def _font_rules(font: Font) -> tuple[str, ...]:
    family = f'"{font.family}", "{font.family} until loaded", {font.generic}'
    return (f":root {{ --font: {family}; --font-display: {family}; }}",)
