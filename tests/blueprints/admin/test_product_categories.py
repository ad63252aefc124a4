from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.merchandising.models import Node, Placement, Tree
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.blueprints.admin.test_products import stored
from tests.factories import WHEN


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser(app)


def make_nodes(app: Flask, site_id: int) -> dict[str, int]:
    """Camping with Tents below it, and Fellside by the rule of its maker."""
    with app.app_context(), transaction():
        tree = Tree(site_id=site_id, name="Shop", primary=True, updated_at=WHEN)
        db.session.add(tree)
        db.session.flush()
        camping = Node(site_id=site_id, tree_id=tree.id, name="Camping", slug="c", path="c", updated_at=WHEN)
        db.session.add(camping)
        db.session.flush()
        own = {"site_id": site_id, "tree_id": tree.id, "updated_at": WHEN}
        tents = Node(name="Tents", slug="t", path="c/t", parent_id=camping.id, **own)
        maker = Node(name="All Fellside", slug="f", path="f", source_manufacturers=["fellside"], **own)
        db.session.add_all([tents, maker])
        db.session.flush()
        return {"camping": camping.id, "tents": tents.id, "maker": maker.id}


def placed(app: Flask, product_id: int) -> list[tuple[int, int]]:
    with app.app_context():
        query = select(Placement.node_id, Placement.position).where(Placement.product_id == product_id)
        return [(node_id, position) for node_id, position in db.session.execute(query.order_by(Placement.node_id))]


def test_a_product_is_placed_at_the_end_and_taken_out(app: Flask, mia: Merchandiser) -> None:
    nodes = make_nodes(app, mia.site_id)
    first, second = stored(app), stored(app, sku="T-2")
    mia.get(f"/admin/catalogue/product/{first}")
    for product_id in (first, second, second):
        answer = mia.swap(f"/admin/catalogue/product/{product_id}/categories", {"category": nodes["tents"]})
        assert "Camping › Tents" in answer.text
    assert placed(app, second) == [(nodes["tents"], 1)]
    mia.swap(f"/admin/catalogue/product/{second}/categories/{nodes['tents']}/remove", {})
    assert placed(app, second) == []
    assert placed(app, first) == [(nodes["tents"], 0)]


def test_in_every_category_a_product_is_not_told_that_there_are_none(app: Flask, mia: Merchandiser) -> None:
    nodes, product_id = make_nodes(app, mia.site_id), stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")
    for node_id in nodes.values():
        answer = mia.swap(f"/admin/catalogue/product/{product_id}/categories", {"category": node_id})
    assert "f-category" not in answer.text and "no category tree yet" not in answer.text


def test_categories_by_rule_are_shown_beside_those_by_hand(app: Flask, mia: Merchandiser) -> None:
    make_nodes(app, mia.site_id)
    product_id = stored(app, manufacturer="Fellside")
    page = mia.get(f"/admin/catalogue/product/{product_id}")
    assert page.texts["li"].endswith("All Fellside")


@pytest.mark.parametrize("category", ["", "x", "999999", "9" * 40])
def test_what_is_no_category_is_refused(app: Flask, mia: Merchandiser, category: str) -> None:
    product_id = stored(app)
    mia.get(f"/admin/catalogue/product/{product_id}")
    answer = mia.swap(f"/admin/catalogue/product/{product_id}/categories", {"category": category})
    assert answer.status_code == 400
    assert placed(app, product_id) == []


def test_another_shops_category_is_not_taken(app: Flask, mia: Merchandiser) -> None:
    product_id = stored(app)
    theirs = make_nodes(app, merchandiser(app, "other.localhost").site_id)
    mia.get(f"/admin/catalogue/product/{product_id}")
    mia.swap(f"/admin/catalogue/product/{product_id}/categories", {"category": theirs["tents"]})
    assert placed(app, product_id) == []
