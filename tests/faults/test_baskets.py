"""F48 for tills: the process that submits a paid basket, or that follows it up, is killed; the till asks again."""

from __future__ import annotations

import signal

import pytest
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.orders.baskets import Owner, WantedLine, create_basket
from app.domain.orders.models import COLLECTED, OPEN, SUBMITTED, Order
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site, StoredEvent
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.till import pay_by_card
from tests.factories import make_user
from tests.faults.shops import SITE, Shop, check

pytestmark = pytest.mark.fault("F48")

MOST_STATEMENTS = 60
KILLED = -signal.SIGKILL


@pytest.fixture
def basket_id(shop: Shop) -> str:
    """One of three, paid."""
    with shop.opened() as context:
        with transaction():
            db.session.scalars(select(Product).where(Product.sku == "sku-1")).one().stock = 3
            user_id = make_user(db.session.get_one(Site, SITE), Role.POS_AGENT).id
        with transaction():
            author = Author(SITE, "Tilly Till", context.clock)
            order = create_basket(author, Owner(user_id, "POS"), [WantedLine("sku-1", 1)])
        pay_by_card(context.clock, order.id, order.total)
        return order.id


def state(shop: Shop) -> tuple[str, int | None, int]:
    """The order's state, what is left in stock, and how many events wait."""
    with shop.opened():
        stock = db.session.scalar(select(Product.stock).where(Product.sku == "sku-1"))
        [order] = db.session.scalars(select(Order))
        return order.status, stock, len(db.session.scalars(select(StoredEvent)).all())


def test_a_basket_is_submitted_whole_or_not_at_all_wherever_its_process_is_killed(shop: Shop, basket_id: str) -> None:
    for number in range(1, MOST_STATEMENTS):
        attempt = shop.do("submit_basket", basket_id, f"statement:{number}")
        if attempt.finish() == 0:
            break
        assert attempt.finish() == KILLED and state(shop) == (OPEN, 3, 0)
    assert number > 5 and state(shop) == (SUBMITTED, 2, 1)
    again = shop.do("submit_basket", basket_id, "none")
    assert again.finish() == 0 and again.said == ["submitted 1"]
    assert state(shop) == (SUBMITTED, 2, 1)
    check(shop)


def test_fulfilment_follows_once_wherever_its_worker_is_killed(shop: Shop, basket_id: str) -> None:
    assert shop.do("submit_basket", basket_id, "committed").finish() == KILLED
    for number in range(1, MOST_STATEMENTS):
        attempt = shop.do("deliver_events", f"statement:{number}")
        if attempt.finish() == 0:
            break
        assert attempt.finish() == KILLED and state(shop) == (SUBMITTED, 2, 1)
    assert number > 4 and state(shop) == (COLLECTED, 2, 0)
    assert shop.do("deliver_events", "none").finish() == 0
    with shop.opened():
        fulfilled = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "order.fulfil")).all()
        assert len(fulfilled) == 1
