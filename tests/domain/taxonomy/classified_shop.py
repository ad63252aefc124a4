"""A shop with an active taxonomy in which a level inherits, redefines and demands attributes."""

from __future__ import annotations

from typing import Any

from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from tests.factories import WHEN, make_product, make_site


def attribute(attribute_id: str, type: str, mandatory: bool = False, **more: Any) -> dict[str, Any]:
    rules = {"mandatory": mandatory} | more.pop("rules", {})
    return {"attributeId": attribute_id, "name": attribute_id.capitalize(), "type": type, "validation": rules} | more


LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [
            attribute("weight", "NUMBER", rules={"minValue": 0, "maxValue": 50}),
            attribute("material", "STRING", displayOnProductPage=True),
        ],
        "children": [
            {
                "levelId": "tents",
                "name": "Tents",
                "attributes": [
                    attribute("sleeps", "NUMBER", mandatory=True, unit="people", helpText="People who fit in."),
                    attribute(
                        "free", "BOOLEAN", mandatory=True, displayOnProductPage=True, displayLabel="Stands alone"
                    ),
                    attribute("colour", "MULTI_SELECT", allowedValues=["Moss", "Clay"]),
                    attribute("season", "SINGLE_SELECT", allowedValues=["Summer", "Winter"]),
                ],
            },
            {
                "levelId": "stoves",
                "name": "Stoves",
                "attributes": [
                    attribute("fuel", "SINGLE_SELECT", mandatory=True, allowedValues=["Gas", "Wood"]),
                    attribute("colour", "MULTI_SELECT", allowedValues=["Steel", "Moss"]),
                ],
            },
        ],
    },
    {"levelId": "books", "name": "Books", "attributes": [attribute("sleeps", "STRING")]},
]
TREE = TaxonomyTree.parse(LEVELS)


def add_taxonomy(site: Site, taxonomy_id: str = "outdoor", active: bool = True, levels: Any = None) -> Taxonomy:
    made = Taxonomy(
        site_id=site.id,
        id=taxonomy_id,
        catalogue_id="main",
        name=taxonomy_id.capitalize(),
        root_levels=LEVELS if levels is None else levels,
        created_at=WHEN,
        updated_at=WHEN,
    )
    db.session.add(made)
    db.session.flush()
    if active:
        change_settings(site.id, {"taxonomy-active-id": taxonomy_id})
    return made


def make_shop(host: str = "localhost") -> Site:
    site = make_site(host)
    add_taxonomy(site)
    return site


def make_classified(site: Site, level_id: str | None = "tents", values: Any = None, **more: Any) -> Product:
    product = make_product(site, **more)
    classify(product, TREE, level_id, values or {})
    db.session.flush()
    return product
