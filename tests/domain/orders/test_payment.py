from __future__ import annotations

import pytest

from app.domain.orders import lifecycle, payment
from app.domain.orders.models import Order
from app.domain.orders.payment import PaidSums, PaymentInProgress
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound, Unprocessable
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


def apply(clock: StoppedClock, by_card: int = 0, in_cash: int = 0, reserved: int = 0) -> None:
    with transaction():
        order = payment.lock_order(basket_id())
        assert order is not None
        payment.apply_payments(clock, order, PaidSums(by_card, in_cash, reserved))


def take(site_id: int, wanted: int | None) -> int:
    with transaction():
        return payment.amount_to_take(payment.order_to_pay(site_id, basket_id()), wanted)


def stored() -> Order:
    db.session.rollback()
    return db.session.query(Order).one()


def notes() -> list[str]:
    entries = db.session.query(AuditEntry).filter(AuditEntry.action.in_(("order.pay", "order.unpay")))
    return [entry.summary for entry in entries.order_by(AuditEntry.id)]


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


def test_while_a_payment_is_under_way_nothing_changes(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    apply(clock, reserved=due(mia.site_id))
    for change in (lambda: mia.add("MUG"), lambda: mia.change(mia.basket.lines[0].id, 0), mia.order):
        with pytest.raises(Conflict) as refused:
            change()
        assert refused.value.code == "basket_locked"
    with pytest.raises(PaymentInProgress):
        take(mia.site_id, None)


def test_a_payment_that_ended_without_money_lets_the_basket_go(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    apply(clock, reserved=due(mia.site_id))
    apply(clock)
    change_product("KETTLE", price=1_500)
    assert not stored().is_locked and due(mia.site_id) == 1_500


def test_parts_are_taken_until_nothing_is_due(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.add("MUG")
    assert take(mia.site_id, 1_000) == 1_000
    apply(clock, in_cash=1_000)
    change_product("KETTLE", price=1)
    assert (take(mia.site_id, None), stored().amount_due) == (1_500, 1_500)
    apply(clock, in_cash=1_000, reserved=500)
    assert take(mia.site_id, 1_000) == 1_000
    with pytest.raises(PaymentInProgress):
        take(mia.site_id, 1_001)
    with pytest.raises(Unprocessable) as refused:
        take(mia.site_id, 1_501)
    assert (refused.value.code, refused.value.details) == ("amount_exceeds_due", {"amountDueInPence": 1_500})
    apply(clock, by_card=500, in_cash=2_000)
    assert stored().amount_due == 0 and notes() == ["A basket was paid: £5.00 by card and £20.00 in cash"]


def test_an_order_is_paid_once_and_its_basket_frozen(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.add("MUG")
    paid_at = clock.now()
    apply(clock, by_card=due(mia.site_id))
    clock.move(seconds=5)
    apply(clock, by_card=2_500)
    order = stored()
    assert (order.paid_at, order.paid_amount, order.is_locked) == (paid_at, 2_500, True)
    with pytest.raises(Conflict) as refused:
        due(mia.site_id)
    assert refused.value.code == "order_already_paid"
    assert notes() == ["A basket was paid: £25.00 by card"]


def test_what_is_given_back_of_a_basket_is_due_again(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    apply(clock, in_cash=due(mia.site_id))
    apply(clock, in_cash=1_500)
    assert (stored().paid_at, stored().amount_due, stored().is_locked) == (None, 500, True)
    apply(clock)
    assert not stored().is_locked
    assert notes() == ["A basket was paid: £20.00 in cash", "A basket is not paid any more: £5.00 was given back"]


def test_what_is_given_back_of_an_order_leaves_it_paid(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.order()
    apply(clock, by_card=2_000)
    apply(clock, by_card=0)
    assert (stored().paid_amount, stored().amount_due) == (2_000, 0)


def test_money_above_the_total_counts_and_is_noted(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    apply(clock, by_card=2_500)
    assert notes() == ["A basket was paid: £25.00 by card; its total is £0.00"]


def test_an_order_of_the_shop_is_paid_at_the_till_for_what_was_agreed(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.order()
    change_product("KETTLE", price=1)
    apply(clock, reserved=due(mia.site_id))
    assert stored().total == 2_000
    with pytest.raises(Conflict, match="under way"), transaction():
        lifecycle.cancel(Author(mia.site_id, "Ben", clock), basket_id())
    apply(clock, by_card=2_000)
    assert notes() == ["Order 1 was paid: £20.00 by card"]


@pytest.mark.parametrize(("settle", "code"), [("collect", "order_already_paid"), ("cancel", "order_cancelled")])
def test_what_is_settled_is_not_paid(mia: Shopper, clock: StoppedClock, settle: str, code: str) -> None:
    mia.add("KETTLE")
    mia.order()
    with transaction():
        getattr(lifecycle, settle)(Author(mia.site_id, "Ben", clock), basket_id())
    with pytest.raises(Conflict) as refused:
        due(mia.site_id)
    assert refused.value.code == code


def test_money_for_a_cancelled_order_is_noted(mia: Shopper, clock: StoppedClock) -> None:
    mia.add("KETTLE")
    mia.order()
    with transaction():
        lifecycle.cancel(Author(mia.site_id, "Ben", clock), basket_id())
    apply(clock, by_card=2_000)
    assert notes() == ["Order 1 was paid: £20.00 by card; it had been cancelled"]
    with transaction():
        assert payment.lock_order("none") is None
