"""Whatever changes what shoppers find leaves the wish to index it, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import delete, select

from app.domain.catalogue import collections, images, pages, products, terms
from app.domain.catalogue.collections import CollectionDraft
from app.domain.catalogue.image_store import StoredImage
from app.domain.catalogue.pages import PageDraft
from app.domain.catalogue.rules import ProductDraft, VariantDraft
from app.domain.merchandising import placement
from app.domain.merchandising.models import Node, Tree
from app.domain.search.models import OutboxEntry
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock

TENT = ProductDraft(sku="T-1", name="Ridge tent", price=12_000)
WITH_VARIANT = ProductDraft(
    sku="T-1", name="Ridge tent", price=12_000, variants=(VariantDraft("V", options={"a": "b"}),)
)
Act = Callable[[StoppedClock, int, int], object]


@pytest.fixture
def product_id(clock: StoppedClock, site_id: int) -> int:
    """A product in a shop with a category, whose own wish is done with."""
    with transaction():
        made = products.create(clock, site_id, TENT, (), "Mia").product.id
        tree = Tree(site_id=site_id, name="Shop", primary=True, updated_at=clock.now())
        db.session.add(tree)
        db.session.flush()
        when = clock.now()
        db.session.add(Node(id=1, site_id=site_id, tree_id=tree.id, name="All", slug="a", path="a", updated_at=when))
        db.session.flush()
    forget()
    return made


def forget() -> None:
    with transaction():
        db.session.execute(delete(OutboxEntry))


def wishes() -> set[tuple[str, int]]:
    return {(kind, id) for kind, id in db.session.execute(select(OutboxEntry.kind, OutboxEntry.record_id))}


@pytest.mark.parametrize(
    "act",
    [
        lambda clock, site, id: products.save(clock, site, id, 1, WITH_VARIANT, None, "Mia"),
        lambda clock, site, id: products.set_enabled(clock, site, [id], False, "Mia"),
        lambda clock, site, id: products.delete(clock, site, id, "Mia"),
        lambda clock, site, id: terms.add_terms(clock, site, id, ["wigwam"], "Mia"),
        lambda clock, site, id: images.add(clock, site, id, StoredImage("a.webp", 1, 1), "", "Mia"),
        lambda clock, site, id: placement.add(clock, site, id, 1, "Mia"),
        lambda clock, site, id: collections.create(clock, site, CollectionDraft("C", product_ids=(id,)), "Mia"),
    ],
)
def test_each_way_to_change_a_product_is_indexed(clock: StoppedClock, site_id: int, product_id: int, act: Act) -> None:
    with transaction():
        act(clock, site_id, product_id)
    assert ("product", product_id) in wishes()


def test_a_save_that_changes_nothing_asks_for_nothing(clock: StoppedClock, site_id: int, product_id: int) -> None:
    with transaction():
        products.save(clock, site_id, product_id, 1, TENT, [], "Mia")
        products.set_enabled(clock, site_id, [product_id], True, "Mia")
    assert wishes() == set()


def test_pages_and_collections_are_indexed_when_saved_and_when_deleted(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        page_id = pages.create(clock, site_id, PageDraft("About us"), "Mia").id
        collection_id = collections.create(clock, site_id, CollectionDraft("Summer"), "Mia").id
    assert wishes() == {("page", page_id), ("collection", collection_id)}
    forget()
    with transaction():
        pages.delete(clock, site_id, page_id, "Mia")
        collections.delete(clock, site_id, collection_id, "Mia")
    assert wishes() == {("page", page_id), ("collection", collection_id)}


def test_a_save_that_fails_leaves_no_wish(clock: StoppedClock, site_id: int, product_id: int) -> None:
    with pytest.raises(RuntimeError), transaction():
        terms.add_terms(clock, site_id, product_id, ["wigwam"], "Mia")
        raise RuntimeError("the power went")
    assert wishes() == set()
