"""A shop of tents with its index, for tools that look into search."""

from __future__ import annotations

from flask import Flask

from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.search.index.runs import request_rebuild
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.extensions import db
from app.jobs import search
from app.ports import clock, search_engine, worker_locks
from app.transaction import transaction
from tests.factories import WHEN, make_product

TENTS = (("T-1", "Ridge tent", "Fell"), ("T-2", "Dome tent", "Fell"), ("T-3", "Tunnel tent", "Fell"))
OTHERS = (("T-4", "Family tent", "Fern"), ("U-1", "Storm umbrella", "Fern"))


def add_tents(app: Flask, site_id: int) -> int:
    """Four tents and an umbrella, all of them in a category; its id."""
    with app.app_context():
        with transaction():
            site = db.session.get_one(Site, site_id)
            products = [
                make_product(site, sku, name=name, manufacturer=manufacturer)
                for sku, name, manufacturer in TENTS + OTHERS
            ]
            category_id = _add_category(site, [product.id for product in products])
            author = Author(site_id, "tests", clock())
            run_id = request_rebuild(author, search_engine(), worker_locks(), "ALL")[0].id
        search.rebuild(run_id)
        return category_id


def _add_category(site: Site, products: list[int]) -> int:
    tree = Tree(site_id=site.id, name="Shop", primary=True, updated_at=WHEN)
    db.session.add(tree)
    db.session.flush()
    node = Node(site_id=site.id, tree_id=tree.id, name="Outdoor", slug="outdoor", path="outdoor", updated_at=WHEN)
    db.session.add(node)
    db.session.flush()
    placed = [Placement(node_id=node.id, product_id=id, site_id=site.id, position=n) for n, id in enumerate(products)]
    db.session.add_all(placed)
    return node.id
