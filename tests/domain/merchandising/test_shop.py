"""What a process keeps of each shop, and when it looks again."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from app.domain.merchandising.models import Burial, Node, Placement
from app.domain.merchandising.shop import ShopWindow
from app.domain.shared.problems import NotFound
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.fakes.clock import StoppedClock
from tests.snapshots import built


@pytest.fixture(autouse=True)
def site_id(app: Flask, context: None) -> int:
    return built(app, small_shop.build)


@contextmanager
def statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(connection, cursor, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    yield seen
    event.remove(db.engine, "before_cursor_execute", note)


def test_a_shop_is_read_once_and_then_kept(clock: StoppedClock):
    window = ShopWindow()
    shop = window.shop_at(clock, "shop.test")
    with statements() as queries:
        assert window.shop_at(clock, "www.shop.test") is shop
    assert queries == []


def test_within_a_second_nobody_asks_the_database(clock: StoppedClock):
    window = ShopWindow()
    shop = window.shop_at(clock, "shop.test")
    clock.move(seconds=1)
    with statements() as queries:
        assert window.shop_at(clock, "shop.test") is shop
    assert len([one for one in queries if one.lstrip().startswith("SELECT")]) == 1


def test_a_clock_that_goes_back_is_no_reason_to_stay_old(clock: StoppedClock, site_id: int):
    window = ShopWindow()
    window.shop_at(clock, "shop.test")
    with transaction():
        db.session.get_one(Node, 5).name = "Presents"
    clock.move(hours=-1)
    assert window.shop_at(clock, "shop.test").tree.at("gifts").name == "Presents"


def test_who_saved_sees_it_although_another_thread_has_just_read(clock: StoppedClock):
    window = ShopWindow()
    window.shop_at(clock, "shop.test")
    before = window._directory

    class ReadByAnother:
        """A lock that another thread held, which read before the save."""

        def __enter__(self) -> None:
            window._directory = replace(before)

        def __exit__(self, *_: object) -> None:
            pass

    with transaction():
        db.session.get_one(Node, 5).name = "Presents"
    window._lock = ReadByAnother()
    assert window.shop_at(clock, "shop.test").tree.at("gifts").name == "Presents"


def test_a_product_placed_by_hand_changes_the_shop(clock: StoppedClock, site_id: int):
    window = ShopWindow()
    before = window.shop_at(clock, "shop.test")
    gifts = before.tree.at("gifts").id
    assert before.hand_made_order(gifts) == (9, 1, 2)
    with transaction():
        db.session.add(Placement(site_id=site_id, node_id=gifts, product_id=4, position=9))
    clock.move(seconds=1)
    assert window.shop_at(clock, "shop.test").hand_made_order(gifts) == (9, 1, 2, 4)


def test_a_product_that_is_buried_changes_the_shop_and_stands_last_in_the_hand_made_order(
    clock: StoppedClock, site_id: int
):
    window = ShopWindow()
    before = window.shop_at(clock, "shop.test")
    gifts = before.tree.at("gifts").id
    assert before.burials == {}
    with transaction():
        for product_id in (9, 4):
            db.session.add(Burial(site_id=site_id, node_id=gifts, product_id=product_id))
    clock.move(seconds=1)
    after = window.shop_at(clock, "shop.test")
    assert (after.burials[gifts], after.hand_made_order(gifts)) == ([4, 9], (1, 2, 9))


def test_a_change_of_one_shop_leaves_the_others(clock: StoppedClock):
    other_id = small_shop.build("other.test", "Other shop")
    window = ShopWindow()
    shop, other = window.shop_at(clock, "shop.test"), window.shop_at(clock, "other.test")
    with transaction():
        db.session.query(Node).filter_by(site_id=other_id, path="gifts").one().name = "Presents"
    clock.move(seconds=1)
    assert window.shop_at(clock, "shop.test") is shop
    assert window.shop_at(clock, "other.test") is not other
    assert window.shop_at(clock, "other.test").tree.at("gifts").name == "Presents"


def test_an_unknown_host_is_no_shop(clock: StoppedClock):
    with pytest.raises(NotFound):
        ShopWindow().shop_at(clock, "evil.test")
    with pytest.raises(NotFound):
        ShopWindow().check_host(clock, "evil.test")


def test_a_shop_knows_what_its_listings_can_be_filtered_by(clock: StoppedClock):
    shop = ShopWindow().shop_at(clock, "shop.test")
    assert {"manufacturer", "inStock", "onSale", "featured", "colour", "waterproof"} <= shop.value_facets
    assert shop.number_facets == {"rating", "weight"}


@pytest.mark.concurrent
def test_many_threads_see_one_shop(app: Flask, clock: StoppedClock):
    window = ShopWindow()

    def look(_: int) -> int:
        with app.app_context():
            return window.shop_at(clock, "shop.test").site_id

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(look, range(40)))) == 1


@contextmanager
def database_away() -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise OperationalError("SELECT", {}, Exception("the database is away"))

    event.listen(db.engine, "before_cursor_execute", refuse)
    yield
    event.remove(db.engine, "before_cursor_execute", refuse)


def test_a_shop_stays_as_it_was_while_the_database_is_away(clock: StoppedClock):
    window = ShopWindow()
    shop = window.shop_at(clock, "shop.test")
    clock.move(seconds=5)
    with database_away():
        assert window.shop_at(clock, "shop.test") is shop
        with pytest.raises(OperationalError):
            ShopWindow().shop_at(clock, "shop.test")
