"""Giving a product its level and values."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.problems import Invalid
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_taxonomy, active_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN, make_product, make_site

LEVELS = [
    {
        "levelId": "tents",
        "name": "Tents",
        "attributes": [
            {"attributeId": "sleeps", "name": "Sleeps", "type": "NUMBER", "validation": {"mandatory": True}},
            {"attributeId": "colour", "name": "Colour", "type": "MULTI_SELECT", "allowedValues": ["Moss", "Clay"]},
            {"attributeId": "free", "name": "Free", "type": "BOOLEAN", "validation": {"mandatory": True}},
        ],
    }
]
TREE = TaxonomyTree.parse(LEVELS)


def counted(product: Product) -> set[tuple[str, str]]:
    rows = select(ProductAttributeValue.attribute_id, ProductAttributeValue.value)
    return set(db.session.execute(rows.where(ProductAttributeValue.product_id == product.id)))


@pytest.fixture
def product(context: None) -> Product:
    with transaction():
        made = make_product(make_site())
        classify(made, TREE, "tents", {"sleeps": "2", "colour": ["Moss", "Clay", "Pink"]})
    return made


def test_values_are_checked_kept_counted_and_scored(product: Product):
    assert product.taxonomy_attributes == {"sleeps": 2, "colour": ["Moss", "Clay"]}
    assert product.completeness_score == 50
    assert counted(product) == {("sleeps", "2"), ("colour", "Moss"), ("colour", "Clay")}


def test_classifying_again_replaces_the_counted_values(product: Product):
    with transaction():
        report = classify(product, TREE, "tents", {"sleeps": 3, "free": False, "colour": "Moss", "odd": 1})
    assert counted(product) == {("sleeps", "3"), ("free", "false"), ("colour", "Moss")}
    assert product.completeness_score == 100
    assert [dropped.code for dropped in report.dropped] == ["not_applicable"]


def test_the_same_again_changes_nothing(product: Product):
    with transaction():
        classify(product, TREE, "tents", {"sleeps": 2, "colour": ["Moss", "Clay"]})
        assert not db.session.is_modified(product)


def test_no_level_takes_the_classification_away(product: Product):
    with transaction():
        classify(product, TREE, None, {})
    assert (product.taxonomy_level_id, product.completeness_score, counted(product)) == (None, None, set())


def test_an_unknown_level_is_refused_and_leaves_the_product_as_it_was(product: Product):
    with pytest.raises(Invalid), transaction():
        classify(product, TREE, "caravans", {"sleeps": 4})
    assert product.taxonomy_level_id == "tents"


def test_the_active_taxonomy_needs_the_setting_the_document_and_the_plan(context: None):
    with transaction():
        site = make_site()
        assert active_taxonomy(site.id) is None
        change_settings(site.id, {"taxonomy-active-id": "shop"})
        assert active_taxonomy(site.id) is None
        db.session.add(
            Taxonomy(
                site_id=site.id,
                id="shop",
                catalogue_id="c",
                name="Shop",
                root_levels=LEVELS,
                created_at=WHEN,
                updated_at=WHEN,
            )
        )
        db.session.flush()
        assert list(active_tree(site.id).levels) == ["tents"]
        site.capabilities = []
        assert active_taxonomy(site.id) is None
        assert active_tree(site.id).levels == {}
