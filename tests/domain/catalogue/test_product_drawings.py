"""Drawn pictures of products, of their kinds and variants."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.catalogue.product_drawings import (
    CUTOUT,
    DETAIL,
    DRAWINGS,
    DYES,
    KINDS,
    SCENE,
    SIGNS,
    category_path,
    draw,
    draw_sign,
    drawing_at,
    kind_of,
    more_views,
    picture_path,
)
from app.domain.shared.problems import NotFound

DEMO = Path(__file__).parents[3] / "app" / "demo" / "bundle"
ALL = sorted({drawing for kind in KINDS for drawing in kind.drawings})
SHARED = {"studio", "sign"}


def drawn(path: str) -> str:
    """Return the name of the drawing, or the sign, that an address shows."""
    found = re.fullmatch(r"/picture/([a-z-]+)/([a-z0-9-]+)\.svg\?v=[0-9]+", path)
    assert found, path
    return found[2] if found[1] == "sign" else found[1]


@pytest.mark.parametrize(
    ("kind", "name", "drawing"),
    [
        ("Tents", "Copse tarp 3 × 3", "tarp"),
        ("Tents", "Skylark 2", "tent"),
        ("Tents", "Hollow Way 4", "tent-tunnel"),
        ("Waterproof jackets", "Squall jacket, women’s", "jacket"),
        ("Waterproof jackets", "Overtrousers full zip", "overtrousers"),
        ("Fleeces and jumpers", "Down gilet, women’s", "gilet-down"),
        ("Pans", "Crêpe pan", "crepe-pan"),
        ("Benches, tables and chairs", "Deckchair", "deckchair"),
        ("Camp chairs", "Director’s chair", "chair-director"),
    ],
)
def test_the_name_of_a_product_decides_between_the_drawings_of_its_kind(kind: str, name: str, drawing: str):
    assert drawn(picture_path(kind, name, None, 1)) == drawing


@pytest.mark.parametrize(
    ("kind", "name", "sign"),
    [
        ("Garden tools", "Leaf blower", "tool"),
        ("Laptops", "Inspiron 15", "laptop"),
        ("Cases for phones", "Leather case", "phone"),
        ("Toner cartridges", "TN-241", "cartridge"),
        ("Laptop Bag", "Office bag", "bag"),
        ("", "Something", "parcel"),
        ("Ünbekannt", "Tent", "parcel"),
    ],
)
def test_a_product_that_no_drawing_fits_has_the_sign_of_its_kind_and_no_wrong_object(kind: str, name: str, sign: str):
    assert picture_path(kind, name, "#ff0000", 1).startswith(f"/picture/sign/{sign}.svg")
    assert more_views(kind, name) == ()


def test_every_product_of_the_demo_shop_has_a_drawing():
    (taxonomy,) = json.loads((DEMO / "taxonomy.json").read_text(encoding="utf-8"))["taxonomies"]
    levels, names = list(taxonomy["rootLevels"]), {}
    while levels:
        level = levels.pop()
        names[level["levelId"]] = level["name"]
        levels += level.get("children", [])
    products = [json.loads(line) for line in (DEMO / "products.jsonl").read_text(encoding="utf-8").splitlines()]
    signs = [
        product["name"]
        for product in products
        if kind_of(names[product["taxonomy"]["levelId"]]).drawing_of(product["name"]) is None
    ]
    assert signs == []


def test_every_drawing_is_named_by_a_kind_and_every_name_has_a_file():
    assert set(ALL) | SHARED == {file.stem for file in DRAWINGS.glob("*.svg")}
    assert {kind.scene for kind in KINDS if kind.scene} == {file.stem for file in (DRAWINGS / "scenes").glob("*.svg")}
    assert {drawing for kind in KINDS for drawing in kind.details} <= set(ALL)


def test_no_word_leads_to_two_kinds_and_every_sign_is_drawn():
    words = [word for kind in KINDS for word in kind.kinds]
    assert len(words) == len(set(words))
    assert {kind.sign for kind in KINDS} <= set(SIGNS)


@pytest.mark.parametrize("drawing", ALL)
def test_every_drawing_is_a_small_picture_in_any_colour(drawing: str):
    for colour in ("#000000", "#ffffff", "#4f7942"):
        for view in ("", SCENE, DETAIL):
            svg = draw(drawing, colour, 3, view)
            assert ElementTree.fromstring(svg).attrib["width"] == "400"
            assert len(gzip.compress(svg.encode())) < 5_000
    assert len((DRAWINGS / f"{drawing}.svg").read_bytes()) < 6_000


def test_a_cut_out_has_no_ground():
    path = picture_path("Tents", "Skylark 2", "#4f7942", 3, CUTOUT)
    assert path.startswith("/picture/tent/4f7942-3-cutout.svg")
    svg = drawing_at("tent", "4f7942-3-cutout")
    assert "url(#bg)" not in svg and "url(#bg)" in drawing_at("tent", "4f7942-3")
    assert ElementTree.fromstring(svg).attrib["width"] == "400"


@pytest.mark.parametrize("sign", sorted(SIGNS))
def test_every_sign_is_a_picture(sign: str):
    assert ElementTree.fromstring(draw_sign(sign)).attrib["viewBox"] == "0 0 400 400"


def test_a_picture_refers_only_to_what_it_holds():
    for drawing in ALL:
        svg = draw(drawing, "#4f7942", 3)
        named = set(re.findall(r"url\(#(\w+)\)", svg)) | set(re.findall(r'href="#(\w+)"', svg))
        assert named <= set(re.findall(r'\bid="(\w+)"', svg)), drawing


def test_the_path_of_a_picture_names_all_that_it_shows():
    path = picture_path("Tents", "Skylark 2", "#4f7942", 73)
    assert path == "/picture/tent/4f7942-13.svg?v=3"
    assert drawing_at("tent", "4f7942-13") == draw("tent", "#4f7942", 13)
    assert drawing_at("tent", "4f7942-13-scene") == draw("tent", "#4f7942", 13, SCENE)
    assert drawing_at("sign", "laptop") == draw_sign("laptop")


def test_products_of_one_kind_and_colour_do_not_look_alike():
    assert len({draw("mug", "#4f7942", seed) for seed in range(30)}) == 30


def test_a_pure_colour_of_screens_is_drawn_as_a_dye():
    assert picture_path("Mugs", "Harbour mug", "#ff0000", 0).startswith(f"/picture/mug/{DYES['#ff0000'][1:]}-0")


def test_a_category_shows_what_it_or_a_category_below_it_holds():
    assert drawn(category_path(["Camping", "Tents"], "#4f7942", 1)) == "tent"
    assert category_path(["Camping", "Tents"], "#4f7942", 1).startswith("/picture/tent/4f7942-1-scene.svg")
    assert drawn(category_path(["Electronics", "Laptops"], "#4f7942", 1)) == "laptop"
    assert drawn(category_path(["Miscellaneous"], "#4f7942", 1)) == "tag"


def test_names_behind_the_first_one_that_can_be_drawn_are_not_read():
    names = iter(["Laptops", "Camping", "Tents", "Pans"])
    assert drawn(category_path(names, "#4f7942", 1)) == "tent"
    assert list(names) == ["Pans"]


@given(st.text(max_size=20), st.text(max_size=20))
def test_other_paths_are_not_found(drawing: str, name: str):
    with pytest.raises(NotFound):
        drawing_at(drawing, name)
