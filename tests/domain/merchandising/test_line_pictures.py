"""The pictures of what was ordered, as mails show them."""

from __future__ import annotations

import pytest

from app.domain.catalogue.models import Product, ProductImage, Variant
from app.domain.merchandising.line_pictures import line_pictures
from app.domain.orders.models import OrderLine
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_site, make_taxonomy


@pytest.fixture
def tent(context: None) -> Product:
    """A tent of two colours."""
    with transaction():
        site = make_site()
        [level] = make_taxonomy(site, [{"name": "Tents"}], active=True).root_levels
        tent = make_product(site, "TENT", name="Skylark 2", taxonomy_level_id=level["levelId"])
        tent.variants = [
            Variant(site_id=site.id, position=place, sku=f"TENT-{colour}", options={"Colour": colour})
            for place, colour in enumerate(("Moss", "Clay"))
        ]
    return tent


def line(product: Product, sku: str = "", **more: object) -> OrderLine:
    return OrderLine(product_id=product.id, sku=sku or product.sku, name=product.name, quantity=1, **more)


def test_a_product_without_a_photograph_is_drawn_in_the_colour_that_was_bought(tent: Product) -> None:
    lines = [line(tent, f"TENT-{colour}", options={"Colour": colour}) for colour in ("Moss", "Clay")]
    assert line_pictures(tent.site_id, lines) == {
        "TENT-Moss": f"/picture/tent/6b7a3d-{tent.id}.png?v=3",
        "TENT-Clay": f"/picture/tent/b66a50-{tent.id}.png?v=3",
    }


def test_a_photograph_stands_before_a_drawing_that_of_the_variant_first(tent: Product) -> None:
    with transaction():
        for place, file in enumerate(("aa.webp", "bb.webp")):
            size = {"position": place, "width": 800, "height": 800}
            db.session.add(ProductImage(site_id=tent.site_id, product_id=tent.id, file=file, **size))
        tent.variants[1].picture = "bb.webp"
    lines = [line(tent, f"TENT-{colour}", options={"Colour": colour}) for colour in ("Moss", "Clay")]
    assert line_pictures(tent.site_id, lines) == {
        "TENT-Moss": f"/media/{tent.site_id}/aa.jpg",
        "TENT-Clay": f"/media/{tent.site_id}/bb.jpg",
    }


def test_what_no_drawing_fits_has_a_sign_and_what_is_gone_has_none(tent: Product) -> None:
    with transaction():
        other = make_product(db.session.get_one(Site, tent.site_id), "VOUCHER", name="Voucher")
    gone = OrderLine(product_id=None, sku="GONE", name="Gone", options={}, quantity=1)
    lines = [line(other, options={}), gone]
    assert line_pictures(tent.site_id, lines) == {"VOUCHER": "/picture/sign/parcel.png?v=3"}
    assert line_pictures(tent.site_id + 1, lines) == {}
    assert line_pictures(tent.site_id, []) == {}
