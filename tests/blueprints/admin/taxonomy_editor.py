"""The taxonomy editor as tests use it: a merchandiser whose shop has three red tents, edits and saves."""

from __future__ import annotations

from typing import Any

from flask import Flask

from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product, make_taxonomy
from tests.page_client import Reading

EDITOR = "/admin/catalogue/taxonomy/kinds"
COLOUR = {
    "attributeId": "colour",
    "name": "Colour",
    "type": "SINGLE_SELECT",
    "allowedValues": ["Red", "Blue"],
    "displayOnProductPage": True,
}
WEIGHT = {"attributeId": "weight", "name": "Weight", "type": "NUMBER"}
LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [WEIGHT],
        "children": [{"levelId": "tents", "name": "Tents", "attributes": [COLOUR]}],
    }
]
RED_TENTS = 3


def merchandiser_of_tents(app: Flask) -> Merchandiser:
    """A merchandiser whose shop has three red tents."""
    made = merchandiser(app)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, made.site_id)
        make_taxonomy(site, LEVELS, active=True, id="kinds")
        tree = active_tree(site.id)
        for _ in range(RED_TENTS):
            classify(make_product(site), tree, "tents", {"colour": "Red"})
    return made


def edit(mia: Merchandiser, form: dict[str, Any], status: int = 302) -> Any:
    return mia.post(f"{EDITOR}/draft", form, status)


def save(mia: Merchandiser, note: str = "", status: int = 302) -> Any:
    """What the editor shows now."""
    bar = next(place for place in mia.get(EDITOR).all("div") if place.get("id") == "bar")
    return mia.post(f"{EDITOR}/review", {"version": bar["data-version"], "note": note}, status)


def colour_with(*rows: tuple[str, str], **more: Any) -> dict[str, Any]:
    fields = {"edit": "attribute.change", "level": "tents", "attribute": "colour"}
    named = {"name": "Colour", "type": "SINGLE_SELECT", "displayOnProductPage": "on"}
    return fields | named | {"value": [text for text, _ in rows], "valueWas": [was for _, was in rows]} | more


def stored(app: Flask, mia: Merchandiser) -> Taxonomy:
    with app.app_context():
        return db.session.get_one(Taxonomy, (mia.site_id, "kinds"))


def texts(page: Reading) -> str:
    return " ".join(page.texts.values())
