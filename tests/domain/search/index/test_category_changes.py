"""Changes of categories reach the products that they put into others, and no product besides."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import delete, select

from app.domain.catalogue import content
from app.domain.catalogue.models import Product
from app.domain.merchandising import categories, nodes, trees
from app.domain.merchandising.arrangement import Direction, Target
from app.domain.merchandising.categories import CATEGORY, CategoryDraft
from app.domain.merchandising.models import Node
from app.domain.search.engine import IndexName, SearchContext, SearchRequest, ValueFilter
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import OutboxEntry
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_category, make_product, make_site, make_taxonomy
from tests.fakes.clock import StoppedClock
from tests.searching import request

LEVELS = [{"levelId": "camping", "name": "Camping", "children": [{"levelId": "tents", "name": "Tents"}]}]
Act = Callable[[Author], object]


@pytest.fixture
def author(context: None, clock: StoppedClock) -> Author:
    """Of a shop whose tree is Outdoor (1) with Camping (2) below, and Gifts (3); nothing waits to be indexed.
    A-1 is placed in Camping; B-1 is of the level Tents and made by Fellside; C-1 is neither."""
    with transaction():
        site = make_site()
        author = Author(site.id, "Mia", clock)
        make_taxonomy(site, LEVELS, active=True)
        tree_id = trees.create(author, "Shop").id
        for name, parent_id in (("Outdoor", None), ("Camping", 1), ("Gifts", None)):
            make_category(author, tree_id, name, parent_id)
        a, _, _ = (
            make_product(site, "A-1"),
            make_product(site, "B-1", taxonomy_level_id="tents", manufacturer="Fellside"),
            make_product(site, "C-1"),
        )
        categories.place_product(author, a.id, 2)
    forget()
    return author


def forget() -> None:
    with transaction():
        db.session.execute(delete(OutboxEntry))


def waiting() -> set[str]:
    query = select(Product.sku).join(OutboxEntry, OutboxEntry.record_id == Product.id)
    return set(db.session.scalars(query))


def rule(node_id: int, levels: tuple[str, ...] = (), makers: tuple[str, ...] = ()) -> None:
    node = db.session.get_one(Node, node_id)
    node.source_levels, node.source_manufacturers = list(levels), list(makers)


@pytest.mark.parametrize(
    ("act", "skus"),
    [
        (lambda author: nodes.move(author, 2, Target(3)), {"A-1"}),
        (lambda author: nodes.move(author, 1, Target(3)), {"A-1"}),
        (lambda author: nodes.move(author, 3, Direction.UP), set()),
        (lambda author: nodes.delete(author, 1), {"A-1"}),
        (lambda author: nodes.rename(author, 2, 2, "Camp"), set()),
        (lambda author: nodes.show(author, 1, False), set()),
        (lambda author: rule(3, ("camping",)), {"B-1"}),
        (lambda author: rule(3, ("camping",), ("FELLSIDE",)), {"B-1"}),
        (lambda author: rule(3, ("camping",), ("Other",)), set()),
        (lambda author: rule(3, (), ("fellside",)), {"B-1"}),
        (lambda author: make_category(author, 1, "Lamps", 2), set()),
    ],
)
def test_a_change_concerns_the_products_that_it_puts_elsewhere(author: Author, act: Act, skus: set[str]) -> None:
    with transaction():
        act(author)
    assert waiting() == skus


def test_a_rule_that_goes_concerns_what_it_took(author: Author) -> None:
    with transaction():
        rule(3, ("tents",))
    forget()
    with transaction():
        rule(3)
    assert waiting() == {"B-1"}
    with transaction():
        rule(3, ("tents",))
    forget()
    with transaction():
        nodes.move(author, 3, Target(2))
    assert waiting() == {"B-1"}


def test_a_tree_that_goes_concerns_all_that_it_showed(author: Author) -> None:
    with transaction():
        other = trees.create(author, "Summer").id
        trees.make_primary(author, other)
    forget()
    with transaction():
        trees.delete(author, 1)
    assert waiting() == {"A-1"}


def test_a_moved_category_shows_its_products_in_its_new_place(author: Author, indexing: SearchContext) -> None:
    def shown_in(node_id: int) -> int:
        scope = (ValueFilter("category", (str(node_id),)),)
        return indexing.engine.search(author.site_id, IndexName.PRODUCTS, SearchRequest(scope=scope, fresh=True)).total

    rebuild(indexing, request(indexing, author.site_id))
    assert (shown_in(1), shown_in(3)) == (1, 0)
    with transaction():
        nodes.move(author, 2, Target(3))
        rule(1, ("camping",))
    apply_waiting(indexing, author.site_id)
    assert (shown_in(1), shown_in(3)) == (1, 1)


def test_a_product_that_the_editor_places_is_shown_in_its_category_and_above(
    author: Author, indexing: SearchContext
) -> None:
    def skus(node_id: int) -> set[str]:
        scope = (ValueFilter("category", (str(node_id),)),)
        hits = indexing.engine.search(author.site_id, IndexName.PRODUCTS, SearchRequest(scope=scope, fresh=True)).hits
        return {str(hit.card["sku"]) for hit in hits}

    rebuild(indexing, request(indexing, author.site_id))
    placed = db.session.scalars(select(Product.id).where(Product.sku.in_(("A-1", "C-1"))).order_by(Product.sku)).all()
    for revision, products in ((2, tuple(placed)), (3, tuple(placed[1:]))):
        draft = CategoryDraft(name="Camping", seo_name="camping", product_ids=products)
        with transaction():
            content.save(author, CATEGORY, 2, revision, draft)
        apply_waiting(indexing, author.site_id)
        expected = {"A-1", "C-1"} if len(products) == 2 else {"C-1"}
        assert skus(2) == skus(1) == expected


def test_another_order_alone_concerns_no_product(author: Author) -> None:
    ids = tuple(db.session.scalars(select(Product.id).order_by(Product.id)))
    for revision, products in ((2, ids), (3, ids[::-1])):
        forget()
        with transaction():
            draft = CategoryDraft(name="Camping", seo_name="camping", product_ids=products)
            content.save(author, CATEGORY, 2, revision, draft)
    assert waiting() == set()
