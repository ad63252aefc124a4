from __future__ import annotations

import pytest

from app.domain.orders import lifecycle, payment
from app.domain.orders.models import Order
from app.domain.orders.payment import PaidMark, PaymentInProgress
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.domain.orders.conftest import Shopper, change_product
from tests.factories import make_site
from tests.fakes.clock import StoppedClock


def basket_id() -> str:
    return db.session.query(Order).one().id


def due(site_id: int) -> int:
    with transaction():
        return payment.order_to_pay(site_id, basket_id()).total


def lock(site_id: int, transaction_id: str) -> None:
    with transaction():
        payment.lock_for_payment(payment.order_to_pay(site_id, basket_id()), transaction_id)


def release(transaction_id: str) -> None:
    with transaction():
        payment.release_payment_lock(basket_id(), transaction_id)


def pay(clock: StoppedClock, transaction_id: str, amount: int = 2_500) -> PaidMark:
    with transaction():
        return payment.mark_paid(clock, basket_id(), transaction_id, amount)


def stored() -> Order:
    db.session.rollback()
    return db.session.query(Order).one()


def notes() -> list[str]:
    return [entry.summary for entry in db.session.query(AuditEntry).filter_by(action="order.pay")]


def test_what_is_due_is_todays_price_of_everything_in_the_basket(mia: Shopper) -> None:
    mia.add("KETTLE")
    mia.add("MUG", 2)
    change_product("MUG", price=700)
    assert due(mia.site_id) == 2_000 + 2 * 700
    assert stored().total == 3_400


@pytest.mark.parametrize(("changes", "code"), [({"stock": 0}, "sold_out"), ({"enabled": False}, "not_sold")])
def test_nobody_pays_for_what_cannot_be_had(mia: Shopper, changes: dict[str, object], code: str) -> None:
    mia.add("MUG")
    mia.add("KETTLE")
    change_product("KETTLE", **changes)
    with pytest.raises(Conflict) as refused:
        due(mia.site_id)
    assert refused.value.code == "out_of_stock"
    [problem] = refused.value.details["errors"]  # type: ignore[misc]
    assert problem["code"] == code and problem["pointer"].startswith("#/lines/1/")


def test_nobody_pays_for_an_empty_basket_or_one_of_another_shop(mia: Shopper) -> None:
    mia.add("MUG")
    mia.change(mia.basket.lines[0].id, 0)
    with pytest.raises(Conflict) as refused:
        due(mia.site_id)
    assert refused.value.code == "basket_empty"
    with transaction():
        other = make_site("other.test").id
    with pytest.raises(NotFound) as missing:
        due(other)
    assert missing.value.code == "order_not_found"


def test_while_a_payment_is_under_way_nothing_changes(mia: Shopper) -> None:
    mia.add("KETTLE")
    lock(mia.site_id, "tx-1")
    for change in (lambda: mia.add("MUG"), lambda: mia.change(mia.basket.lines[0].id, 0), mia.order):
        with pytest.raises(Conflict) as refused:
            change()
        assert refused.value.code == "basket_locked"
    with pytest.raises(PaymentInProgress) as busy:
        due(mia.site_id)
    assert busy.value.transaction_id == "tx-1"


def test_one_transaction_locks_and_only_its_own_end_unlocks(mia: Shopper) -> None:
    mia.add("KETTLE")
    lock(mia.site_id, "tx-1")
    with transaction():
        payment.lock_for_payment(stored(), "tx-1")
    with pytest.raises(PaymentInProgress), transaction():
        payment.lock_for_payment(stored(), "tx-2")
    release("tx-2")
    assert stored().payment_lock == "tx-1"
    release("tx-1")
    release("tx-1")
    assert stored().payment_lock is None
    lock(mia.site_id, "tx-2")


def test_a_payment_counts_once_and_freezes_the_basket_for_good(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.add("MUG")
    lock(mia.site_id, "tx-1")
    paid_at = clock.now()
    assert pay(clock, "tx-1") is PaidMark.PAID
    clock.move(seconds=5)
    assert pay(clock, "tx-1") is PaidMark.KNOWN
    release("tx-1")
    order = stored()
    assert (order.paid_at, order.paid_amount, order.payment_lock) == (paid_at, 2_500, "tx-1")
    with pytest.raises(Conflict) as refused:
        due(mia.site_id)
    assert refused.value.code == "order_already_paid"
    with pytest.raises(Conflict, match="paid already"), transaction():
        payment.lock_for_payment(stored(), "tx-2")
    assert notes() == ["A basket was paid by card: £25.00"]


def test_money_for_a_lock_that_was_given_up_still_counts(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    lock(mia.site_id, "tx-1")
    release("tx-1")
    mia.add("MUG")
    lock(mia.site_id, "tx-2")
    assert pay(clock, "tx-1", 2_000) is PaidMark.PAID
    assert notes() == ["A basket was paid by card: £20.00; its total is £25.00"]
    assert [pay(clock, "tx-2"), pay(clock, "tx-2")] == [PaidMark.TWICE, PaidMark.TWICE]
    assert (stored().payment_lock, stored().paid_amount) == ("tx-1", 2_000)
    assert notes()[1:] == ["A basket was paid a second time: £25.00 must be given back"]


def test_an_order_of_the_shop_is_paid_at_the_till_for_what_was_agreed(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.order()
    change_product("KETTLE", price=1)
    lock(mia.site_id, "tx-1")
    assert stored().total == 2_000
    with pytest.raises(Conflict, match="under way"), transaction():
        lifecycle.cancel(Author(mia.site_id, "Ben", clock), basket_id())
    pay(clock, "tx-1", 2_000)
    assert notes() == ["Order 1 was paid by card: £20.00"]


@pytest.mark.parametrize(("settle", "code"), [("collect", "order_already_paid"), ("cancel", "order_cancelled")])
def test_what_is_settled_is_not_paid(mia: Shopper, clock: StoppedClock, settle: str, code: str) -> None:
    mia.add("KETTLE")
    mia.order()
    with transaction():
        getattr(lifecycle, settle)(Author(mia.site_id, "Ben", clock), basket_id())
    with pytest.raises(Conflict) as refused:
        due(mia.site_id)
    assert refused.value.code == code


def test_money_for_a_cancelled_order_is_noted_and_for_one_that_is_gone_is_said(
    mia: Shopper, clock: StoppedClock
) -> None:
    mia.add("KETTLE")
    mia.order()
    with transaction():
        lifecycle.cancel(Author(mia.site_id, "Ben", clock), basket_id())
    assert pay(clock, "tx-1", 2_000) is PaidMark.PAID
    assert notes() == ["Order 1 was paid by card: £20.00; it had been cancelled"]
    with transaction():
        assert payment.mark_paid(clock, "none", "tx-1", 1) is PaidMark.GONE
