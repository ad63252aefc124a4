"""Whoever writes, commits once and at the end; what was published is told only then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from app.domain.sites.models import Site
from app.events import _subscribers, publish, subscribe
from app.extensions import db
from app.transaction import rehearsal, transaction
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")


@dataclass(frozen=True)
class ShopOpened:
    name: str


@pytest.fixture
def published() -> Iterator[list[ShopOpened]]:
    heard: list[ShopOpened] = []
    subscribe(ShopOpened, heard.append)
    yield heard
    del _subscribers[ShopOpened]


def open_shop(clock: StoppedClock, name: str) -> None:
    db.session.add(Site(name=name, created_at=clock.now()))
    publish(ShopOpened(name))


def shops() -> int:
    db.session.rollback()
    return db.session.scalar(select(func.count(Site.id))) or 0


def test_what_a_transaction_wrote_is_there_and_told_after_it(clock: StoppedClock, published: list[ShopOpened]) -> None:
    with transaction():
        open_shop(clock, "One")
        assert published == []
    assert shops() == 1
    assert published == [ShopOpened("One")]


def test_a_failed_transaction_leaves_nothing_and_tells_nothing(
    clock: StoppedClock, published: list[ShopOpened]
) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        open_shop(clock, "One")
        _ = 1 / 0
    assert shops() == 0
    assert published == []


def test_an_inner_transaction_joins_the_outer_one(clock: StoppedClock, published: list[ShopOpened]) -> None:
    with pytest.raises(ZeroDivisionError), transaction():
        with transaction():
            open_shop(clock, "One")
        assert published == []
        _ = 1 / 0
    assert shops() == 0


def test_a_change_made_outside_a_transaction_is_refused(clock: StoppedClock) -> None:
    db.session.add(Site(name="Stray", created_at=clock.now()))
    with pytest.raises(RuntimeError, match="outside a transaction"), transaction():
        pass


def test_equal_events_of_one_transaction_are_told_once(clock: StoppedClock, published: list[ShopOpened]) -> None:
    with transaction():
        publish(ShopOpened("One"))
        publish(ShopOpened("One"))
    assert published == [ShopOpened("One")]


def test_a_rehearsal_leaves_nothing_and_tells_nothing(clock: StoppedClock, published: list[ShopOpened]) -> None:
    with rehearsal():
        open_shop(clock, "One")
        with transaction():
            open_shop(clock, "Two")
    assert shops() == 0
    assert published == []


def test_a_rehearsal_meets_what_the_database_would_refuse(clock: StoppedClock) -> None:
    with pytest.raises(IntegrityError), rehearsal():
        db.session.add(Site(name=None, created_at=clock.now()))


def test_a_rehearsal_within_a_transaction_is_refused() -> None:
    with transaction(), pytest.raises(RuntimeError), rehearsal():
        pass
