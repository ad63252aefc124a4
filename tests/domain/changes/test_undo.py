"""Undo of every kind of change: the state before comes back, and what stands in the way is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue import content, products
from app.domain.catalogue.content import COLLECTION, PAGE
from app.domain.catalogue.models import Collection, Page, Product
from app.domain.changes import history
from app.domain.merchandising import nodes, trees
from app.domain.merchandising.categories import CATEGORY
from app.domain.merchandising.models import Node, Tree
from app.domain.orders import offers
from app.domain.seo.models import Redirect
from app.domain.seo.redirects import stored_redirects
from app.domain.seo.redirects.rules import Source
from app.domain.seo.redirects.stored_redirects import RedirectDraft
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.domain.changes.changed_shop import (
    CASES,
    CHANGED_AGAIN,
    RED,
    Case,
    classify,
    delete_content,
    make_everything,
    newest,
    redirect_shop,
    save_content,
    save_product,
    save_redirect,
    the,
    undo_by,
)
from tests.factories import make_site
from tests.fakes.clock import StoppedClock
from tests.statements import statements


@pytest.fixture
def mia(context: None, clock: StoppedClock) -> Author:
    author = Author(1, "Mia", clock)
    with transaction():
        assert make_everything(author).id == 1
    return author


def by(mia: Author, name: str) -> Author:
    return replace(mia, name=name)


def undo(author: Author, entry_id: int) -> None:
    with transaction():
        history.undo_change(undo_by(author), entry_id)


def change(author: Author, act: object) -> int:
    """The entry of a change."""
    with transaction():
        act(author)
    return newest().id


def named(case: Case) -> str:
    return case.name


SUBJECTS = ("1", "2", "3", "4", "seo", "shop", "pos", "order-mails", "tml_shop")


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_change_is_undone_and_that_in_turn(mia: Author, case: Case) -> None:
    before = case.states(SUBJECTS)
    first = change(mia, case.change)
    found = history.change_of(1, first)
    entry = db.session.get_one(AuditEntry, first)
    subject, changed = entry.subject_id, case.states([entry.subject_id])
    assert (found.name, found.can_be_undone, found.later) == (case.kind, True, None)
    assert changed.get(subject) != before.get(subject)
    undo(by(mia, "Ben"), first)
    assert case.states([subject]).get(subject) == before.get(subject)
    second = newest()
    assert (second.id > first, second.actor, second.subject_id) == (True, "Ben", subject)
    undo(mia, second.id)
    assert case.states([subject]) == changed


@pytest.mark.parametrize("case", CHANGED_AGAIN, ids=named)
def test_what_was_changed_since_is_undone_the_latest_first(mia: Author, case: Case) -> None:
    first = change(mia, case.change)
    second = change(by(mia, "Ben"), case.again)
    later = history.change_of(1, first).later
    assert later is not None and (later.id, later.actor) == (second, "Ben")
    with pytest.raises(Conflict, match="later Ben did “"):
        undo(mia, first)
    undo(mia, second)
    undo(mia, first)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_another_sites_entry_is_not_found(mia: Author, case: Case, clock: StoppedClock) -> None:
    entry_id = change(mia, case.change)
    with transaction():
        other = make_site("other.localhost").id
    with pytest.raises(NotFound):
        undo(Author(other, "Eve", clock), entry_id)
    assert newest().id == entry_id


def test_other_fields_of_a_record_stay_as_they_were_changed_since(mia: Author) -> None:
    named = change(mia, lambda author: save_product(author, name="Dome"))
    change(mia, lambda author: save_product(author, price=5))
    change(mia, lambda author: classify(author, None, sleeps=4))
    valued = newest().id
    change(mia, lambda author: classify(author, None, colour=["Clay"]))
    undo(mia, named)
    undo(mia, valued)
    product = the(Product)
    assert (product.name != "Dome", product.price, product.revision) == (True, 5, 7)
    assert product.taxonomy_attributes == {"sleeps": 2, "colour": ["Clay"]}


def test_stock_that_was_sold_since_is_not_brought_back(mia: Author, clock: StoppedClock) -> None:
    stocked = change(mia, lambda author: save_product(author, stock=9))
    with transaction():
        offers._change_stock(clock, the(Product), None, -2, 4711, "took 2 of")
    with pytest.raises(Conflict, match="later Order 4711 did"):
        undo(mia, stocked)
    assert the(Product).stock == 7


def test_a_value_that_another_product_has_by_now_is_named_and_nothing_is_half_written(mia: Author) -> None:
    def both(author: Author) -> None:
        save_product(author, sku="NEW", name="Dome")

    old = the(Product).sku
    first = change(mia, both)
    with transaction():
        second = products.product_of(1, 2)
        second.sku = old
    with pytest.raises(Conflict, match=f"cannot be undone any more: The SKU “{old}” belongs to"):
        undo(mia, first)
    assert (the(Product).sku, the(Product).name) == ("NEW", "Dome")


def test_values_that_the_taxonomy_does_not_take_any_more_are_refused(mia: Author) -> None:
    first = change(mia, lambda author: classify(author, ""))
    with transaction():
        change_settings(1, {"taxonomy-active-id": None})
    with pytest.raises(Conflict, match="The active taxonomy has no level “tents”"):
        undo(mia, first)
    assert the(Product).taxonomy_level_id is None


def test_a_deleted_page_comes_back_with_its_address_unless_another_has_it(mia: Author) -> None:
    deleted = change(mia, lambda author: delete_content(PAGE, author))
    with transaction():
        content.create(mia, PAGE, PAGE.draft("Another", seo_name="other"))
    # SQLite gave the id of the deleted page to the new one, which is another page.
    if db.session.get(Page, 1) is not None:
        with pytest.raises(Conflict, match="later Mia did “Added the page Another”"):
            undo(mia, deleted)
        return
    undo(mia, deleted)
    assert db.session.get_one(Page, 1).seo_name == "about"


def test_entries_of_a_page_whose_id_another_has_by_now_are_not_undone(mia: Author) -> None:
    hidden = change(mia, lambda author: save_content(PAGE, author, enabled=False))
    change(mia, lambda author: delete_content(PAGE, author))
    with transaction():
        db.session.add(Page(id=1, site_id=1, seo_name="x", title="X", enabled=False, updated_at=mia.now()))
    assert not history.change_of(1, hidden).can_be_undone
    with pytest.raises(Conflict, match="Deleted the page About us"):
        undo(mia, hidden)


def test_entries_of_a_restored_page_are_undone(mia: Author) -> None:
    titled = change(mia, lambda author: save_content(PAGE, author, title="Us"))
    undo(mia, change(mia, lambda author: delete_content(PAGE, author)))
    undo(mia, titled)
    assert the(Page).title == "About us"


def test_the_id_of_a_restored_page_is_not_that_of_the_page_before_it(mia: Author) -> None:
    hidden = change(mia, lambda author: save_content(PAGE, author, enabled=False))
    change(mia, lambda author: delete_content(PAGE, author))
    second = PAGE.draft("Second", seo_name="second", enabled=False)
    with transaction():  # As SQLite, which gives the id to the next page, and as an import of pages, which logs none.
        db.session.add(Page(id=1, site_id=1, seo_name="second", title="Second", enabled=False, updated_at=mia.now()))
    deleted = change(mia, lambda author: content.delete(author, PAGE, 1))
    with transaction():
        content.restore(mia, PAGE, 1, second)
    assert not history.change_of(1, hidden).can_be_undone
    assert not history.change_of(1, deleted).can_be_undone
    with pytest.raises(Conflict):
        undo(mia, hidden)
    assert not the(Page).enabled


@pytest.mark.parametrize(
    ("acts", "same"),
    [
        ([], True),
        (["delete", "restore"], True),
        (["delete", "restore", "delete", "restore"], True),
        (["delete"], False),
        (["create"], False),
        (["delete", "create", "delete", "restore"], False),
        (["delete", "delete", "restore"], False),
        (["delete", "restore", "delete"], False),
    ],
)
def test_a_record_is_the_same_where_each_deletion_was_undone(acts: list[str], same: bool) -> None:
    assert history.is_same_record(acts) is same


@pytest.mark.parametrize("goes", ["parent", "tree"])
def test_entries_of_a_category_that_went_with_another_are_not_undone(mia: Author, goes: str) -> None:
    hidden = change(mia, lambda author: nodes.show(author, 2, False))
    if goes == "parent":
        change(mia, lambda author: nodes.delete(author, 1))
        assert newest().summary == "Deleted the category Camping with 1 below it"
    else:
        with transaction():
            trees.make_primary(mia, trees.create(mia, "Store").id)
        change(mia, lambda author: trees.delete(author, 1))
    tree_id = the(Tree).id
    with transaction():
        added = Node(id=2, site_id=1, tree_id=tree_id, name="Hidden", slug="hidden", path="hidden", visible=False)
        added.updated_at = mia.now()
        db.session.add(added)
    assert not history.change_of(1, hidden).can_be_undone
    with pytest.raises(Conflict, match="did “Deleted the category Tents"):
        undo(mia, hidden)
    assert not db.session.get_one(Node, 2).visible


def test_a_picture_that_an_undo_does_not_change_is_not_in_its_way(mia: Author) -> None:
    change(mia, lambda author: save_product(author, variants=(RED,)))
    named = change(mia, lambda author: save_product(author, name="Dome"))
    with transaction():
        the(Product).variants[0].picture = "gone.webp"
    undo(mia, named)
    assert (the(Product).name != "Dome", the(Product).variants[0].picture) == (True, "gone.webp")


def led(old: str) -> str:
    return db.session.scalars(select(Redirect.new_path).where(Redirect.old_path == old)).one()


def test_a_redirect_that_others_followed_has_no_undo(mia: Author) -> None:
    shop = redirect_shop(mia)
    with transaction():
        stored_redirects.add(mia, *shop, RedirectDraft("/p/a", "/p/b"), Source.PERSON)
    added = change(
        mia, lambda author: stored_redirects.add(author, *shop, RedirectDraft("/p/b", "/p/c"), Source.PERSON)
    )
    assert newest().after == {"from": "/p/b", "to": "/p/c", "followed": ["/p/a"]}
    with pytest.raises(NotFound):
        undo(mia, added)
    assert history.changes_of(1, [added]) == {}
    assert (led("/p/a"), led("/p/b")) == ("/p/c", "/p/c")


def test_a_changed_redirect_that_others_followed_has_no_undo(mia: Author) -> None:
    shop = redirect_shop(mia)
    with transaction():
        stored_redirects.add(mia, *shop, RedirectDraft("/p/a", "/p/b"), Source.PERSON)
    changed = change(mia, lambda author: save_redirect(author, "/p/b", "/p/new"))
    assert newest().after == {"from": "/p/b", "to": "/p/new", "followed": ["/p/a"]}
    with pytest.raises(NotFound):
        undo(mia, changed)
    assert history.undoable_change(1, "redirect", "1", "Mia") is None


def test_a_deleted_redirect_comes_back_with_its_hits(mia: Author) -> None:
    with transaction():
        the(Redirect).hits, the(Redirect).last_hit_on = 7, date(2026, 11, 2)
    undo(mia, change(mia, lambda author: stored_redirects.remove(author, 1)))
    row = the(Redirect)
    assert (row.id, row.hits, row.last_hit_on) == (1, 7, date(2026, 11, 2))


def test_what_an_older_release_noted_in_part_has_no_undo(mia: Author) -> None:
    change(mia, lambda author: delete_content(COLLECTION, author))
    for action, before, after in (
        ("collection.delete", {"name": "Gifts"}, None),
        ("product.save", {"variants": [["A", 1]]}, {"variants": []}),
        ("page.create", None, None),
        ("category.hide", None, None),
        ("category.move", {"path": "a"}, {"path": "camping"}),
        ("redirect.delete", {"from": "/a", "to": "/b"}, None),
    ):
        with transaction():
            activity.record(mia, action, (action.partition(".")[0], "77"), "Did it", before, after)
        assert not history.change_of(1, newest().id).can_be_undone, action
        with pytest.raises((Conflict, NotFound)):
            undo(mia, newest().id)


def test_addresses_of_a_branch_change_back_and_redirects_follow(mia: Author) -> None:
    moved = change(mia, lambda author: save_content(CATEGORY, author, seo_name="outdoors"))
    undo(mia, moved)
    paths = db.session.scalars(select(Node.path).order_by(Node.id)).all()
    assert paths[:2] == ["camping", "camping/tents"]
    led = dict(db.session.execute(select(Redirect.old_path, Redirect.new_path)).all())
    assert "/c/camping" not in led
    assert led["/c/outdoors"] == "/c/camping"


def test_a_product_of_a_collection_that_is_gone_is_named(mia: Author) -> None:
    emptied = change(mia, lambda author: save_content(COLLECTION, author, product_ids=()))
    with transaction():
        products.delete(mia, 1)
    with pytest.raises(Conflict, match="Some of these products are no longer on this site"):
        undo(mia, emptied)
    assert the(Collection).entries == []


def test_a_variant_keeps_its_record_when_its_price_is_undone(mia: Author) -> None:
    change(mia, lambda author: save_product(author, variants=(RED,)))
    variant_id = the(Product).variants[0].id
    undo(mia, change(mia, lambda author: save_product(author, variants=(replace(RED, price=9),))))
    assert [(one.id, one.price) for one in the(Product).variants] == [(variant_id, RED.price)]


def test_changes_are_read_in_as_many_statements_however_many_there_are(mia: Author, app: Flask) -> None:
    def count(entry_ids: list[int]) -> int:
        db.session.expire_all()
        with statements(app) as seen:
            found = history.changes_of(1, entry_ids)
        assert len(found) == len(entry_ids)
        return len(seen)

    def rename_all(number: int) -> list[int]:
        ids = []
        for node_id in (1, 2, 3, 4):
            node = db.session.get_one(Node, node_id)
            draft = replace(CATEGORY.draft_of(node), name=f"Name {number}", product_ids=(2, 1))
            with transaction():
                content.save(mia, CATEGORY, node_id, node.revision, draft)
            ids.append(newest().id)
        return ids

    few = rename_all(1)
    assert count([*few, *rename_all(2)]) == count(few[:1])
