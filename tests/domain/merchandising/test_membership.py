"""Which products categories show, asked of the database."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.merchandising.category_rules import SourceRule
from app.domain.merchandising.membership import any_of, shown_by
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_site, make_taxonomy
from tests.statements import statements

LEVELS = [{"levelId": "camping", "name": "Camping", "children": [{"levelId": "tents", "name": "Tents"}]}]


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        site = make_site()
        make_taxonomy(site, LEVELS, active=True)
        for sku, level_id, maker in (
            ("A", "tents", "Fell"),
            ("B", "tents", "Moor"),
            ("C", "camping", ""),
            ("D", None, "FELL"),
        ):
            make_product(site, sku, taxonomy_level_id=level_id, manufacturer=maker)
        return site.id


def skus(site_id: int, *rules: SourceRule, taxonomy: TaxonomyTree | None = None) -> str:
    shown = any_of(shown_by(site_id, (), rules, taxonomy or active_tree(site_id)))
    found = db.session.scalars(select(Product.sku).where(Product.site_id == site_id, shown))
    return "".join(sorted(found))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], ""),
        ([SourceRule()], ""),
        ([SourceRule(("camping",))], "ABC"),
        ([SourceRule(("tents",), ("fell",))], "A"),
        ([SourceRule((), ("Fell",))], "AD"),
        ([SourceRule((), ("fell",)), SourceRule((), ("moor",))], "ABD"),
        ([SourceRule(("tents",), ("fell",)), SourceRule(("camping",), ("moor",))], "AB"),
        ([SourceRule(("tents",), ("moor",)), SourceRule(("nowhere",))], "B"),
    ],
)
def test_a_product_is_taken_by_any_of_the_rules(site_id: int, rules: list[SourceRule], expected: str) -> None:
    assert skus(site_id, *rules) == expected


def test_any_number_of_rules_is_one_question_more_for_the_makers(app: Flask, site_id: int) -> None:
    """A database refuses an expression that nests a thousand deep."""
    taxonomy = active_tree(site_id)
    many = [SourceRule(("tents",), (f"Maker {number}", "Fell")) for number in range(1_500)]
    many += [SourceRule(("camping",)), *(SourceRule((), (f"Other {number}",)) for number in range(1_500))]
    with statements(app) as seen:
        assert skus(site_id, *many, taxonomy=taxonomy) == "ABC"
    assert len(seen) == 2


@pytest.mark.parametrize("number", [0, 1, 50, 51, 5_000])
def test_any_number_of_conditions_is_one(site_id: int, number: int) -> None:
    shown = any_of([Product.sku == ("A" if place == number - 1 else "none") for place in range(number)])
    assert list(db.session.scalars(select(Product.sku).where(shown))) == ["A"] * bool(number)
