"""The list of products that lack an attribute has those whose completeness says so."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from sqlalchemy import select

from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.products.queries import matching_ids
from app.domain.taxonomy.products.worklist import WorkOrder, work_rows
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.tasks.conftest import COLOUR, LEVELS, Worker, add, change_levels
from tests.factories import make_product

MANDATORY: dict[str, Any] = {"validation": {"mandatory": True}}


def missing_levels(site_id: int, attribute_id: str, levels: list[dict[str, Any]]) -> set[str]:
    db.session.rollback()
    found = matching_ids(site_id, ProductList.parse(f"missing={attribute_id}"), TaxonomyTree.parse(levels))
    return set(db.session.scalars(select(Product.sku).where(Product.id.in_(found))))


def missing_by_worklist(site_id: int, attribute_id: str, levels: list[dict[str, Any]]) -> set[str]:
    rows = work_rows(site_id, TaxonomyTree.parse(levels), "", WorkOrder.NAME, 1).items
    return {row.sku for row in rows if attribute_id in {one.attribute.id for one in row.inputs}}


def changed(gear: dict[str, Any], boots: dict[str, Any]) -> list[dict[str, Any]]:
    """The definitions of colour on both levels otherwise, and mandatory."""
    levels = deepcopy(LEVELS)
    levels[0]["attributes"][0] = COLOUR | MANDATORY | gear
    levels[0]["children"][1]["attributes"][1] = COLOUR | MANDATORY | boots
    return levels


@pytest.mark.parametrize(
    ("gear", "boots", "expected"),
    [
        ({}, {}, {"T-0"}),
        ({}, {"allowedValues": ["Tan"]}, {"T-0", "B-1"}),
        ({"allowedValues": ["Clay", "moss"]}, {}, {"T-0", "T-3"}),
        ({"allowedValues": ["Rose"]}, {"allowedValues": ["Rose"]}, {"T-0", "T-1", "T-2", "T-3", "B-1"}),
        ({"type": "SINGLE_SELECT"}, {}, {"T-0", "T-2"}),
    ],
)
def test_what_lacks_a_choice_is_what_holds_no_value_that_its_definition_takes(
    site_id: int, add_task: Any, work: Worker, gear: dict[str, Any], boots: dict[str, Any], expected: set[str]
) -> None:
    add(site_id, "T-0", "tents", sleeps=2)
    add(site_id, "T-1", "tents", colour=["Moss"], sleeps=2)
    add(site_id, "T-2", "tents", colour=["Moss", "Clay"], sleeps=2)
    add(site_id, "T-3", "gear", colour=["Sky"])
    add(site_id, "B-1", "boots", colour="Moss", size=40)
    levels = changed(gear, boots)
    change_levels(site_id, levels)
    add_task(Kind.RECOMPUTE)
    work()
    assert missing_levels(site_id, "colour", levels) == expected == missing_by_worklist(site_id, "colour", levels)


def test_what_lacks_a_number_is_what_holds_none_or_one_out_of_bounds(site_id: int, add_task: Any, work: Worker) -> None:
    add(site_id, "T-0", "tents")
    for sleeps in (1, 2, 3.5):
        add(site_id, f"T-{sleeps}", "tents", sleeps=sleeps)
    levels = deepcopy(LEVELS)
    levels[0]["children"][0]["attributes"][0]["validation"] |= {"minValue": 2}
    change_levels(site_id, levels)
    add_task(Kind.RECOMPUTE)
    work()
    assert missing_levels(site_id, "sleeps", levels) == {"T-0", "T-1"} == missing_by_worklist(site_id, "sleeps", levels)


def test_an_attribute_that_no_level_has_is_lacked_by_nobody(site_id: int) -> None:
    add(site_id, "T-0", "tents")
    assert missing_levels(site_id, "gone", LEVELS) == set()


def test_of_many_definitions_only_those_count_whose_products_hold_what_they_refuse(site_id: int) -> None:
    levels = deepcopy(LEVELS)
    kinds = levels[0]["children"] = [
        {"levelId": f"k{n}", "name": f"K {n}", "attributes": [COLOUR | {"allowedValues": [f"V{n}"]}]} for n in range(55)
    ]
    change_levels(site_id, levels)
    with transaction():
        for n in range(55):
            product = make_product(db.session.get_one(Site, site_id), f"P-{n}")
            classify(product, TaxonomyTree.parse(levels), f"k{n}", {"colour": [f"V{n}"]})
    assert missing_levels(site_id, "colour", levels) == set()
    kinds[7]["attributes"] = kinds[8]["attributes"]
    assert missing_levels(site_id, "colour", levels) == {"P-7"}
