"""A taxonomy's change log: the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from flask import Flask

from app.domain.sites.models import Site
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.taxonomies import active_tree, taxonomy_of
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.trees import choice, level
from tests.factories import make_product, make_site, make_taxonomy
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, Reading
from tests.statements import statements
from tests.taxonomy_saves import save_structure

LOG = "/admin/catalogue/taxonomy/kinds/revisions"
FIRST = [level("outdoor", level("tents", attributes=[choice("colour", "Moss", "Clay")]))]
SECOND = [level("outdoor", level("tents", attributes=[choice("colour", "Moss", "Clay")]), level("boots"))]


@pytest.fixture
def save(app: Flask, site_id: int, clock: StoppedClock):
    def save(levels: list, revision: int, name: str = "Kinds", note: str = "", renames: Sequence[Any] = ()) -> None:
        with app.app_context(), transaction():
            save_structure(clock, site_id, "kinds", revision, name, "", levels, "The Merchandiser", note, renames)

    return save


@pytest.fixture
def client(app: Flask, site_id: int, save, signed_in) -> PageClient:
    """Revision 2 added boots, where a product stands."""
    with app.app_context(), transaction():
        site = db.session.get(Site, site_id)
        make_taxonomy(site, FIRST, active=True, id="kinds")
        make_taxonomy(make_site("other.localhost"), FIRST, id="theirs")
    save(SECOND, 1, name="Outdoor kinds", note="For spring")
    with app.app_context(), transaction():
        classify(make_product(db.session.get(Site, site_id)), active_tree(site_id), "boots", {})
    browser: PageClient = signed_in()
    return browser


def words(page: Reading) -> str:
    return " ".join(page.texts.values())


def test_the_log_tells_who_when_why_and_what(client: PageClient) -> None:
    page = client.get(LOG)
    assert page.texts["h1"] == "Change log"
    for result in ("The Merchandiser", "For spring", "Added the level “Boots” below “Outdoor”.", "Now"):
        assert result in words(page)
    assert [box["value"] for box in page.all("input") if box.get("type") == "checkbox"] == ["2", "1"]
    links = [link["href"] for link in page.all("a")]
    assert f"{LOG}/1/back" in links and f"{LOG}/2/back" not in links


def test_two_revisions_are_compared_in_whatever_order_they_are_ticked(client: PageClient) -> None:
    for query in ("revision=1&revision=2", "revision=2&revision=1", "revision=1"):
        page = client.get(f"{LOG}/compare?{query}")
        assert page.texts["h1"] == "Revision 1 and 2"
        assert "Renamed the taxonomy “Kinds” to “Outdoor kinds”. Added the level “Boots”" in words(page)


@pytest.mark.parametrize("query", ["", "revision=2", "revision=x", "revision=1&revision=2&revision=3", "revision=-1"])
def test_anything_but_two_is_asked_for_again(client: PageClient, query: str) -> None:
    page = client.get(f"{LOG}/compare?{query}", 400)
    assert "Tick the two revisions" in words(page)


@pytest.mark.parametrize("path", ["compare?revision=1&revision=77", "77/back"])
def test_a_revision_that_is_not_kept_is_not_found(client: PageClient, path: str) -> None:
    assert "no such revision" in words(client.get(f"{LOG}/{path}", 404))


def test_before_one_comes_back_the_page_tells_what_that_does_to_products(client: PageClient) -> None:
    page = client.get(f"{LOG}/1/back")
    assert "Removed the level “Boots” below “Outdoor”." in words(page)
    assert "Renamed the taxonomy “Outdoor kinds” to “Kinds”." in words(page)
    assert "1 product" in words(page)
    assert page.value("seen") == "2"


def test_values_that_were_renamed_are_told_to_get_their_names_again(client: PageClient, save) -> None:
    fern = level("tents", attributes=[choice("colour", "Fern", "Clay")])
    save([level("outdoor", fern)], 2, renames=[ValueRename("tents", "colour", "Moss", "Fern")])
    page = client.get(f"{LOG}/1/back")
    assert "Renamed the value “Fern” of “Colour” (Tents) to “Moss”." in words(page)
    assert "“Fern” of “Colour” becomes “Moss”" in words(page)


def test_an_earlier_revision_comes_back_as_a_new_one(client: PageClient, app: Flask, site_id: int) -> None:
    client.get(f"{LOG}/1/back")
    answer = client.post(f"{LOG}/1/back", {"seen": "2", "note": "Too early"})
    assert answer.location.startswith("/admin/catalogue/taxonomy/kinds")
    with app.app_context():
        taxonomy = taxonomy_of(site_id, "kinds")
        assert (taxonomy.revision, taxonomy.name) == (3, "Kinds")
        assert len(taxonomy.root_levels[0]["children"]) == 1
    assert "Too early" in words(client.get(LOG))


@pytest.mark.parametrize("seen", ["1", "", "x"])
def test_what_was_seen_must_be_what_is_there(client: PageClient, app: Flask, site_id: int, seen: str) -> None:
    client.get(f"{LOG}/1/back")
    page = client.post(f"{LOG}/1/back", {"seen": seen, "note": "Mine"}, 409)
    assert "The Merchandiser saved this taxonomy" in words(page)
    assert page.value("seen") == "2", "the preview was made anew"
    assert page.texts["textarea"] == "Mine"
    with app.app_context():
        assert taxonomy_of(site_id, "kinds").revision == 2


def test_a_note_that_is_too_long_is_told_at_its_field(client: PageClient) -> None:
    client.get(f"{LOG}/1/back")
    page = client.post(f"{LOG}/1/back", {"seen": "2", "note": "x" * 501}, 400)
    assert "at most 500 fit" in words(page)


def test_what_is_there_already_need_not_come_back(client: PageClient) -> None:
    answer = client.client.get(f"{LOG}/2/back")
    assert (answer.status_code, answer.location) == (302, LOG)


def test_a_long_log_has_pages(client: PageClient, save) -> None:
    for revision in range(2, 30):
        save(SECOND, revision)
    page = client.get(f"{LOG}?p=2")
    assert [box["value"] for box in page.all("input") if box.get("type") == "checkbox"] == ["5", "4", "3", "2", "1"]
    assert "Nothing of it changed." in words(page)


def test_a_long_log_costs_no_more_statements_than_a_short_one(client: PageClient, app: Flask, save) -> None:
    with statements(app) as short:
        client.get(LOG)
    for revision in range(2, 30):
        save(SECOND, revision)
    with statements(app) as long:
        client.get(LOG)
    assert len(long) == len(short) <= 12


def test_an_imported_taxonomy_begins_its_log_with_what_it_is(client: PageClient, app: Flask, site_id: int) -> None:
    with app.app_context(), transaction():
        make_taxonomy(db.session.get(Site, site_id), FIRST, id="imported")
    page = client.get("/admin/catalogue/taxonomy/imported/revisions")
    assert "Saved before the change log began" in words(page)


def test_another_sites_log_is_not_found(client: PageClient) -> None:
    for path in ("", "/compare?revision=1", "/1/back"):
        client.get(f"/admin/catalogue/taxonomy/theirs/revisions{path}", 404)
