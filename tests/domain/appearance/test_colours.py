"""Whatever colours an owner chooses, texts of the shop can be read on light and dark screens."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.appearance.colours import (
    EDGE_CONTRAST,
    TEXT_CONTRAST,
    Shade,
    accent_shades,
    background_problems,
    contrast,
    ground_shades,
    mix,
    normal_colour,
)
from tests.surroundings import ROOT

colours = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")
backgrounds = colours.filter(lambda colour: not background_problems(colour, ""))
pale = st.sampled_from(("#ffffff", "#faf8f4", "#fdf6e3", "#eef4ff", "#ffe9ef", "#f0f0f0"))
SCREENS = ("light", "dark")
THEMES = "\n".join(style.read_text() for style in sorted((ROOT / "app").rglob("*.css")))
QUIET_INKS, INKS = (
    tuple(zip(*re.findall(rf"--{name}: light-dark\((#[0-9a-f]{{6}}), (#[0-9a-f]{{6}})\);", THEMES), strict=True))
    for name in ("ink-2", "ink")
)


def test_contrast_is_that_of_the_formula() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#ffffff", "#1f5c43") == contrast("#1f5c43", "#ffffff") == pytest.approx(7.86, abs=0.01)


@given(accent=colours, background=st.one_of(st.just(""), pale))
def test_an_accent_can_be_read_as_text_and_text_on_it(accent: str, background: str) -> None:
    shades = accent_shades(accent, background)
    ground = ground_shades(background or "#faf8f4")
    for screen in SCREENS:
        of = {name: getattr(shade, screen) for name, shade in (ground | shades).items()}
        for front, back in (
            ("accent", "paper"),
            ("accent", "ground"),
            ("accent", "accent-soft"),
            ("accent-deep", "accent-line"),
            ("on-accent", "accent"),
            ("on-accent", "accent-deep"),
        ):
            assert contrast(of[front], of[back]) >= TEXT_CONTRAST, (screen, front, back)
        assert contrast("#f0f2f4", of["foot"]) >= TEXT_CONTRAST
        assert contrast("#aab1ba", of["foot"]) >= TEXT_CONTRAST


@example(accent="#ffffff", background="")
@example(accent="#ffff00", background="#f0f0f0")
@example(accent="#000000", background="")
@given(accent=colours, background=st.one_of(st.just(""), pale))
def test_the_themes_own_texts_can_be_read_on_the_tints_of_an_accent(accent: str, background: str) -> None:
    shades = accent_shades(accent, background)
    quiet, ink = {"light": QUIET_INKS[0], "dark": QUIET_INKS[1]}, {"light": INKS[0], "dark": INKS[1]}
    for screen in SCREENS:
        for text in quiet[screen]:
            assert contrast(text, getattr(shades["accent-soft"], screen)) >= TEXT_CONTRAST, (screen, text)
        for text in ink[screen]:
            assert contrast(text, getattr(shades["accent-line"], screen)) >= TEXT_CONTRAST, (screen, text)


def test_a_tint_that_can_be_read_on_stays_as_it_is() -> None:
    paper = ground_shades("#faf8f4")["paper"]
    soft = Shade(mix("#1f5c43", paper.light, 0.9), mix("#1f5c43", paper.dark, 0.8))
    assert accent_shades("#1f5c43")["accent-soft"] == soft


@given(background=pale)
def test_edges_stand_out_from_a_background(background: str) -> None:
    shades = ground_shades(background)
    assert contrast(shades["edge"].light, background) >= EDGE_CONTRAST
    assert contrast(shades["edge"].dark, shades["paper"].dark) >= EDGE_CONTRAST


def test_an_accent_that_can_be_read_stays_as_it_is() -> None:
    assert accent_shades("#1f5c43")["accent"].light == "#1f5c43"
    assert accent_shades("#ffd400")["accent"].light != "#ffd400"


def test_a_background_on_which_texts_cannot_be_read_is_refused_with_the_contrast() -> None:
    assert background_problems("#fdf6e3", "#/background") == []
    (problem,) = background_problems("#777777", "#/background")
    assert (problem.code, problem.pointer) == ("low_contrast", "#/background")
    assert "1.5 : 1" in problem.message


def test_colours_are_typed_in_several_ways() -> None:
    assert [normal_colour(text) for text in (" #1F5C43 ", "1f5c43", "#abc", "green")] == [
        "#1f5c43",
        "#1f5c43",
        "#aabbcc",
        "green",
    ]
