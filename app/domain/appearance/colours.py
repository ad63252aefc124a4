"""The colours of a shop, made of the two that its owner chooses: contrast by the formula of WCAG 2.2, the shades for a
light and a dark screen, and which backgrounds text can be read on. Pure.

A colour is `#rrggbb` in lower case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from colorsys import hls_to_rgb, rgb_to_hls
from dataclasses import dataclass

from app.domain.shared.problems import Problem

TEXT_CONTRAST = 4.5  # WCAG 2.2 AA, of text.
EDGE_CONTRAST = 3.0  # Of what can be pressed or typed into.
COLOUR = re.compile(r"#?(?:[0-9a-f]{6}|[0-9a-f]{3})", re.ASCII)
WHITE, BLACK = "#ffffff", "#000000"
INK, QUIET_INK = "#20242a", "#5c5a57"  # The palest texts that a theme of the shop has on its background.
DARK_INK, DARK_QUIET_INK = "#e6e9ed", "#aba8a2"  # The darkest ones that a theme has on a dark screen.
EDGE = "#868d96"
DARK_GROUND, DARK_PAPER = 0.085, 0.125  # Lightness.
LEAST_STEP = 0.02


@dataclass(frozen=True, slots=True)
class Shade:
    """A colour on a light and on a dark screen."""

    light: str
    dark: str


def normal_colour(text: str) -> str:
    """Return a typed colour as `#rrggbb`; a text that is no colour as it is, trimmed."""
    typed = text.strip().lower()
    if not COLOUR.fullmatch(typed):
        return typed
    digits = typed.removeprefix("#")
    return f"#{digits if len(digits) == 6 else ''.join(digit * 2 for digit in digits)}"


def is_colour(text: str) -> bool:
    return text.startswith("#") and len(text) == 7 and COLOUR.fullmatch(text) is not None


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((_luminance(first), _luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def background_problems(background: str, pointer: str) -> list[Problem]:
    """Return the problem of a background on which the shop's smaller texts could not be read."""
    reached = contrast(QUIET_INK, background)
    if reached >= TEXT_CONTRAST:
        return []
    message = (
        f"Text on {background} would have a contrast of {reached:.1f} : 1; it must be {TEXT_CONTRAST} : 1 at least. "
        "Choose a lighter background."
    )
    return [Problem("low_contrast", message, pointer)]


def accent_shades(accent: str, background: str = "") -> dict[str, Shade]:
    """Return the shades of an accent by the names of the themes' tokens. It becomes darker, on a dark screen lighter,
    until it can be read as text on the background, and text on it."""
    ground = ground_shades(background)["ground"] if background else Shade("#faf8f4", "#15171b")
    papers = Shade(WHITE, ground_shades(background or ground.light)["paper"].dark)
    light, dark = _light_shades(accent, (WHITE, ground.light)), _dark_shades(accent, (papers.dark, ground.dark))
    return {name: Shade(light[name], dark[name]) for name in light}


def _light_shades(accent: str, backs: tuple[str, ...]) -> dict[str, str]:
    soft, line = _tint(accent, WHITE, 0.9, QUIET_INK), _tint(accent, WHITE, 0.76, INK)
    shown = _moved_until(accent, -LEAST_STEP, lambda colour: _stands_out(colour, (*backs, soft)))
    deep = _moved_until(mix(shown, BLACK, 0.22), -LEAST_STEP, lambda colour: _stands_out(colour, (*backs, soft, line)))
    return {
        "accent": shown,
        "accent-deep": deep,
        "accent-soft": soft,
        "accent-line": line,
        "on-accent": WHITE,
        "foot": _moved_until(mix(shown, BLACK, 0.62), -LEAST_STEP, lambda colour: contrast("#aab1ba", colour) >= 5),
    }


def _dark_shades(accent: str, backs: tuple[str, ...]) -> dict[str, str]:
    soft, line = _tint(accent, backs[0], 0.8, DARK_QUIET_INK), _tint(accent, backs[0], 0.62, DARK_INK)
    on_accent = mix(backs[1], BLACK, 0.4)
    shown = _moved_until(accent, LEAST_STEP, lambda colour: _stands_out(colour, (*backs, soft, on_accent)))
    deep = _moved_until(mix(shown, WHITE, 0.3), LEAST_STEP, lambda colour: _stands_out(colour, (*backs, soft, line)))
    return {
        "accent": shown,
        "accent-deep": deep,
        "accent-soft": soft,
        "accent-line": line,
        "on-accent": on_accent,
        "foot": mix(accent, "#06080a", 0.88),
    }


def _tint(accent: str, paper: str, share: float, text: str) -> str:
    """Return an accent with a share of the paper, or as much more as a text on it needs to be read."""
    while share < 1 and contrast(text, mix(accent, paper, share)) < TEXT_CONTRAST:
        share = min(1.0, share + LEAST_STEP)
    return mix(accent, paper, share)


def ground_shades(background: str) -> dict[str, Shade]:
    """Return the shades of a background by the names of the themes' tokens; on a dark screen a dark colour of the same
    hue."""
    edge = _moved_until(EDGE, -LEAST_STEP, lambda colour: contrast(colour, background) >= EDGE_CONTRAST)
    ground, paper = (_with_lightness(background, lightness) for lightness in (DARK_GROUND, DARK_PAPER))
    return {
        "ground": Shade(background, ground),
        "paper": Shade(WHITE, paper),
        "picture": Shade(mix(background, INK, 0.05), mix(paper, WHITE, 0.06)),
        "line": Shade(mix(background, INK, 0.13), mix(paper, WHITE, 0.14)),
        "edge": Shade(edge, "#7f8893"),
    }


def mix(colour: str, other: str, share: float) -> str:
    """Return a colour with a share, from 0 to 1, of another."""
    pairs = zip(_parts(colour), _parts(other), strict=True)
    return _written(part + (more - part) * share for part, more in pairs)


def _stands_out(colour: str, backs: Iterable[str]) -> bool:
    return all(contrast(colour, back) >= TEXT_CONTRAST for back in backs)


def _moved_until(colour: str, step: float, is_enough: Callable[[str], bool]) -> str:
    """Return the colour, its lightness moved by steps until it is enough, or black or white at the end."""
    while not is_enough(colour):
        hue, lightness, saturation = rgb_to_hls(*_parts(colour))
        moved = min(1.0, max(0.0, lightness + step))
        if moved == lightness:
            break
        colour = _written(hls_to_rgb(hue, moved, saturation))
    return colour


def _with_lightness(colour: str, lightness: float) -> str:
    hue, _, saturation = rgb_to_hls(*_parts(colour))
    return _written(hls_to_rgb(hue, lightness, min(0.12, saturation)))


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _written(parts: Iterable[float]) -> str:
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)
