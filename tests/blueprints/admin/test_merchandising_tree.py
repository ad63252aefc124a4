"""The trees of categories in the admin: the list, the page of one, and every change at its place."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.merchandising import trees
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.shared.author import Author
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_products import stored
from tests.factories import make_category
from tests.fakes.clock import StoppedClock
from tests.statements import statements

TREES = "/admin/merchandising"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


@pytest.fixture
def tree_id(app: Flask, mia: Merchandiser, clock: StoppedClock) -> int:
    with app.app_context(), transaction():
        return trees.create(Author(mia.site_id, "Mia", clock), "Shop").id


def add(app: Flask, mia: Merchandiser, tree_id: int, name: str, below: int | None = None) -> int:
    with app.app_context(), transaction():
        return make_category(Author(mia.site_id, "Mia", app.extensions[EXTENSION].clock), tree_id, name, below).id


@pytest.fixture
def camp(app: Flask, mia: Merchandiser, tree_id: int) -> dict[str, int]:
    """Camping with Tents and Stoves below it, and Gifts."""
    found = {"camping": add(app, mia, tree_id, "Camping"), "gifts": add(app, mia, tree_id, "Gifts")}
    found["tents"] = add(app, mia, tree_id, "Tents", found["camping"])
    found["stoves"] = add(app, mia, tree_id, "Stoves", found["camping"])
    mia.get(f"{TREES}/{tree_id}")
    return found


def paths(app: Flask) -> list[str]:
    with app.app_context():
        return list(db.session.scalars(select(Node.path).order_by(Node.path)))


def node(app: Flask, node_id: int) -> Node:
    with app.app_context():
        return db.session.get_one(Node, node_id)


def category(node_id: int, act: str = "") -> str:
    return f"{TREES}/category/{node_id}{act}"


def test_a_tree_is_added_renamed_made_primary_and_deleted(app: Flask, mia: Merchandiser) -> None:
    mia.get(TREES)
    mia.get(f"{TREES}/new")
    shop = mia.post(f"{TREES}/new", {"name": "Shop"}).location
    mia.get(shop)
    mia.post(f"{TREES}/new", {"name": " Shop "}, 400)
    summer = mia.post(f"{TREES}/new", {"name": "Summer"}).location
    mia.post(f"{summer}/name", {"name": "Summer 2027"})
    assert "Summer 2027" in mia.get(TREES).texts["a"]
    mia.get(f"{summer}/primary")
    mia.post(f"{summer}/primary", {})
    mia.post(f"{summer}/removal", {}, 409)
    mia.post(f"{shop}/removal", {})
    mia.get(shop, 404)
    with app.app_context():
        assert [(tree.name, tree.primary) for tree in db.session.scalars(select(Tree))] == [("Summer 2027", True)]
        acts = db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert acts == ["tree.create", "tree.create", "tree.rename", "tree.primary", "tree.delete"]


def test_categories_are_added_one_a_line_in_their_order(app: Flask, mia: Merchandiser, tree_id: int) -> None:
    mia.get(f"{TREES}/{tree_id}")
    answer = mia.swap(f"{TREES}/{tree_id}/categories", {"name": "Camping\n\nGifts\nCamping", "parent": ""})
    assert "Added 3 categories." in answer.text
    assert paths(app) == ["camping", "camping-2", "gifts"]
    page = mia.get(f"{TREES}/{tree_id}")
    assert [link["href"] for link in page.all("a") if "?category=" in link["href"]] == [
        f"?category={id}" for id in (1, 2, 3)
    ]
    assert "needs a name" in mia.swap(f"{TREES}/{tree_id}/categories", {"name": " \n", "parent": ""}).text
    assert "no longer in this tree" in mia.swap(f"{TREES}/{tree_id}/categories", {"name": "X", "parent": "99"}).text


def test_names_that_were_refused_at_the_top_stay_where_they_were_typed(
    app: Flask, mia: Merchandiser, camp: dict[str, int], tree_id: int
) -> None:
    address, emptied = f"{TREES}/{tree_id}/categories", 'hx-target="#add-top-place"'
    assert emptied in mia.swap(address, {"name": "Lamps", "parent": ""}).text
    too_many = mia.swap(address, {"name": "\n".join(str(number) for number in range(201)), "parent": ""})
    assert too_many.status_code == 400 and "At most 200 categories" in too_many.text
    others = (
        mia.swap(address, {"name": "Pegs", "parent": str(camp["tents"])}),
        mia.swap(category(camp["gifts"], "/visibility"), {"visible": "0"}),
    )
    for answer in (too_many, *others):
        assert emptied not in answer.text


def test_a_step_among_siblings_is_done_at_once(app: Flask, mia: Merchandiser, camp: dict[str, int]) -> None:
    before = node(app, camp["gifts"])
    answer = mia.swap(category(camp["gifts"], "/move"), {"direction": "up"})
    assert "Moved “Gifts”." in answer.text and "hx-partial" in answer.text
    assert node(app, camp["gifts"]).position == 0
    assert node(app, camp["gifts"]).updated_at == before.updated_at
    answer = mia.swap(category(camp["gifts"], "/move"), {"direction": "up"})
    assert answer.status_code == 400
    assert re.search(r'<p class="bad-ink" role="alert">[^<]*already the first one', answer.text)


def test_a_move_that_changes_addresses_asks_first(app: Flask, mia: Merchandiser, camp: dict[str, int]) -> None:
    move = category(camp["camping"], "/move")
    dialog = mia.swap(move, {"parent": camp["gifts"]})
    assert "/c/gifts/camping" in dialog.text and "404" in dialog.text and "2 categories below" in dialog.text
    assert "camping/tents" in paths(app)
    app.extensions[EXTENSION].clock.move(seconds=60)
    mia.swap(move, {"parent": camp["gifts"], "confirmed": "1"})
    assert paths(app) == ["gifts", "gifts/camping", "gifts/camping/stoves", "gifts/camping/tents"]
    moved, below = node(app, camp["camping"]), node(app, camp["tents"])
    assert moved.updated_at == below.updated_at == app.extensions[EXTENSION].clock.now()
    assert (moved.revision, below.revision) == (2, 1)


def test_without_scripts_every_change_has_a_page(app: Flask, mia: Merchandiser, camp: dict[str, int], tree_id: int):
    page = mia.post(category(camp["gifts"], "/move"), {"direction": "in"}, 200)
    assert page.texts["h1"] == "Move “Gifts”?"
    form = {field["name"]: field["value"] for field in page.all("input") if field.get("name") != "csrf_token"}
    mia.post(category(camp["gifts"], "/move"), form)
    assert "camping/gifts" in paths(app)
    mia.get(f"{TREES}/{tree_id}?category={camp['gifts']}")
    mia.get(category(camp["gifts"], "/removal"))
    mia.post(category(camp["gifts"], "/removal"), {})
    assert "camping/gifts" not in paths(app)
    mia.post(category(camp["tents"], "/name"), {"name": "", "revision": "1"}, 400)


def test_a_move_on_an_older_tree_is_refused_and_shows_the_tree_as_it_is(
    app: Flask, mia: Merchandiser, camp: dict[str, int], tree_id: int
) -> None:
    seen = next(item for item in mia.get(f"{TREES}/{tree_id}").all("ul") if item.get("id") == "tree")["data-version"]
    mia.swap(category(camp["stoves"], "/move"), {"direction": "up", "version": seen})
    late = mia.swap(category(camp["gifts"], "/move"), {"direction": "up", "version": seen})
    assert late.status_code == 409 and "Someone else moved" in late.text
    assert node(app, camp["gifts"]).position == 1
    assert (
        mia.swap(category(camp["gifts"], "/move"), {"parent": camp["camping"], "after": camp["gifts"]}).status_code
        == 400
    )
    assert mia.swap(category(camp["gifts"], "/move"), {"direction": "sideways"}).status_code == 400


def test_a_name_and_whether_it_is_shown_are_changed_at_its_place(
    app: Flask, mia: Merchandiser, camp: dict[str, int]
) -> None:
    assert (
        "its address stays" in mia.swap(category(camp["tents"], "/name"), {"name": "Big tents", "revision": "1"}).text
    )
    assert (node(app, camp["tents"]).name, node(app, camp["tents"]).path) == ("Big tents", "camping/tents")
    assert mia.swap(category(camp["tents"], "/name"), {"name": "Late", "revision": "1"}).status_code == 409
    mia.swap(category(camp["tents"], "/visibility"), {"visible": "0"})
    assert not node(app, camp["tents"]).visible
    mia.swap(category(camp["tents"], "/visibility"), {"visible": "1"})
    assert (node(app, camp["tents"]).visible, node(app, camp["tents"]).revision) == (True, 4)


def test_deleting_says_what_goes_and_leaves_the_products(app: Flask, mia: Merchandiser, camp: dict[str, int]) -> None:
    product_id = stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")
    mia.swap(f"/admin/catalogue/product/{product_id}/categories", {"category": camp["tents"]})
    dialog = mia.fragment(category(camp["camping"], "/removal")).text
    assert "2 categories" in dialog and "1 placement" in dialog
    mia.swap(category(camp["camping"], "/removal"), {})
    assert paths(app) == ["gifts"]
    with app.app_context():
        assert db.session.scalars(select(Placement)).all() == []
    mia.get(f"/admin/catalogue/product/{product_id}")


def test_a_large_tree_takes_as_many_statements_as_a_small_one(
    app: Flask, mia: Merchandiser, camp: dict[str, int], tree_id: int
) -> None:
    with statements(app) as small:
        mia.get(f"{TREES}/{tree_id}?category={camp['tents']}")
    with app.app_context(), transaction():
        when = app.extensions[EXTENSION].clock.now()
        for number in range(500):
            below = {"parent_id": camp["tents"], "position": number, "slug": f"s{number}", "name": f"N {number}"}
            path = f"camping/tents/s{number}"
            db.session.add(Node(site_id=mia.site_id, tree_id=tree_id, path=path, updated_at=when, **below))
    with statements(app) as large:
        page = mia.get(f"{TREES}/{tree_id}?category={camp['tents']}")
    assert len([item for item in page.all("li") if item.get("role") == "treeitem"]) == 504
    assert len(large) <= len(small)


@pytest.mark.parametrize(("page", "links"), [("/admin/", 2), ("/admin/search/ranking", 2), ("/admin/search", 2)])
def test_the_menu_and_pages_of_search_lead_here(mia: Merchandiser, page: str, links: int) -> None:
    assert [link.get("href") for link in mia.get(page).all("a")].count(TREES) == links


def test_the_filters_of_a_tree_are_chosen_and_saved(app: Flask, mia: Merchandiser, tree_id: int) -> None:
    here = f"{TREES}/{tree_id}/filters"
    page = mia.get(here)
    rows = mia.swap(here, {"intent": "facet-add", "newFacet": "price", "version": page.value("version")}).text
    assert 'name="facet" value="price"' in rows and "Not saved yet" in rows
    sent = {"facet": ["manufacturer", "price"], "display-price": "range", "label-manufacturer": "Maker"}
    mia.post(here, sent | {"version": page.value("version")})
    with app.app_context():
        stored_facets = db.session.get_one(Tree, tree_id).facets
    assert stored_facets == [
        {"facetId": "manufacturer", "display": "list", "label": "Maker"},
        {"facetId": "price", "display": "range"},
    ]
    late = mia.post(here, {"facet": ["rating"], "version": page.value("version")}, 409)
    assert late.value("facet") == "rating" and late.value("version") != page.value("version")
    mia.get(here)
    mia.post(here, {"facet": ["utm_source"], "version": late.value("version")}, 400)
    mia.get(f"{TREES}/{tree_id}")


def test_places_to_move_to_are_found_by_words(mia: Merchandiser, camp: dict[str, int]) -> None:
    page = mia.get(category(camp["tents"], "/move"))
    assert [button["value"] for button in page.all("button") if button.get("name") == "parent"] == [
        "",
        str(camp["gifts"]),
        str(camp["stoves"]),
    ]
    found = mia.fragment(category(camp["tents"], "/move?q=camping+stov")).text
    assert f'value="{camp["stoves"]}"' in found and "Gifts" not in found
    assert "No matching category" in mia.fragment(category(camp["tents"], "/move?q=zzz")).text
