"""Drawn pictures of kinds of products."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.pictures import DRAWINGS, SHAPES, WORDS, draw, drawing_at, picture_path, shape_of
from app.domain.shared.problems import NotFound


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("Walking boots", "boot"),
        ("Sleeping bags", "sleepingbag"),
        ("Warm sleeping bags for children", "sleepingbag"),
        ("Bags and backpacks", "backpack"),
        ("Laptop Bag", "bag"),
        ("Cases for phones", "phone"),
        ("Lenses and accessories", "camera"),
        ("Toner cartridges", "cartridge"),
        ("Waterproof jackets", "jacket"),
        ("", "box"),
        ("Ünbekannt", "box"),
    ],
)
def test_the_last_known_word_of_a_kind_is_drawn(kind: str, shape: str):
    assert shape_of(kind) == shape


def test_every_word_leads_to_a_drawing_and_every_drawing_has_a_word():
    assert set(WORDS) | {"box"} == set(SHAPES) == {drawing.stem for drawing in DRAWINGS.glob("*.svg")}


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_every_drawing_is_a_picture_in_any_colour(shape: str):
    for colour in ("000000", "ffffff", "4f7942"):
        assert ElementTree.fromstring(draw(shape, colour, 3)).attrib["viewBox"] == "0 0 400 400"


def test_the_path_of_a_picture_names_all_that_it_shows():
    path = picture_path("Tents", "#4f7942", 13)
    assert path == "/picture/tent/4f7942-1.svg?v=1"
    assert drawing_at("tent", "4f7942-1") == draw("tent", "4f7942", 1)
    assert picture_path("Tents", None, 0).startswith("/picture/tent/")


@given(st.text(max_size=20), st.text(max_size=20))
def test_other_paths_are_not_found(shape: str, name: str):
    with pytest.raises(NotFound):
        drawing_at(shape, name)
