"""A sale that was made without a network is booked as it was made."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.catalogue.models import Variant
from app.domain.orders.lifecycle import fulfil
from app.domain.orders.models import Order
from app.domain.pos.models import PosTransactionEvent
from app.domain.shared.problems import Conflict, Forbidden, NotFound
from app.domain.sites.models import AuditEntry, Site, StoredEvent
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.offline_sales.conftest import Stall, journal, order_of, payment_of, refusals
from tests.factories import make_product, make_site, make_user


@pytest.fixture
def other_product(stall: Stall) -> str:
    with transaction():
        return make_product(make_site("other.test"), "LAMP").sku


def test_a_sale_becomes_an_order_and_a_payment_of_its_time(stall: Stall) -> None:
    sale = stall.sale(("MUG", 2, 500), ("SHIRT-S", 1, 1_500), tenderedInPence=3_000, note="Blue bag")
    payment = stall.book(sale)
    sold_at = stall.clock.now() - timedelta(hours=1)
    assert (payment.type, payment.tender_type, payment.status) == ("ORDER_PAYMENT", "CASH", "SUCCEEDED")
    assert (payment.amount_in_pence, payment.captured_amount, payment.change_in_pence) == (2_500, 2_500, 500)
    assert (payment.rounding_in_pence, payment.client_sale_id, payment.notes) == (0, sale["clientSaleId"], [])
    assert (payment.created_at, payment.captured_at, payment.anomaly) == (sold_at, sold_at, None)
    order = order_of(payment)
    assert (order.status, order.channel, order.pos_location_id) == ("SUBMITTED", "POS", "tml_stall")
    assert (order.owner_id, order.number, order.note) == (stall.cashier.user_id, 1, "Blue bag")
    assert (order.total, order.paid_amount, order.amount_due) == (2_500, 2_500, 0)
    assert (order.submitted_at, order.paid_at) == (sold_at, sold_at)
    lines = [(line.sku, line.name, line.quantity, line.unit_price, line.stock_taken) for line in order.lines]
    assert lines == [("MUG", "Mug", 2, 500, 2), ("SHIRT-S", "Shirt", 1, 1_500, 1)]
    assert stall.stock("MUG") == 8
    assert db.session.query(Variant.stock).filter_by(sku="SHIRT-S").scalar() == 1


def test_the_journal_has_it_at_its_time_and_as_late(stall: Stall) -> None:
    old, fresh = stall.sale(), stall.sale(minutes_ago=4)
    payments = [stall.book(old), stall.book(fresh)]
    entries = [(entry.type, entry.at, entry.amount, entry.late) for entry in journal()]
    assert entries == [("SALE", old["soldAt"], 500, True), ("SALE", fresh["soldAt"], 500, False)]
    assert [entry.transaction_id for entry in journal()] == [payment.id for payment in payments]
    assert [entry.session_id for entry in journal()] == [stall.cashier.session_id] * 2


def test_people_read_of_it_in_the_activity_log_and_the_timeline(stall: Stall) -> None:
    payment = stall.book(stall.sale(("MUG", 1, 450)))
    log = db.session.query(AuditEntry).filter_by(action="pos.offline_sale").one()
    assert (log.actor, log.subject_id) == ("Tilly Till", payment.id)
    summary = "An offline sale was booked: order 1, £4.50 in cash. MUG was sold at £4.50 and costs £5.00 now."
    assert log.summary == summary
    steps = db.session.query(PosTransactionEvent).order_by(PosTransactionEvent.id).all()
    assert [(step.action, step.status) for step in steps] == [("offline", "SUCCEEDED"), ("cash", "SUCCEEDED")]
    assert steps[0].detail.startswith("Made without a network at 2026-11-20T11:00:00Z. MUG was sold")


def test_the_goods_count_as_handed_over_once_it_is_fulfilled(stall: Stall) -> None:
    payment = stall.book(stall.sale(("SHIRT-L", 1, 1_600)))
    event = db.session.query(StoredEvent).filter_by(name="OrderSubmittedEvent").one()
    assert event.payload == {"orderId": payment.order_id, "isShort": False}
    with transaction():
        assert fulfil(stall.clock, stall.site_id, event.payload["orderId"], event.payload["isShort"])
    assert order_of(payment).status == "COLLECTED"


def test_what_differs_from_the_books_is_noted_and_refuses_nothing(stall: Stall) -> None:
    stall.set_mug(price=550, enabled=False)
    stall.set_agent(max_transaction_amount=1_000)
    stall.set_site(posCashRounding=10)
    [outcome] = stall.send(stall.sale(("MUG", 12, 500), ("SHIRT-L", 3, 1_601), tenderedInPence=10_797))
    assert refusals([outcome]) == ["invalid_sale"], "a tendered amount five pence from the total is the least"
    [outcome] = stall.send(stall.sale(("MUG", 12, 500), ("SHIRT-L", 3, 1_601), tenderedInPence=10_798))
    assert [(note["code"], note["detail"]) for note in outcome.notes] == [
        ("price_changed", "MUG was sold at £5.00 and costs £5.50 now."),
        ("not_for_sale", "MUG is not for sale any more."),
        ("price_changed", "SHIRT-L was sold at £16.01 and costs £16.00 now."),
        ("amount_over_limit", "The sale is £108.03; a payment here is at most £10.00."),
        ("rounding_differs", "£107.98 was handed over; the shop would have rounded to £108.00."),
        ("out_of_stock", "Not in stock: 2 of 12 × Mug (MUG)."),
        ("out_of_stock", "Not in stock: 3 of 3 × Shirt (SHIRT-L)."),
    ]
    payment = payment_of(outcome)
    assert payment.notes == list(outcome.notes)
    assert (payment.rounding_in_pence, payment.change_in_pence, payment.moved_cash) == (-5, 0, 10_798)
    assert [line.stock_taken for line in order_of(payment).lines] == [10, 0]
    assert stall.stock("MUG") == 0


@pytest.mark.parametrize(
    ("tendered", "change", "rounding"), [(None, 0, 2), (1_005, 0, 2), (2_000, 995, 2)], ids=["none", "exact", "note"]
)
def test_cash_is_rounded_as_the_site_rounds_it(stall: Stall, tendered: int | None, change: int, rounding: int) -> None:
    stall.set_site(posCashRounding=5)
    payment = stall.book(stall.sale(("MUG", 1, 1_003), tenderedInPence=tendered))
    assert (payment.change_in_pence, payment.rounding_in_pence) == (change, rounding)
    assert journal()[0].amount == 1_005


def test_a_sku_at_two_prices_is_two_lines(stall: Stall) -> None:
    order = order_of(stall.book(stall.sale(("MUG", 7, 500), ("MUG", 4, 400))))
    assert [(line.quantity, line.unit_price, line.stock_taken) for line in order.lines] == [(7, 500, 7), (4, 400, 3)]
    assert (order.total, stall.stock("MUG")) == (5_100, 0)


def test_a_sale_of_a_device_that_is_ahead_counts_as_made_now(stall: Stall) -> None:
    payment = stall.book(stall.sale(minutes_ago=-2))
    assert payment.created_at == stall.clock.now()


@pytest.mark.parametrize(
    ("minutes", "refusal"),
    [(-2, None), (-2 - 1 / 60, "sale_in_future"), (7 * 24 * 60, None), (7 * 24 * 60 + 1 / 60, "sale_too_old")],
    ids=["two minutes ahead", "more", "seven days old", "older"],
)
def test_a_sale_is_of_the_last_seven_days(stall: Stall, minutes: float, refusal: str | None) -> None:
    assert refusals(stall.send(stall.sale(minutes_ago=minutes))) == [refusal]


@pytest.mark.parametrize("sku", ["TEAPOT", "SHIRT", "mug", "", "x" * 70_000])
def test_a_sku_that_cannot_be_sold_is_unknown(stall: Stall, sku: str) -> None:
    [outcome] = stall.send(stall.sale(("MUG", 1, 500), (sku, 1, 500)))
    assert refusals([outcome]) == ["unknown_sku"]
    assert (db.session.query(Order).count(), stall.stock("MUG"), journal()) == (0, 10, [])


def test_a_sale_that_is_refused_keeps_no_other_from_being_booked(stall: Stall) -> None:
    unknown = stall.sale(("TEAPOT", 1, 500))
    sales = [stall.sale(), unknown, None, {"clientSaleId": 7}, {"clientSaleId": "x"}, stall.sale()]
    outcomes = stall.send(*sales)
    assert [outcome.result.value for outcome in outcomes] == ["ACCEPTED", *["REFUSED"] * 4, "ACCEPTED"]
    assert [outcome.client_sale_id for outcome in outcomes] == [
        sales[0]["clientSaleId"], unknown["clientSaleId"], None, None, "x", sales[5]["clientSaleId"],
    ]  # fmt: skip
    assert stall.stock("MUG") == 8


def test_sales_of_another_shops_products_are_unknown(stall: Stall, other_product: str) -> None:
    assert refusals(stall.send(stall.sale((other_product, 1, 500)))) == ["unknown_sku"]


def test_a_sale_counts_in_the_session_in_which_it_was_made(stall: Stall) -> None:
    before = stall.open_session(600, ended_at=stall.clock.now() - timedelta(minutes=300))
    stall.open_session(700)
    assert stall.book(stall.sale(minutes_ago=310)).session_id == before
    assert stall.book(stall.sale(minutes_ago=650)).session_id not in (before, stall.cashier.session_id)


def test_of_two_phones_of_one_agent_each_sale_counts_where_it_was_made(stall: Stall) -> None:
    other_phone = stall.open_session(100, device_id="other-phone")
    assert stall.book(stall.sale(minutes_ago=50)).session_id != other_phone
    stall.cashier = replace(stall.cashier, session_id=other_phone)
    assert stall.book(stall.sale(minutes_ago=50)).session_id == other_phone


def test_a_sale_of_a_session_that_was_closed_counts_in_the_one_that_sends_it(stall: Stall) -> None:
    now = stall.clock.now()
    stall.open_session(600, ended_at=now, closed_at=now)
    stall.open_session(3_000, expires_at=now - timedelta(minutes=400))
    with transaction():
        other = make_user(db.session.get_one(Site, stall.site_id))
    stall.open_session(600, user_id=other.id)
    assert stall.book(stall.sale(minutes_ago=310)).session_id == stall.cashier.session_id


@pytest.mark.parametrize(
    ("site", "agent", "code"),
    [
        ({"posAllowCash": False}, {}, "cash_disabled"),
        ({}, {"can_take_cash": False}, "cash_not_permitted"),
        ({}, {"can_build_orders": False}, "orders_not_permitted"),
    ],
    ids=["shop", "agent", "orders"],
)
def test_who_may_not_take_cash_for_orders_sends_none(stall: Stall, site: dict, agent: dict, code: str) -> None:
    stall.set_site(**site)
    if agent:
        stall.set_agent(**agent)
    with pytest.raises(Forbidden) as refusal:
        stall.send(stall.sale())
    assert (refusal.value.code, journal()) == (code, [])


def test_a_caller_without_an_open_work_session_sends_none(stall: Stall) -> None:
    closed = stall.open_session(5, closed_at=stall.clock.now())
    cases = (None, NotFound, "work_session_not_found"), (closed, Conflict, "work_session_closed")
    for session_id, error, code in cases:
        stall.cashier = replace(stall.cashier, session_id=session_id)
        with pytest.raises(error) as refusal:
            stall.send(stall.sale())
        assert refusal.value.code == code
    assert journal() == []
