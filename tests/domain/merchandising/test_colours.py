"""The colour that a name means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.merchandising.facets import COLOURS, HEX, colour_of


@pytest.mark.parametrize(
    ("name", "colour"),
    [
        ("Red", "#ff0000"),
        ("Light blue", "#add8e6"),
        ("Navy blue", "#0000ff"),
        ("Off White", "#f6f3ea"),
        ("Grey Melange", "#808080"),
        ("Multi", None),
        ("", None),
    ],
)
def test_a_name_means_its_colour(name: str, colour: str | None):
    assert colour_of(name) == colour


def test_the_shop_s_own_swatch_comes_first():
    assert colour_of("Navy blue", {"Navy blue": "#1B2A4E"}) == "#1b2a4e"


def test_a_swatch_that_is_no_colour_is_passed_over():
    assert colour_of("Red", {"Red": 'url("//evil")'}) == "#ff0000"


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=5), st.text(max_size=12), max_size=3))
def test_only_plain_colours_come_out(name: str, swatches: dict[str, str]):
    colour = colour_of(name, swatches)
    assert colour is None or HEX.fullmatch(colour)


def test_every_known_colour_is_plain():
    assert all(HEX.fullmatch(colour) for colour in COLOURS.values())
