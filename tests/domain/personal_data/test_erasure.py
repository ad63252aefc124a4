"""A person is found, exported and erased; the books stay, and so do all others."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from app.domain.orders.basket import Contact, clean_contact
from app.domain.orders.mails import OrderMailKind, request_mail
from app.domain.orders.models import Order, OrderMail
from app.domain.personal_data.erasure import brought_back, obstacles
from app.domain.personal_data.export import export, kept_about
from app.domain.pos.models import PosCashMovement, PosRefund, PosTransaction, PosTransactionEvent
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.domain.personal_data.shop_of_sam import SAM, Shop, bought, named
from tests.factories import PASSWORD, WHEN, make_order, make_site, make_user


def test_a_shopper_is_erased_and_the_books_stay(shop: Shop) -> None:
    order_id, payment_id = bought(shop)
    assert named(SAM, "Sam Sedge", "mug broke", "0123 456", "Ring twice")
    erasure = shop.erase("SAM@home.test ")
    assert not named("sam@home", "sam sedge", "mug broke", "0123 456", "ring twice", "a" * 64)
    order, payment = db.session.get_one(Order, order_id), db.session.get_one(PosTransaction, payment_id)
    refund = db.session.get_one(PosRefund, "refund-1")
    assert (order.contact_name, order.total, order.number is not None) == ("Erased", 2_500, True)
    assert [line.sku for line in order.lines] == ["SKU-9"]
    assert (payment.captured_amount, payment.status, refund.amount, refund.reason) == (
        1_250,
        "SUCCEEDED",
        100,
        "Erased",
    )
    assert erasure.records == {"Refunds": 1, "Payments": 1, "Orders and baskets": 1}
    summaries = set(db.session.scalars(select(AuditEntry.summary)))
    assert {"Refunded £1.00: erased", "Wrote to erased address"} <= summaries


def test_why_cash_was_voided_or_moved_names_nobody_any_more(shop: Shop) -> None:
    payment = shop.payment("CANCELLED", order_id=shop.order(), tender_type="CASH")
    with transaction():
        about = {"site_id": shop.site_id, "transaction_id": payment, "at": WHEN, "actor": "Nia Nettle"}
        reason = "The lady in red pays by card"
        db.session.add(PosTransactionEvent(**about, action="void", status="CANCELLED", detail=reason))
        nia = Author(shop.site_id, "Nia Nettle", shop.clock)
        activity.record(nia, "pos.void", ("pos_transaction", payment), f"Took back £12.50 in cash: {reason}")
        moved = {"agent_id": shop.agent, "type": "PAY_OUT", "amount": 500, "reason": f"Deposit back to {SAM}"}
        place = db.session.get_one(PosTransaction, payment).location_id
        db.session.add(PosCashMovement(id="m", site_id=shop.site_id, location_id=place, created_at=WHEN, **moved))
    shop.erase()
    assert not named("lady in red", SAM)
    assert db.session.get_one(PosCashMovement, "m").reason == "Deposit back to erased address"


def test_what_is_kept_of_an_agent_has_the_cash_that_they_moved(shop: Shop) -> None:
    place = db.session.get_one(PosTransaction, shop.payment()).location_id
    with transaction():
        moved = {"agent_id": shop.agent, "type": "DROP", "amount": 5_000, "reason": "To the safe"}
        db.session.add(PosCashMovement(id="m", site_id=shop.site_id, location_id=place, created_at=WHEN, **moved))
    kept = {one.holding.name: one.number for one in kept_about(shop.find("nia@shop.test"))}
    assert (kept["cashMoved"], kept["paymentsTaken"]) == (1, 1)


def test_the_erasure_is_in_the_activity_log_without_what_was_erased(shop: Shop) -> None:
    shop.order()
    shop.erase()
    entry = db.session.scalars(select(AuditEntry)).one()
    assert (entry.actor, entry.action) == ("Mia Moss", "personal_data.erase")
    assert entry.summary.startswith("Erased a person. Orders and baskets: 1;")


def test_all_others_stay_as_they_are(shop: Shop) -> None:
    bought(shop)
    shop.order(contact_name="Sam Sedge", contact_email="other@home.test", note="Wait for Sam Sedge")
    with transaction():
        elsewhere = make_site("other.localhost", "Other")
        make_order(elsewhere, contact_email=SAM)
    shop.erase()
    kept = db.session.execute(select(Order.contact_name, Order.contact_email).where(Order.contact_email != "")).all()
    assert sorted(kept) == [("Sam Sedge", "other@home.test"), ("Sam Sedge", SAM)]
    with pytest.raises(NotFound):
        shop.find()


def test_an_order_without_an_address_is_found_by_its_number(shop: Shop) -> None:
    order_id = shop.order(number=77, contact_email="", contact_phone="0123 456 789")
    for words in ("77", "#77", " Order 77"):
        assert shop.find(words).order_id == order_id
    shop.erase("77")
    assert db.session.get_one(Order, order_id).contact_phone == ""


def test_an_order_with_an_address_leads_to_all_of_the_person(shop: Shop) -> None:
    shop.order(number=77)
    shop.order(number=78)
    kept = {one.holding.name: one.number for one in kept_about(shop.find("77"))}
    assert kept == {"orders": 2, "orderLines": 2}


@pytest.mark.parametrize("words", ["", "sam", "12.5", "99999999999", "a b@c"])
def test_what_is_neither_an_address_nor_a_number_is_refused(shop: Shop, words: str) -> None:
    with pytest.raises(Invalid):
        shop.find(words)


@pytest.mark.parametrize("address", ["o'brien@home.test", "Zoë.O'Brien@fußball.test", "JÖRG@JÄGER.test"])
def test_every_address_that_orders_take_is_found(shop: Shop, address: str) -> None:
    order_id = shop.order(contact_email=clean_contact(Contact("Zoë", address)).email)
    for words in (address, address.upper().replace("SS", "ß")):
        assert [one.number for one in kept_about(shop.find(words)) if one.holding.name == "orders"] == [1]
    with transaction():
        activity.record(shop.author, "x.do", ("x", "1"), f"Wrote to {address}", after={"to": address})
    shop.erase(address)
    assert db.session.get_one(Order, order_id).contact_email == ""
    assert not named(address)
    with transaction():  # As a backup would bring it back.
        db.session.get_one(Order, order_id).contact_email = address
    assert [person.email for person in brought_back(shop.stores, shop.author)] == [address.lower()]


@pytest.mark.parametrize("words", ["no@body.test", "4711"])
def test_nobody_is_found_where_nothing_is_kept(shop: Shop, words: str) -> None:
    with pytest.raises(NotFound):
        shop.find(words)


def test_emails_about_orders_are_listed_and_their_addresses_erased_once_none_is_on_its_way(shop: Shop) -> None:
    with transaction():
        order = make_order(shop.site(), contact_email=SAM, status="COLLECTED")
        mail = request_mail(shop.author, order, OrderMailKind.READY)
        assert mail is not None
        order_id, mail_id = order.id, mail.id
    assert [(one.order_id, "is being sent" in one.reason) for one in obstacles(shop.find())] == [(order_id, True)]
    with transaction():
        db.session.get_one(OrderMail, mail_id).state = "failed"
    assert {one.holding.name: one.number for one in kept_about(shop.find())}["orderMails"] == 1
    assert shop.erase().records["Emails about orders"] == 1
    assert not named(SAM)


def test_an_order_that_waits_postpones_the_erasure_with_its_reason(shop: Shop) -> None:
    shop.order(number=77, status="SUBMITTED")
    shop.payment("PENDING", order_id=shop.order(number=78))
    with pytest.raises(Invalid) as refused:
        shop.erase()
    reasons = [problem.message for problem in refused.value.problems]
    assert reasons[0] == "Order 77 is awaiting collection: hand it over or cancel it first."
    assert reasons[1].startswith("A payment of 2026-11-01 is not settled")
    assert named(SAM)
    assert shop.stores.list.lines() == []


def test_a_refund_whose_outcome_is_unknown_postpones_the_erasure(shop: Shop) -> None:
    _, payment = bought(shop)
    with transaction():
        db.session.get_one(PosRefund, "refund-1").status = "UNKNOWN"
    assert [one.payment_id for one in obstacles(shop.find())] == [payment]


def test_somebody_of_another_shop_is_not_found_here(shop: Shop) -> None:
    with transaction():
        make_user(make_site("other.localhost", "Other"), Role.ADMIN, email="oz@shop.test")
    with pytest.raises(NotFound):
        shop.find("oz@shop.test")


def test_the_export_is_json_with_all_of_it_and_no_secret(shop: Shop) -> None:
    bought(shop)
    exported = json.loads("".join(export(shop.find(), shop.clock.now())))
    assert exported["orders"]["records"][0]["contactPhone"] == "0123 456 789"
    assert exported["payments"]["records"][0]["amountInPence"] == 1_250
    assert exported["refunds"]["records"][0]["reason"] == "Sam’s mug broke"
    assert "a" * 64 not in json.dumps(exported)
    staff = json.loads("".join(export(shop.find("nia@shop.test"), shop.clock.now())))
    assert staff["account"]["records"][0]["email"] == "nia@shop.test"
    assert {entry["summary"] for entry in staff["activity"]["records"]} >= {"Wrote to sam@home.test"}
    assert "argon2" not in json.dumps(staff)
    assert PASSWORD not in json.dumps(staff)
