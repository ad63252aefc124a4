"""A shop that sells a few tents and boots, and what works on its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.tasks import Kind
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.taxonomies import rename_parameters
from app.domain.taxonomy.tree import TaxonomyTree
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.factories import WHEN, make_product, make_site
from tests.fakes.clock import StoppedClock

COLOUR = {"attributeId": "colour", "name": "Colour", "type": "MULTI_SELECT", "allowedValues": ["Moss", "Clay", "Sky"]}
SIZE = {"attributeId": "size", "name": "Size", "type": "NUMBER", "validation": {"mandatory": True}}
LEVELS: list[dict[str, Any]] = [
    {
        "levelId": "gear",
        "name": "Gear",
        "attributes": [COLOUR],
        "children": [
            {
                "levelId": "tents",
                "name": "Tents",
                "attributes": [
                    {"attributeId": "sleeps", "name": "Sleeps", "type": "NUMBER", "validation": {"mandatory": True}}
                ],
            },
            {
                "levelId": "boots",
                "name": "Boots",
                "attributes": [SIZE, {**COLOUR, "type": "SINGLE_SELECT", "allowedValues": ["Moss", "Tan"]}],
            },
        ],
    }
]
Worker = Callable[[], None]


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        return shop(make_site())


def shop(site: Site) -> int:
    db.session.add(
        Taxonomy(
            site_id=site.id,
            id="kit",
            catalogue_id="1",
            name="Kit",
            root_levels=LEVELS,
            created_at=WHEN,
            updated_at=WHEN,
        )
    )
    change_settings(site.id, {"taxonomy-active-id": "kit"})
    return site.id


def add(site_id: int, sku: str, level_id: str | None = None, **values: Any) -> int:
    with transaction():
        product = make_product(db.session.get_one(Site, site_id), sku)
        classify(product, TaxonomyTree.parse(LEVELS), level_id, values)
        return product.id


def change_levels(site_id: int, levels: list[dict[str, Any]]) -> None:
    with transaction():
        taxonomy = db.session.get_one(Taxonomy, (site_id, "kit"))
        taxonomy.root_levels, taxonomy.revision = levels, taxonomy.revision + 1


@pytest.fixture
def work(clock: StoppedClock, site_id: int) -> Worker:
    """Does all that there is to do, two products at a time."""

    def do() -> None:
        work_off(WorkContext(clock, transaction), site_id, batch=2)

    return do


@pytest.fixture
def add_task(clock: StoppedClock, site_id: int) -> Callable[..., str]:
    def request(kind: Kind, **parameters: Any) -> str:
        if kind is Kind.RENAME_VALUES:
            parameters = as_saved(clock, site_id, **parameters)
        with transaction():
            return tasks.request(Author(site_id, "Mia Moss", clock), kind, parameters).id

    return request


def as_saved(clock: StoppedClock, site_id: int, taxonomyId: str, renames: list[dict[str, str]]) -> dict[str, Any]:
    """The parameters of a rename as a save of the tree that is stored now makes them."""
    value_renames = [ValueRename(one["levelId"], one["attributeId"], one["value"], one["renamed"]) for one in renames]
    stored = db.session.get(Taxonomy, (site_id, taxonomyId))
    return rename_parameters(
        taxonomyId, TaxonomyTree.parse(stored.root_levels if stored else []), value_renames, clock.now()
    )


def task(task_id: str) -> TaxonomyTask:
    db.session.rollback()
    return db.session.get_one(TaxonomyTask, task_id)


def product(sku: str) -> Product:
    db.session.rollback()
    return db.session.scalars(select(Product).where(Product.sku == sku)).one()


def counted(sku: str) -> set[tuple[str, str]]:
    rows = select(ProductAttributeValue.attribute_id, ProductAttributeValue.value)
    return {
        (row[0], row[1]) for row in db.session.execute(rows.where(ProductAttributeValue.product_id == product(sku).id))
    }
