"""A merchandiser gives a level another name, and shoppers who search for it see its products first."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from app.domain.sites.models import Site
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db
from app.jobs import events, search
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product, make_taxonomy

EDITOR = "/admin/catalogue/taxonomy/kinds"
LEVELS = [
    {"levelId": "drives", "name": "Solid-state drives", "attributes": [], "children": []},
    {"levelId": "cases", "name": "Enclosures", "attributes": [], "children": []},
]
DRIVES = {"crucial-mx500": "Crucial MX500 internal 1 TB SSD SATA", "samsung-990": "Samsung 990 Pro 2 TB M.2 NVMe SSD"}
CASES = {f"case-{number}": f"SSD case {number}" for number in range(3)}


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    made = merchandiser(app)
    with app.app_context():
        with transaction():
            site = db.session.get_one(Site, made.site_id)
            make_taxonomy(site, LEVELS, active=True, id="kinds")
            tree = active_tree(site.id)
            for level_id, names in (("drives", DRIVES), ("cases", CASES)):
                for sku, name in names.items():
                    classify(make_product(site, sku, name=name), tree, level_id, {})
        search.make_first_index(made.site_id)
    return made


def found(app: Flask, words: str) -> list[str]:
    page = app.test_client().get("/search", query_string={"q": words}, base_url="http://localhost")
    results, _, _ = page.text.partition('id="popular"')
    return list(dict.fromkeys(re.findall(r'href="/p/([^"?]+)"', results)))


def work(app: Flask, site_id: int) -> None:
    """Do what the worker does after a save."""
    with app.app_context():
        events.deliver()
        search.apply_outbox(site_id)


def change(mia: Merchandiser, name: str, other_names: str) -> None:
    form = {"edit": "level.change", "level": "drives", "name": name, "description": "", "otherNames": other_names}
    mia.post(f"{EDITOR}/draft", form, 302)
    bar = next(place for place in mia.get(EDITOR).all("div") if place.get("id") == "bar")
    mia.post(f"{EDITOR}/review", {"version": bar["data-version"], "note": ""}, 302)


def test_products_of_a_level_stand_first_once_it_has_the_name_that_is_searched(app: Flask, mia: Merchandiser) -> None:
    assert found(app, "ssd")[0] in CASES
    change(mia, "Solid-state drives", "SSD, flash drives")
    work(app, mia.site_id)
    assert set(found(app, "ssd")[:2]) == DRIVES.keys() and set(found(app, "ssd")[2:]) == CASES.keys()
    assert set(found(app, "SSDs")[:2]) == DRIVES.keys()
    change(mia, "Solid-state drives", "")
    work(app, mia.site_id)
    assert found(app, "ssd")[0] in CASES


def test_a_level_that_is_renamed_is_found_by_its_new_name_without_a_rebuild(app: Flask, mia: Merchandiser) -> None:
    assert found(app, "storage") == []
    change(mia, "Storage", "")
    work(app, mia.site_id)
    assert set(found(app, "storage")) == DRIVES.keys()
