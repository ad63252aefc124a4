"""Every change of what shoppers find leaves an outbox entry, in the same transaction."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert, select, update

from app.domain.catalogue.models import INDEXED_SEPARATELY, Collection, CollectionEntry, Page, Product, Variant
from app.domain.merchandising.models import Node, Placement, Tree
from app.domain.search.document_ids import PRODUCT
from app.domain.search.index import outbox
from app.domain.search.models import OutboxEntry
from app.extensions import db
from app.transaction import transaction
from tests.fakes.queue import RecordingQueue
from tests.searching import add_product, add_site

pytestmark = pytest.mark.usefixtures("context")


def entries() -> set[tuple[str, int]]:
    return {(kind, record) for kind, record in db.session.execute(select(OutboxEntry.kind, OutboxEntry.record_id))}


@pytest.fixture
def site_id() -> int:
    with transaction():
        return add_site().id


@pytest.fixture
def product_id(site_id: int) -> int:
    with transaction():
        product_id = add_product(site_id, "tent", variants=["tent-green"]).id
    drop_entries()
    return product_id


def drop_entries() -> None:
    with transaction():
        db.session.execute(delete(OutboxEntry))


def test_a_new_product_is_to_be_indexed(site_id: int) -> None:
    with transaction():
        product = add_product(site_id, "tent")
    assert entries() == {("product", product.id)}


def test_a_product_that_was_only_read_is_not(product_id: int) -> None:
    with transaction():
        product = db.session.get_one(Product, product_id)
        product.name = str(product.name)
    assert entries() == set()


def test_a_changed_variant_concerns_its_product(product_id: int) -> None:
    with transaction():
        db.session.scalars(select(Variant)).one().stock = 0
    assert entries() == {("product", product_id)}


def test_a_variant_taken_away_concerns_its_product(product_id: int) -> None:
    with transaction():
        db.session.get_one(Product, product_id).variants = []
    assert entries() == {("product", product_id)}


def test_a_deleted_product_is_to_be_taken_out(product_id: int) -> None:
    with transaction():
        db.session.delete(db.session.get_one(Product, product_id))
    assert entries() == {("product", product_id)}


def test_a_placement_concerns_its_product_when_it_comes_and_when_it_goes(site_id: int, product_id: int, clock) -> None:
    with transaction():
        tree = Tree(site_id=site_id, name="Shop", updated_at=clock.now())
        db.session.add(tree)
        db.session.flush()
        node = Node(site_id=site_id, tree_id=tree.id, name="All", slug="all", path="all", updated_at=clock.now())
        db.session.add(node)
        db.session.flush()
        db.session.add(Placement(site_id=site_id, node_id=node.id, product_id=product_id))
    assert entries() == {("product", product_id)}
    drop_entries()
    with transaction():
        db.session.delete(db.session.scalars(select(Placement)).one())
    assert entries() == {("product", product_id)}


def test_a_deleted_collection_concerns_the_products_in_it(site_id: int, product_id: int, clock) -> None:
    with transaction():
        collection = Collection(site_id=site_id, name="Camping", seo_name="camping", updated_at=clock.now())
        db.session.add(collection)
        db.session.flush()
        db.session.add(CollectionEntry(site_id=site_id, collection_id=collection.id, product_id=product_id, position=0))
    drop_entries()
    with transaction():
        db.session.delete(db.session.get_one(Collection, collection.id))
    assert entries() == {("collection", collection.id), ("product", product_id)}


def test_a_page_is_to_be_indexed(site_id: int, clock) -> None:
    with transaction():
        page = Page(site_id=site_id, seo_name="about", title="About", updated_at=clock.now())
        db.session.add(page)
    assert entries() == {("page", page.id)}


def test_nothing_is_left_of_a_change_that_was_rolled_back(site_id: int, queue: RecordingQueue) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        add_product(site_id, "tent")
        raise ZeroDivisionError
    assert entries() == set()
    assert queue.jobs == []


def test_the_worker_is_woken_once_for_many_changes(site_id: int, queue: RecordingQueue) -> None:
    with transaction():
        add_product(site_id, "tent")
        add_product(site_id, "stove")
    assert queue.jobs == [("search:apply_outbox", (site_id,))]


@pytest.mark.parametrize(
    "statement",
    [insert(Product), update(Product).values(price=1), delete(Placement), delete(Page.__table__)],
    ids=["insert", "update", "delete", "delete from a table"],
)
def test_a_change_in_bulk_that_forgets_the_index_is_refused(site_id: int, statement) -> None:
    with pytest.raises(RuntimeError, match="in bulk"), transaction():
        db.session.execute(statement)


def test_a_change_in_bulk_goes_through_with_its_entries(site_id: int, product_id: int) -> None:
    with transaction():
        outbox.enqueue(db.session, site_id, PRODUCT, [product_id])
        db.session.execute(update(Product).values(price=1), execution_options=INDEXED_SEPARATELY)
    assert entries() == {("product", product_id)}
