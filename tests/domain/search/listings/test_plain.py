"""A plain listing holds what the index would hold of a category, whatever takes products into it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Burial, Node, Placement, Tree
from app.domain.merchandising.shop import read_shop
from app.domain.search.engine import SearchUnavailable
from app.domain.search.index.documents import product_documents
from app.domain.search.listings.browsing import plain_category_listing
from app.domain.search.listings.links import ListingLinks
from app.domain.search.listings.listing import ListingRequest
from app.domain.shared.problems import NotFound
from app.domain.sites.models import Setting
from app.domain.taxonomy.models import Taxonomy
from app.extensions import db
from app.transaction import transaction
from tests.searching import WHEN, add_product, add_site

pytestmark = pytest.mark.usefixtures("context")


def level(level_id: str, *children: dict[str, object]) -> dict[str, object]:
    return {"levelId": level_id, "name": level_id, "attributes": [], "children": list(children)}


CATEGORIES: dict[str, dict[str, object]] = {
    "all": {},
    "all/tents": {"source_levels": ["tents"]},
    "all/tents/acme": {"source_levels": ["tents"], "source_manufacturers": ["ACME"]},
    "all/tents/hidden": {"source_levels": ["mugs"], "visible": False},
    "all/domes": {"source_levels": ["domes", "no such level"]},
    "all/öko": {"source_manufacturers": ["Öko", "Bolt"]},
    "by-hand": {},
    "by-hand/below": {},
    "empty": {"source_levels": ["no such level"]},
}
LEVELS = (None, "camping", "tents", "domes", "mugs", "gone")
LINKS = ListingLinks("/c/all")
MAKERS = ("", "Acme", "acme", "ÖKO", "Bolt", "Other")


@pytest.fixture
def site_id() -> int:
    """Every level with every manufacturer, one product disabled, and another site with the same."""
    with transaction():
        sites = [add_site().id, add_site("other.test").id]
        for site in sites:
            _fill(site)
    return sites[0]


def _fill(site_id: int) -> None:
    levels = [level("camping", level("tents", level("domes")), level("mugs"))]
    taxonomy = Taxonomy(
        site_id=site_id, id="t", catalogue_id="main", name="T", root_levels=levels, created_at=WHEN, updated_at=WHEN
    )
    tree = Tree(site_id=site_id, name="Shop", primary=True, facets=[], updated_at=WHEN)
    db.session.add_all([taxonomy, tree, Setting(site_id=site_id, key="taxonomy-active-id", value="t")])
    db.session.flush()
    nodes: dict[str, Node] = {}
    for path, more in CATEGORIES.items():
        above = nodes.get(path.rpartition("/")[0])
        place = {"parent_id": above.id if above else None, "position": len(nodes), "path": path, "name": path}
        nodes[path] = Node(
            site_id=site_id, tree_id=tree.id, slug=path.rpartition("/")[2], updated_at=WHEN, **(place | more)
        )
        db.session.add(nodes[path])
        db.session.flush()
    products = []
    for number, (level_id, maker) in enumerate((level_id, maker) for level_id in LEVELS for maker in MAKERS):
        product = add_product(site_id, f"sku-{number}")
        product.taxonomy_level_id, product.manufacturer = level_id, maker
        product.created_at += timedelta(days=number % 5)
        product.enabled, product.featured = number != 7, number % 3 == 0
        products.append(product)
    for path, numbers in {"by-hand": (3, 1, 7), "by-hand/below": (2,), "all/tents": (0,)}.items():
        for position, number in enumerate(numbers):
            placed = {"node_id": nodes[path].id, "product_id": products[number].id, "position": position}
            db.session.add(Placement(site_id=site_id, **placed))
    db.session.flush()


@pytest.mark.parametrize("path", [path for path in CATEGORIES if path != "all/tents/hidden"])
def test_it_holds_the_products_that_the_index_would_hold(site_id: int, path: str) -> None:
    shop = read_shop(site_id)
    node = shop.tree.at(path)
    assert node is not None
    listing = plain_category_listing(shop, node, ListingRequest(path, page_size=100), LINKS)
    documents = {d.id: d for d in product_documents(site_id) if str(node.id) in d.values.get("category", ())}
    assert {hit.id: hit.card for hit in listing.result.hits} == {id: d.card for id, d in documents.items()}
    assert listing.total == len(documents) and (documents or path == "empty")


def test_what_is_placed_by_hand_leads_in_its_order_then_what_is_featured_then_the_newest(site_id: int) -> None:
    shop = read_shop(site_id)
    node = shop.tree.at("all/tents")
    assert node is not None
    hits = plain_category_listing(shop, node, ListingRequest("all/tents", page_size=100), LINKS).result.hits
    assert hits[0].card["sku"] == "sku-0"
    rest = [bool(hit.card["featured"]) for hit in hits[1:]]
    assert rest == sorted(rest, reverse=True) and len(set(rest)) == 2


def test_what_is_buried_stands_last_wherever_it_comes_from(site_id: int) -> None:
    def skus() -> list[str]:
        shop = read_shop(site_id)
        node = shop.tree.at("all/tents")
        assert node is not None
        listing = plain_category_listing(shop, node, ListingRequest("all/tents", page_size=100), LINKS)
        return [str(hit.card["sku"]) for hit in listing.result.hits]

    before = skus()
    buried = [before[4], before[0], before[2]]
    with transaction():
        node_id = db.session.scalars(select(Node.id).where(Node.site_id == site_id, Node.path == "all/tents")).one()
        of_site = select(Product.id).where(Product.site_id == site_id)
        elsewhere = db.session.scalars(of_site.where(Product.sku.not_in(before))).first()
        for product_id in (*db.session.scalars(of_site.where(Product.sku.in_(buried))), elsewhere):
            db.session.add(Burial(site_id=site_id, node_id=node_id, product_id=product_id))
    after = skus()
    assert after[:-3] == [sku for sku in before if sku not in buried]
    assert sorted(after[-3:]) == sorted(buried), "and what the category does not hold stays out"


def test_what_only_search_can_do_is_refused_and_a_page_that_is_not_there_not_found(site_id: int) -> None:
    shop = read_shop(site_id)
    node = shop.tree.at("all")
    assert node is not None
    for request in (ListingRequest("all", words="tent"), ListingRequest("all", values=(("manufacturer", ("Acme",)),))):
        with pytest.raises(SearchUnavailable):
            plain_category_listing(shop, node, request, LINKS)
    with pytest.raises(NotFound):
        plain_category_listing(shop, node, ListingRequest("all", page=99), LINKS)
