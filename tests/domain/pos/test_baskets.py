"""Who uses which basket at a till, and what becomes of one that was paid and left."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.domain.alerts.alerts import open_alerts
from app.domain.orders.baskets import Owner, WantedLine, create_basket
from app.domain.orders.models import Order
from app.domain.pos import access, order_payments
from app.domain.pos.access import BasketUser
from app.domain.pos.models import PosAgent, PosTransaction
from app.domain.pos.order_payments import SUBMITTED_AFTER
from app.domain.pos.payments import transitions
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Forbidden, NotFound
from app.domain.sites.accounts import Role
from app.extensions import db
from app.jobs.scheduled import run_scheduled
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_product, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock
from tests.statements import statements


@pytest.fixture
def author(context: None, clock: StoppedClock) -> Author:
    with transaction():
        site = make_site()
        make_product(site, "MUG", price=500, stock=10)
        stall, hall = make_location(site, "tml_stall"), make_location(site, "tml_hall")
        make_agent(site, make_user(site, Role.POS_AGENT, name="Tilly"), stall)
        make_agent(site, make_user(site, Role.POS_AGENT, name="Hal"), hall)
        return Author(site.id, "Tilly", clock)


def user(name: str, *roles: Role, **changes: object) -> BasketUser:
    agent = db.session.query(PosAgent).filter_by(display_name=name).one()
    for field, value in changes.items():
        setattr(agent, field, value)
    return BasketUser(agent.user_id, roles or (Role.POS_AGENT,), agent)


def basket(author: Author, channel: str = "POS") -> Order:
    owner = Owner(user("Tilly").user_id, channel, "tml_stall" if channel == "POS" else None)
    with transaction():
        return create_basket(author, owner, [WantedLine("MUG", 2)])


def pay(author: Author, order: Order, amount: int = 1_000, intent_id: str = "pi_1", status: str = "SUCCEEDED") -> str:
    agent = db.session.query(PosAgent).filter_by(display_name="Tilly").one()
    with transaction():
        paid = make_transaction(
            agent, agent.locations[0], status, order_id=order.id, processor_intent_id=intent_id, amount_in_pence=amount
        )
        transitions.follow_order(author, paid, is_sale=True)
        return paid.id


def give_back(author: Author, paid: str) -> None:
    """Refund a payment in full."""
    payment = db.session.get_one(PosTransaction, paid)
    transitions.apply_refunds(author, paid, payment.captured_amount, "refund")


def refused(user: BasketUser, order: Order) -> str | None:
    try:
        access.check_basket(user, order)
    except Forbidden as error:
        return error.code
    return None


def test_a_basket_is_its_owners_and_of_all_who_build_orders_where_it_is_filled(author: Author) -> None:
    filled = basket(author)
    assert refused(user("Tilly"), filled) is None
    assert refused(user("Hal"), filled) == "location_access_denied"
    assert refused(user("Hal", Role.ADMIN), filled) is None
    assert refused(BasketUser(99, (Role.ADMIN,), None), filled) is None
    assert refused(user("Hal"), basket(author, "WEB")) == "basket_access_denied"


def test_an_agent_needs_the_permission_to_build_orders(author: Author) -> None:
    filled = basket(author)
    assert refused(user("Tilly", can_build_orders=False), filled) == "orders_not_permitted"
    assert refused(user("Tilly", Role.POS_AGENT, Role.ADMIN, can_build_orders=False), filled) is None
    assert refused(user("Hal", enabled=False), filled) == "agent_disabled"
    assert refused(BasketUser(99, (Role.POS_AGENT,), None), filled) == "agent_required"
    db.session.rollback()


def test_a_submission_may_name_a_payment_of_the_basket_and_no_other(author: Author) -> None:
    mine, other = basket(author), basket(author)
    pay(author, mine, intent_id="pi_mine")
    pay(author, other, intent_id="pi_other")
    with pytest.raises(NotFound) as unknown, transaction():
        order_payments.submit_basket(author, mine.id, "pi_other")
    assert unknown.value.code == "payment_intent_not_found"
    with transaction():
        assert order_payments.submit_basket(author, mine.id, "pi_mine").status == "SUBMITTED"


def test_money_that_went_back_buys_nothing(author: Author) -> None:
    filled = basket(author)
    paid = pay(author, filled)
    with transaction():
        give_back(author, paid)
    with pytest.raises(Conflict) as refusal, transaction():
        order_payments.submit_basket(author, filled.id)
    assert refusal.value.code == "payment_required"


def test_a_paid_basket_that_a_broken_phone_left_is_submitted_by_the_shop(author: Author, clock: StoppedClock) -> None:
    filled, unpaid = basket(author), basket(author)
    pay(author, filled)
    clock.move(seconds=SUBMITTED_AFTER.total_seconds() - 1)
    run_scheduled("submit-baskets")
    assert db.session.get_one(Order, filled.id).status == "OPEN", "the till may still do it"
    clock.move(seconds=1)
    for _ in range(2):
        run_scheduled("submit-baskets")
    assert [(order.id, order.status) for order in db.session.query(Order).order_by(Order.number)] == [
        (filled.id, "SUBMITTED"),
        (unpaid.id, "OPEN"),
    ]


def test_one_that_was_paid_with_another_amount_waits_for_staff_until_its_money_went_back(
    author: Author, clock: StoppedClock
) -> None:
    differs, sound = basket(author), basket(author)
    paid = pay(author, differs, amount=900)
    pay(author, sound, intent_id="pi_2")
    clock.move(seconds=timedelta(hours=1).total_seconds())
    run_scheduled("submit-baskets")
    assert db.session.get_one(Order, sound.id).status == "SUBMITTED", "one does not hold up the others"
    [alert] = open_alerts(author.site_id)
    assert (alert.cause, alert.subject) == ("paid_basket_open", differs.id)
    assert alert.detail.startswith("Order 1 was paid in part: £1.00 of this basket is not paid yet")
    with transaction():
        give_back(author, paid)
    run_scheduled("submit-baskets")
    assert (open_alerts(author.site_id), db.session.get_one(Order, differs.id).status) == ([], "OPEN")


def test_one_that_cannot_be_submitted_for_any_reason_is_shown_and_holds_up_no_other(
    author: Author, clock: StoppedClock
) -> None:
    """The user who filled it was deleted: no program has a basket of that kind."""
    ownerless, sound = basket(author, "WEB"), basket(author)
    pay(author, ownerless)
    pay(author, sound, intent_id="pi_2")
    with transaction():
        db.session.get_one(Order, ownerless.id).owner_id = None
    clock.move(seconds=SUBMITTED_AFTER.total_seconds())
    run_scheduled("submit-baskets")
    assert db.session.get_one(Order, sound.id).status == "SUBMITTED"
    assert [alert.subject for alert in open_alerts(author.site_id)] == [ownerless.id]


def test_baskets_whose_money_went_back_cost_nothing_each_minute(
    app: Flask, author: Author, clock: StoppedClock
) -> None:
    with statements(app) as before:
        run_scheduled("submit-baskets")
    for number in range(3):
        paid = pay(author, basket(author), intent_id=f"pi_{number}")
        with transaction():
            give_back(author, paid)
    clock.move(seconds=SUBMITTED_AFTER.total_seconds())
    with statements(app) as queries:
        run_scheduled("submit-baskets")
    assert queries == before
