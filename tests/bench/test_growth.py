"""A catalogue that grows: what the benchmark of a million products is made of."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.extensions import db
from bench import made_up
from bench.scale.growing import sizes_up_to
from bench.scale.growth import WORD, Originals, code_of, edition_of, is_model, model_of
from bench.scale.growth import made_up as made_up_word
from bench.scale.stock import HOST, import_products

ROWS = [
    {
        "sku": f"S-{number}",
        "name": f"Kelvin{number % 7} KX{number}00D Wasserkocher {number}",
        "manufacturer": ("Fellside", "Moor & Sons")[number % 2],
        "description": f"Fellside KX{number}00D, {number} ft of cable",
        "price": 1_000 + number,
        "compareAtPrice": 3_000,
        "upc": "5032037009805",
        "createdAt": "2009-07-17T00:00:00Z",
        "taxonomy": {"levelId": "kettles", "attributes": {"colour": ["Black"]}},
    }
    for number in range(40)
]


@pytest.fixture
def originals() -> Originals:
    return Originals(ROWS)


def words_of(rows: list[dict[str, object]]) -> set[str]:
    return {word for row in rows for word in WORD.findall(f"{row['name']} {row['description']}")}


def test_the_first_products_are_the_originals(originals: Originals) -> None:
    assert list(originals.products(40)) == ROWS


def test_a_larger_catalogue_begins_with_the_smaller_one(originals: Originals) -> None:
    assert list(originals.products(300))[:130] == list(originals.products(130))


def test_every_product_has_an_sku_of_its_own_and_the_level_of_its_original(originals: Originals) -> None:
    products = list(originals.products(1_000))
    assert len({product["sku"] for product in products}) == 1_000
    assert all(product["taxonomy"] == ROWS[0]["taxonomy"] for product in products)


def test_the_vocabulary_grows_and_more_slowly_than_the_text(originals: Originals) -> None:
    sizes = {copies: len(words_of(list(originals.products(40 * copies)))) for copies in (1, 8, 64)}
    growth = [sizes[8] / sizes[1], sizes[64] / sizes[8]]
    assert all(1.5 < times < 6 for times in growth), sizes


def test_manufacturers_join_the_known_ones(originals: Originals) -> None:
    makers = {str(product["manufacturer"]) for product in originals.products(40 * 30)}
    assert makers > {"Fellside", "Moor & Sons"}
    assert 4 < len(makers) < 20


def test_a_copy_names_its_manufacturer_in_its_text(originals: Originals) -> None:
    copies = [originals.copied(ROWS[0], copy) for copy in range(1, 40)]
    renamed = [copy for copy in copies if copy["manufacturer"] != "Fellside"]
    assert renamed
    assert all(str(copy["description"]).startswith(str(copy["manufacturer"])) for copy in renamed)


@pytest.mark.parametrize(
    ("word", "is_code"), [("KX400D", True), ("DK-310", True), ("25ft", False), ("3M", False), ("kettle", False)]
)
def test_codes_of_models_are_told_from_measures(word: str, is_code: bool) -> None:
    assert is_model(word) is is_code


def test_a_code_keeps_its_shape_and_a_word_its_capital() -> None:
    assert model_of("DK-310", 3).startswith("DK-")
    assert model_of("DK-310", 3) != "DK-310"
    assert made_up_word("Wasserkocher", 2)[0].isupper()


def test_product_codes_have_their_check_digit() -> None:
    code = code_of("5032037009805", 17)
    assert code != "5032037009805"
    assert sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(code)) % 10 == 0


def test_a_word_has_one_form_in_the_originals_and_more_in_later_copies() -> None:
    assert edition_of("KX400D", 0, 0.7) == 0
    assert len({edition_of("KX400D", copy, 0.7) for copy in range(64)}) > 8


@pytest.mark.parametrize(
    ("products", "sizes"),
    [
        (500, [100, 500]),
        (20_000, [2_000, 20_000]),
        (50_000, [20_000, 50_000]),
        (1_000_000, [20_000, 100_000, 300_000, 1_000_000]),
    ],
)
def test_a_shop_is_measured_at_sizes_up_to_its_last(products: int, sizes: list[int]) -> None:
    assert sizes_up_to(products) == sizes


def test_a_shop_takes_all_of_it_by_its_own_import(app: Flask, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """The import goes on where an earlier one ended; refused products would raise."""
    bundle = made_up.write_bundle(tmp_path / "bundle", HOST, 60)
    with app.app_context():
        import_products(bundle, tmp_path, 0, 100)
        import_products(bundle, tmp_path, 100, 150)
        assert db.session.scalar(select(func.count()).select_from(Product)) == 150
