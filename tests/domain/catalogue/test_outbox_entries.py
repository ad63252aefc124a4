"""Whatever changes what shoppers find leaves an outbox entry, in the same transaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import delete, select

from app.domain.catalogue import content, product_images, products, terms
from app.domain.catalogue.content import COLLECTION, PAGE, CollectionDraft, PageDraft
from app.domain.catalogue.pictures import StoredImage
from app.domain.catalogue.product_rules import ProductDraft, VariantDraft
from app.domain.merchandising import categories
from app.domain.merchandising.models import Node, Tree
from app.domain.search.models import OutboxEntry
from app.domain.shared.author import Author
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
    """A product in a shop with a category, whose own entry is done with."""
    with transaction():
        made = products.create(Author(site_id, "Mia", clock), TENT, ()).product.id
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


def entries() -> set[tuple[str, int]]:
    return {(kind, id) for kind, id in db.session.execute(select(OutboxEntry.kind, OutboxEntry.record_id))}


@pytest.mark.parametrize(
    "act",
    [
        lambda clock, site, id: products.save(Author(site, "Mia", clock), id, 1, WITH_VARIANT, None),
        lambda clock, site, id: products.set_enabled(Author(site, "Mia", clock), [id], False),
        lambda clock, site, id: products.delete(Author(site, "Mia", clock), id),
        lambda clock, site, id: terms.add_terms(Author(site, "Mia", clock), id, ["wigwam"]),
        lambda clock, site, id: product_images.add(Author(site, "Mia", clock), id, StoredImage("a.webp", 1, 1), ""),
        lambda clock, site, id: categories.place_product(Author(site, "Mia", clock), id, 1),
        lambda clock, site, id: content.create(
            Author(site, "Mia", clock), COLLECTION, CollectionDraft("C", product_ids=(id,))
        ),
    ],
)
def test_each_way_to_change_a_product_is_indexed(clock: StoppedClock, site_id: int, product_id: int, act: Act) -> None:
    with transaction():
        act(clock, site_id, product_id)
    assert ("product", product_id) in entries()


def test_a_save_that_changes_nothing_asks_for_nothing(clock: StoppedClock, site_id: int, product_id: int) -> None:
    with transaction():
        products.save(Author(site_id, "Mia", clock), product_id, 1, TENT, [])
        products.set_enabled(Author(site_id, "Mia", clock), [product_id], True)
    assert entries() == set()


def test_pages_and_collections_are_indexed_when_saved_and_when_deleted(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        page_id = content.create(Author(site_id, "Mia", clock), PAGE, PageDraft("About us")).id
        collection_id = content.create(Author(site_id, "Mia", clock), COLLECTION, CollectionDraft("Summer")).id
    assert entries() == {("page", page_id), ("collection", collection_id)}
    forget()
    with transaction():
        content.delete(Author(site_id, "Mia", clock), PAGE, page_id)
        content.delete(Author(site_id, "Mia", clock), COLLECTION, collection_id)
    assert entries() == {("page", page_id), ("collection", collection_id)}


def test_a_save_that_fails_leaves_no_entry(clock: StoppedClock, site_id: int, product_id: int) -> None:
    with pytest.raises(RuntimeError), transaction():
        terms.add_terms(Author(site_id, "Mia", clock), product_id, ["wigwam"])
        raise RuntimeError("the power went")
    assert entries() == set()
