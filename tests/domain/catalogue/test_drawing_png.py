"""Drawings as PNG: every one can be made, and looks like what browsers draw."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image
from resvg_py import svg_to_bytes

from app.domain.catalogue.drawing_png import SIDE, png_at, png_form
from app.domain.catalogue.product_drawings import KINDS, SCENE, SIGNS, draw, draw_sign, picture_path
from app.domain.shared.problems import NotFound

DRAWINGS = sorted({drawing for kind in KINDS for drawing in kind.drawings})
FEW = 24  # Pixels.


def opened(png: bytes) -> Image.Image:
    return Image.open(BytesIO(png)).convert("RGB")


def test_every_drawing_and_sign_can_be_made() -> None:
    scenes = [draw(kind.drawings[0], "#4f7942", 7, SCENE) for kind in KINDS if kind.scene]
    for svg in (*(draw(drawing, "#4f7942", 7) for drawing in DRAWINGS), *scenes, *map(draw_sign, SIGNS)):
        picture = opened(svg_to_bytes(svg_string=svg, width=FEW, height=FEW, skip_system_fonts=True))
        assert picture.size == (FEW, FEW)
        assert len(picture.getcolors(FEW * FEW) or ()) > 9, svg[:300]


def test_a_mug_has_its_colour_before_a_light_ground() -> None:
    picture = opened(png_at("mug", "3f774a-0"))
    assert picture.size == (SIDE, SIDE)
    assert min(picture.getpixel((3, 3))) > 200  # type: ignore[type-var, arg-type]
    red, green, blue = picture.resize((1, 1), box=(50, 80, 90, 110)).getpixel((0, 0))  # type: ignore[misc]
    assert green > red and green > blue


def test_the_path_differs_in_its_ending_alone() -> None:
    assert png_form(picture_path("Tents", "Skylark 2", "#4f7942", 73)) == "/picture/tent/4f7942-13.png?v=3"


@pytest.mark.parametrize(("drawing", "name"), [("sofa", "4f7942-1"), ("tent", "4f7942-60"), ("sign", "sofa")])
def test_what_is_not_drawn_is_no_png(drawing: str, name: str) -> None:
    with pytest.raises(NotFound):
        png_at(drawing, name)
