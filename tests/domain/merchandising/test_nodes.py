"""Categories in the database: what a change writes, what it dates, and two changes at once."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.merchandising import nodes, trees
from app.domain.merchandising.arrangement import Target
from app.domain.merchandising.models import Node, Placement
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_category, make_product, make_site
from tests.fakes.clock import StoppedClock


@pytest.fixture
def author(context: None, clock: StoppedClock) -> Author:
    """Of a shop whose tree (1) is A (1) with B (2) below, and C (3)."""
    with transaction():
        author = Author(make_site().id, "Mia", clock)
        tree_id = trees.create(author, "Shop").id
        for name, parent_id in (("A", None), ("B", 1), ("C", None)):
            make_category(author, tree_id, name, parent_id)
    clock.move(seconds=60)
    return author


def paths() -> list[str]:
    return list(db.session.scalars(select(Node.path).order_by(Node.path)))


def test_a_move_dates_what_gets_another_address_and_nothing_else(author: Author) -> None:
    before = author.now() - timedelta(seconds=60)
    with transaction():
        nodes.move(author, 1, Target(3))
    assert paths() == ["c", "c/a", "c/a/b"]
    dated = dict(db.session.execute(select(Node.path, Node.updated_at)).all())
    assert dated == {"c": before, "c/a": author.now(), "c/a/b": author.now()}
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "category.move")).one()
    assert entry.summary == "Moved the category A from a to c/a"
    assert entry.after == {"path": "c/a", "parent": 3, "position": 0}


def test_a_move_that_is_refused_changes_nothing(author: Author) -> None:
    with pytest.raises(Invalid), transaction():
        nodes.move(author, 1, Target(2))
    with pytest.raises(nodes.StaleTree), transaction():
        nodes.move(author, 1, Target(3), version="seen before")
    assert paths() == ["a", "a/b", "c"]


def test_another_sites_categories_and_trees_are_not_found(author: Author, clock: StoppedClock) -> None:
    with transaction():
        other = Author(make_site("other.localhost").id, "Theo", clock)
        theirs = make_category(other, trees.create(other, "Shop").id, "Theirs")
        node_id, tree_id = theirs.id, theirs.tree_id
    for act in (
        lambda: nodes.move(author, node_id, Target(None)),
        lambda: nodes.delete(author, node_id),
        lambda: nodes.rename(author, node_id, 1, "Mine"),
        lambda: make_category(author, tree_id, "Mine"),
        lambda: trees.delete(author, tree_id),
        lambda: trees.change_facets(author, tree_id, (), ""),
    ):
        with pytest.raises(NotFound), transaction():
            act()
    with pytest.raises(Invalid), transaction():
        nodes.move(author, 1, Target(node_id))
    with pytest.raises(Invalid), transaction():
        make_category(author, 1, "Mine", node_id)


def test_deleting_takes_along_what_is_below_and_the_placements(author: Author) -> None:
    with transaction():
        product = make_product(db.session.get_one(Site, author.site_id))
        for node_id in (1, 2, 3):
            placement = Placement(site_id=author.site_id, node_id=node_id, product_id=product.id, position=0)
            db.session.add(placement)
    with transaction():
        gone = nodes.delete(author, 1)
    assert (gone.categories, gone.placements, paths()) == (1, 2, ["c"])
    assert db.session.scalars(select(Placement.node_id)).all() == [3]
    assert db.session.get_one(Node, 3).position == 0


def test_the_first_tree_is_primary_and_the_primary_one_stays(author: Author) -> None:
    with pytest.raises(Conflict), transaction():
        trees.delete(author, 1)
    with transaction():
        summer = trees.create(author, "Summer").id
    assert [(row.name, row.is_primary) for row in trees.tree_list(author.site_id)] == [
        ("Shop", True),
        ("Summer", False),
    ]
    with transaction():
        trees.make_primary(author, summer)
        trees.delete(author, 1)
    assert paths() == []


@pytest.mark.concurrent
def test_two_moves_at_once_into_each_other_make_no_circle(app: Flask, author: Author) -> None:
    """Each looks at the tree before the other is done; the second must see what the first did."""
    begin, refused = threading.Barrier(2), []

    def move(node_id: int, parent_id: int) -> None:
        with app.app_context():
            begin.wait()
            try:
                with transaction():
                    nodes.move(author, node_id, Target(parent_id))
            except Invalid as error:
                refused.append(error.problems[0].code)

    moving = [threading.Thread(target=move, args=pair) for pair in ((1, 3), (3, 1))]
    for thread in moving:
        thread.start()
    for thread in moving:
        thread.join()
    assert refused == ["moved_below_itself"]
    db.session.rollback()
    assert paths() in (["c", "c/a", "c/a/b"], ["a", "a/b", "a/c"])
