"""The mail about a refund: one for each that was made, to the customer of its order."""

from __future__ import annotations

import pytest

from app.domain.orders.models import OrderMail
from app.domain.pos.models import PosTransaction
from app.domain.pos.refunds import RefundRequest, request_refund
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.reconciliation.refunding import WHY, refund, refund_event
from tests.domain.pos.shop_with_till import ShopWithTill
from tests.factories import make_order


@pytest.fixture
def bought(till: ShopWithTill, paid: str) -> str:
    """A payment of an order of Sam’s."""
    with transaction():
        site = db.session.get_one(Site, till.site_id)
        order = make_order(site, total=1_250, paid_amount=1_250, status="COLLECTED")
        db.session.get_one(PosTransaction, paid).order_id = order.id
    return paid


def mails() -> list[tuple[str, str | None, int | None, bool]]:
    db.session.rollback()
    rows = db.session.query(OrderMail).order_by(OrderMail.created_at, OrderMail.amount).all()
    return [(row.kind, row.email, row.amount, row.in_cash) for row in rows]


def test_each_refund_to_the_card_and_in_cash_is_mailed_once(till: ShopWithTill, bought: str) -> None:
    made = refund(till, bought, 500, key="first")
    refund(till, bought, 500, key="first")
    request_refund(till.context, till.author, till.processor, RefundRequest(bought, 750, WHY, tender_type="CASH"))
    refund_event(till, bought, made.id)
    sam = "sam@home.test"
    assert mails() == [("refunded", sam, 500, False), ("refunded", sam, 750, True)]


def test_a_payment_without_an_order_has_nobody_to_mail(till: ShopWithTill, paid: str) -> None:
    refund(till, paid)
    assert mails() == []
