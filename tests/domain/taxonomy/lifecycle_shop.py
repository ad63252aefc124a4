"""A shop with taxonomies and classified products, for the tests of their life."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product, ProductAttributeValue
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from tests.factories import WHEN

COLOUR = {"attributeId": "colour", "name": "Colour", "type": "STRING", "displayOnProductPage": True, "displayOrder": 0}
HEIGHT = {"attributeId": "height", "name": "Height", "type": "NUMBER", "displayOnProductPage": False, "displayOrder": 1}
VALUES = {"colour": 'Grün ☂ "quoted"', "height": 12.5}


def level(level_id: str, *attributes: dict[str, Any], children: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {
        "levelId": level_id,
        "name": level_id.title(),
        "description": "",
        "parentLevelId": None,
        "displayOrder": 0,
        "attributes": list(attributes),
        "children": [child | {"parentLevelId": level_id} for child in children],
    }


def make_taxonomy(site: Site, taxonomy_id: str, *levels: dict[str, Any], name: str = "") -> Taxonomy:
    made = Taxonomy(
        site_id=site.id,
        id=taxonomy_id,
        catalogue_id=str(site.id),
        name=name or taxonomy_id.title(),
        root_levels=list(levels) or [level("tents", COLOUR, HEIGHT)],
        revision=1,
        created_at=WHEN,
        updated_at=WHEN,
    )
    db.session.add(made)
    db.session.flush()
    return made


def make_active(site: Site, taxonomy_id: str) -> None:
    change_settings(site.id, {"taxonomy-active-id": taxonomy_id})
    db.session.flush()


def add_classified(site: Site, count: int, level_id: str = "tents", prefix: str = "P", **more: Any) -> None:
    """Products of a level with two values each, and the index of those values; quick for many."""
    fields = {"taxonomy_level_id": level_id, "taxonomy_attributes": VALUES, "completeness_score": 50} | more
    common = {"site_id": site.id, "price": 100, "created_at": WHEN, "updated_at": WHEN, "search_terms": []} | fields
    rows = [
        common | {"sku": f"{prefix}{n}", "name": f"Tent {prefix}{n}", "seo_name": f"{prefix}-{n}".lower()}
        for n in range(count)
    ]
    db.session.execute(insert(Product), rows, execution_options=INDEXED_SEPARATELY)
    ids = db.session.scalars(select(Product.id).where(Product.sku.startswith(prefix), Product.site_id == site.id)).all()
    values = [
        {"product_id": product_id, "site_id": site.id, "attribute_id": name, "value": text}
        for product_id in ids
        for name, text in (("colour", VALUES["colour"]), ("height", "12.5"))
    ]
    db.session.execute(insert(ProductAttributeValue), values)
