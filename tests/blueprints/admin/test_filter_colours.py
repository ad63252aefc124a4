"""The colours of a filter's values: each value that products carry has a picker beside the text that is sent."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask import Flask

from app.adapters.null_engine import NullEngine
from app.ports import EXTENSION
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.admin.test_landing_rules import _small_shop_with_merchandiser
from tests.page_client import PageClient, Reading
from tests.snapshots import built

TREE = "/admin/merchandising/1/filters"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    site_id = built(app, _small_shop_with_merchandiser)
    return Merchandiser(PageClient(app, "shop.test").signed_in("mia@shop.test"), site_id)


def picked(page: Reading) -> dict[str, str]:
    """The colour of each picker, by its name."""
    return {field["aria-label"]: field["value"] for field in page.all("input") if field.get("type") == "color"}


def test_the_values_that_products_carry_have_pickers_with_the_colours_that_shoppers_see(mia: Merchandiser) -> None:
    assert picked(mia.get(TREE)) == {
        "Colour of Odd": "#123456",
        "Colour of Fern": "#4f7942",
        "Colour of Navy": "#000080",
    }


def test_pickers_follow_the_display_and_the_text_that_is_not_saved_yet(mia: Merchandiser) -> None:
    mia.get(TREE)
    sent = {"facet": "colour", "display-colour": "list", "swatches-colour": "Odd #654321", "intent": "facet-display"}
    assert picked(Reading(mia.swap(TREE, sent).text)) == {"Colour of Odd": "#654321"}
    swatches = Reading(mia.swap(TREE, sent | {"display-colour": "swatch"}).text)
    assert picked(swatches)["Colour of Navy"] == "#000080"
    assert picked(mia.get(TREE))["Colour of Odd"] == "#123456", "nothing was saved"


def test_a_category_offers_the_values_for_its_own_filters(mia: Merchandiser) -> None:
    here = "/admin/merchandising/category/2/parts"
    mia.get("/admin/merchandising/category/2")
    sent = {"name": "Tents", "ownFacets": "1", "facet": "colour", "display-colour": "swatch", "intent": "facet-display"}
    assert "Colour of Navy" in picked(Reading(mia.swap(here, sent).text))


def test_without_search_the_colours_are_still_typed(app: Flask, mia: Merchandiser) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    page = mia.get(TREE)
    assert picked(page) == {"Colour of Odd": "#123456"}
    assert "Odd #123456" in page.texts["textarea"]
