"""The editor and the review say where a renamed value keeps its old name, and rename it there too."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.taxonomy.trees import choice, level
from tests.factories import make_taxonomy

EDITOR = "/admin/catalogue/taxonomy/kinds"
RENAME = {"level": "tents", "attribute": "colour", "value": "Black", "renamed": "Jet black"}


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    mia = merchandiser(app)
    black = choice("colour", "Black")
    levels = [level("tents", attributes=[black]), level("boots", attributes=[black]), level("home")]
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, mia.site_id), levels, active=True, id="kinds")
    return mia


def test_a_rename_on_one_level_offers_it_for_the_others(app: Flask, mia: Merchandiser):
    mia.get(EDITOR)
    colour = {"edit": "attribute.change", "level": "tents", "attribute": "colour", "name": "Colour"}
    value = {"type": "SINGLE_SELECT", "value": "Jet black", "valueWas": "Black"}
    text = mia.swap(f"{EDITOR}/draft", colour | value).text
    assert "1 other level still says “Black” for Colour, which is “Jet black” on Tents now: shoppers get both." in text
    assert "Rename it on that level too" in mia.get(f"{EDITOR}/review").texts["button"]
    answer = mia.swap(f"{EDITOR}/draft", {"edit": "attribute.renameElsewhere"} | RENAME)
    assert answer.status_code == 200 and "on 1 other level" in answer.text and "shoppers get both" not in answer.text
    with app.app_context():
        stored = db.session.get_one(Taxonomy, (mia.site_id, "kinds")).root_levels
    assert stored[1]["attributes"][0]["allowedValues"] == ["Black"], "nothing is saved by that"
    page = mia.pages.client.get(f"{EDITOR}/review", base_url=mia.pages.base).text
    assert "Renamed the value “Black” of “Colour” (Boots) to “Jet black”." in page


def test_where_nothing_is_left_to_rename_it_says_so(mia: Merchandiser):
    mia.get(EDITOR)
    answer = mia.swap(f"{EDITOR}/draft", {"edit": "attribute.renameElsewhere"} | RENAME | {"value": "Pink"})
    assert answer.status_code == 400 and "No other level says “Pink” any more." in answer.text
