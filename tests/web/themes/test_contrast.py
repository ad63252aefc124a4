"""Colours of both themes, and of the tokens that all themes share, hold WCAG 2.2 AA on a light and a dark screen."""

from __future__ import annotations

import re

import pytest

from app.web.themes.folders import find_themes
from tests.surroundings import ROOT

SHARED = ROOT / "app" / "static" / "storefront" / "storefront.css"
TOKEN = re.compile(r"--([\w-]+): (?:light-dark\((#[0-9a-f]{3,6}), (#[0-9a-f]{3,6})\)|(#[0-9a-f]{3,6}));")
TEXT = [
    ("ink", ("paper", "ground", "accent-soft", "warn", "bad", "picture")),
    ("ink-2", ("paper", "ground", "accent-soft", "picture")),
    ("accent", ("paper", "ground", "accent-soft")),
    ("accent-deep", ("paper", "ground", "accent-soft", "accent-line")),
    ("on-accent", ("accent", "accent-deep")),
    ("sale", ("paper", "ground")),
    ("bad-ink", ("bad",)),
    ("foot-ink", ("foot",)),
    ("foot-ink-2", ("foot",)),
]
SHAPES = [("edge", ("paper", "ground")), ("stars", ("paper", "ground", "accent-soft"))]


def colours(theme: str, scheme: int) -> dict[str, str]:
    styles = SHARED.read_text() + find_themes().by_name[theme].style.read_text()
    return {name: (light or both, dark or both)[scheme] for name, light, dark, both in TOKEN.findall(styles)}


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(first: str, second: str) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("theme", sorted(find_themes().by_name))
def test_text_and_edges_stand_out(theme: str, scheme: int) -> None:
    values = colours(theme, scheme)
    pairs = [(front, back, 4.5) for front, backs in TEXT for back in backs]
    pairs += [(front, back, 3.0) for front, backs in SHAPES for back in backs]
    found = {(front, back): contrast(values[front], values[back]) for front, back, _ in pairs}
    assert {pair: found[pair] for *two, least in pairs if found[pair := (two[0], two[1])] < least} == {}


@pytest.mark.parametrize("theme", sorted(find_themes().by_name))
def test_a_theme_that_comes_with_the_shop_is_for_a_dark_screen_too(theme: str) -> None:
    assert "color-scheme: light dark;" in find_themes().by_name[theme].style.read_text()
    assert luminance(colours(theme, 1)["ground"]) < 0.05 < 0.8 < luminance(colours(theme, 0)["ground"])


def test_a_theme_of_ones_own_that_says_nothing_stays_light() -> None:
    assert "color-scheme: light;" in SHARED.read_text()
