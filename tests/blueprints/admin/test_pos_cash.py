"""Cash and tips in the pages of payments: the list, the table, one payment, and its refunds."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.alerts.models import Alert
from app.domain.orders.models import Order
from app.domain.pos.models import PosRefund, PosTransaction, PosTransactionEvent
from app.domain.pos.processor import AccountRef, IntentRequest
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.blueprints.admin.pos_till import AtTill, at_till
from tests.blueprints.admin.test_pos_transactions import LIST, found, rows_of, text_of
from tests.factories import make_order
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FakeProcessor
from tests.page_client import PageClient


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def till(app: Flask, site_id: int, clock: StoppedClock) -> AtTill:
    return at_till(app, site_id, clock.now())


def page_after(ada: PageClient, payment_id: str, action: str, **form: str) -> str:
    ada.get(f"{LIST}/{payment_id}")
    ada.post(f"{LIST}/{payment_id}/{action}", dict(form))
    return text_of(ada, f"{LIST}/{payment_id}")


def by_card(till: AtTill, processor: FakeProcessor, amount: int, **more: object) -> str:
    """Return the id of a payment that the processor took."""
    number = processor.made("create")
    request = IntentRequest(amount, "gbp", metadata={"transactionId": f"payment-{number}"})
    intent_id = processor.create_intent(AccountRef(), request, f"create-{number}").id
    processor.tap(intent_id)
    fields = {"id": f"payment-{number}", "amount_in_pence": amount, "captured_amount": amount} | more
    return till.payment(processor_intent_id=intent_id, **fields)


def order_of(app: Flask, till: AtTill, **more: object) -> str:
    with app.app_context(), transaction():
        fields = {"paid_at": till.now, "paid_amount": 1_000, "total": 1_000} | more
        return make_order(db.session.get_one(Site, till.site_id), **fields).id


def refunds(app: Flask) -> list[tuple[str, int, int, str]]:
    with app.app_context():
        query = db.session.query(PosRefund).order_by(PosRefund.created_at, PosRefund.id)
        return [(one.tender_type, one.amount, one.rounding, one.status) for one in query]


def test_the_list_says_what_was_paid_with_and_keeps_tips_apart(ada: PageClient, till: AtTill) -> None:
    till.cash()
    till.payment(amount_in_pence=1_000, tip_in_pence=150, captured_amount=1_150, card_brand="visa", card_last4="4242")
    till.payment("CANCELLED", amount_in_pence=700, tip_in_pence=70)
    ada.get(LIST)
    page = text_of(ada, LIST)
    assert "Cash" in page and "Visa •••• 4242" in page and "+ £1.50 tip" in page and "£0.70" not in page
    for total in ("Taken</span> <strong>£22.52<", "Tips</span> <strong>£1.50<", "Net</span> <strong>£22.52<"):
        assert total in page, total
    assert "Tips</span>" not in text_of(ada, f"{LIST}?tender=cash")
    agents = text_of(ada, f"/admin/pos/agents/{till.agent_id}")
    assert "Taken</span> <strong>£22.52<" in agents and '<td data-label="Paid with">Cash</td>' in agents


def test_what_is_left_of_a_sale_is_without_its_tip(ada: PageClient, till: AtTill) -> None:
    with_tip = {"amount_in_pence": 1_000, "tip_in_pence": 100, "captured_amount": 1_100}
    till.payment("PARTIALLY_REFUNDED", refunded_amount=300, **with_tip)
    till.payment("REFUNDED", refunded_amount=1_100, **with_tip)
    assert "Net</span> <strong>£7.00<" in text_of(ada, LIST)
    assert sorted((row["Taken"], row["Tip"], row["Net"]) for row in rows_of(ada)) == [
        ("10.00", "1.00", "0.00"),
        ("10.00", "1.00", "7.00"),
    ]


def test_list_and_table_are_filtered_by_what_was_paid_with(ada: PageClient, till: AtTill) -> None:
    cash, card = till.cash(), till.payment()
    assert (found(ada, "?tender=cash"), found(ada, "?tender=card")) == ({cash}, {card})
    page = ada.get(f"{LIST}?tender=cash")
    assert "1 transaction" in text_of(ada, f"{LIST}?tender=cash")
    assert [one["value"] for one in page.all("option") if "selected" in one and one["value"] == "cash"] == ["cash"]
    assert "Paid with: “coins” cannot be looked for." in text_of(ada, f"{LIST}?tender=coins")


def test_the_table_has_its_new_columns_at_the_end(ada: PageClient, till: AtTill) -> None:
    till.cash("PARTIALLY_REFUNDED", refunded_amount=500, refunded_in_cash=500, client_sale_id="sale-1")
    (row,) = rows_of(ada)
    assert list(row)[-7:] == ["Account", "Tender", "Tip", "Change", "Rounding", "Refunded in cash", "App’s sale id"]
    assert list(row.values())[-6:] == ["CASH", "0.00", "7.50", "-0.02", "5.00", "sale-1"]
    till.payment()
    assert [row["Change"] + row["Rounding"] for row in rows_of(ada, "?tender=card")] == [""]


def test_a_payment_in_cash_shows_what_was_handed_over_and_nothing_of_a_processor(ada: PageClient, till: AtTill) -> None:
    payment_id = till.cash(notes=[{"code": "price_changed", "detail": "The mug costs £6.50 now."}])
    ada.get(f"{LIST}/{payment_id}")
    page = text_of(ada, f"{LIST}/{payment_id}")
    for text in (
        "In cash,", "<dt>Amount</dt><dd>£12.52", "<dt>Handed over</dt><dd>£20.00", "<dt>Change</dt><dd>£7.50",
        "<dt>Rounding</dt><dd>-£0.02", "Sold without a network", "The mug costs £6.50 now.",
    ):  # fmt: skip
        assert text in page, text
    for text in ("Check now", "Intent", "Processor", 'id="card"', "No card was read"):
        assert text not in page, text


def test_a_voided_payment_says_why_and_has_no_receipt(app: Flask, ada: PageClient, till: AtTill) -> None:
    payment_id = till.cash("CANCELLED", cancelled_at=till.now)
    with app.app_context(), transaction():
        step = {"actor": "Tilly Till", "action": "void", "status": "CANCELLED", "detail": "Pays by card instead"}
        db.session.add(PosTransactionEvent(site_id=till.site_id, transaction_id=payment_id, at=till.now, **step))
    page = text_of(ada, f"{LIST}/{payment_id}")
    assert "<dt>Voided</dt>" in page and "<p>Voided" in page and "Pays by card instead" in page
    assert "Refund…" not in page and 'id="receipt"' not in page


def test_the_tip_of_a_card_stands_apart(ada: PageClient, till: AtTill) -> None:
    payment_id = till.payment(amount_in_pence=1_000, tip_in_pence=100, captured_amount=1_100)
    page = text_of(ada, f"{LIST}/{payment_id}")
    assert "<dt>Amount</dt><dd>£10.00" in page and "<dt>Tip</dt><dd>£1.00" in page
    assert "<dt>Taken</dt><dd>£11.00" in page and "with the tip" in page


def test_cash_is_given_back_in_cash_rounded_as_the_shop_rounds(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    with app.app_context(), transaction():
        change_settings(till.site_id, {"posCashRounding": 5})
    payment_id = till.cash()
    page = text_of(ada, f"{LIST}/{payment_id}")
    assert "belongs to no till session" in page and "Give it back" not in page
    page = page_after(ada, payment_id, "refunds", amount="3.33", reason="Chipped", key="one")
    assert "Give the customer £3.35 in cash." in page and "£3.35 handed out" in page
    page = page_after(ada, payment_id, "refunds", amount="3.33", reason="Chipped", key="one")
    assert refunds(app) == [("CASH", 333, 2, "SUCCEEDED")] and processor.made("refund") == 0
    page_after(ada, payment_id, "refunds", reason="Torn")
    assert till.read(payment_id).status == "REFUNDED" and len(refunds(app)) == 2


def test_a_card_is_refunded_to_the_card_unless_cash_is_chosen(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    payment_id = by_card(till, processor, 1_250, card_brand="visa", card_last4="4242")
    page = ada.get(f"{LIST}/{payment_id}")
    assert [one["value"] for one in page.all("option")] == ["CARD", "CASH"]
    assert "£2.00 goes back to the card." in page_after(
        ada, payment_id, "refunds", amount="2", reason="A", tender="CARD"
    )
    shown = page_after(ada, payment_id, "refunds", amount="3", reason="B", tender="CASH")
    assert "Give the customer £3.00 in cash." in shown and "£3.00 of it in cash" in shown
    assert sorted(one[:2] for one in refunds(app)) == [("CARD", 200), ("CASH", 300)] and processor.made("refund") == 1
    with app.app_context(), transaction():
        change_settings(till.site_id, {"posAllowCash": False})
    assert ada.get(f"{LIST}/{payment_id}").all("option") == []


def test_a_payment_in_cash_never_goes_back_to_a_card(app: Flask, ada: PageClient, till: AtTill) -> None:
    payment_id = till.cash()
    page = page_after(ada, payment_id, "refunds", amount="2", reason="A", tender="CARD")
    assert "This was paid in cash, so it is given back in cash." in page and refunds(app) == []


def test_what_a_card_paid_for_a_settled_order_goes_back_by_one_button(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    paid_twice = {"order_id": order_of(app, till), "anomaly": "order_paid_twice", "is_surplus": True}
    payment_id = by_card(till, processor, 1_100, amount_in_pence=1_000, tip_in_pence=100, **paid_twice)
    assert "Refund £11.00</button>" in text_of(ada, f"{LIST}/{payment_id}")
    form = surplus_form(ada, payment_id)
    for _ in range(2):
        ada.post(f"{LIST}/{payment_id}/refunds", form)
    payment = till.read(payment_id)
    assert (payment.status, payment.anomaly) == ("REFUNDED", None)
    assert refunds(app) == [("CARD", 1_100, 0, "SUCCEEDED")] and processor.made("refund") == 1
    page = text_of(ada, f"{LIST}/{payment_id}")
    assert "Needs attention" not in page and "What was paid too much was given back" in page
    with app.app_context():
        assert db.session.query(AuditEntry).filter_by(action="pos.anomaly_settled").count() == 1
        assert db.session.query(Alert).filter_by(ended_at=None).count() == 0


def test_of_a_payment_that_was_partly_due_the_rest_alone_goes_back(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    order_id = order_of(app, till)
    till.cash(amount_in_pence=400, rounding_in_pence=0, change_in_pence=0, order_id=order_id)
    payment_id = by_card(till, processor, 900, order_id=order_id, anomaly="order_paid_twice")
    assert "Refund £3.00</button>" in text_of(ada, f"{LIST}/{payment_id}")
    ada.post(f"{LIST}/{payment_id}/refunds", surplus_form(ada, payment_id))
    payment = till.read(payment_id)
    assert (payment.status, payment.anomaly, payment.refunded_amount) == ("PARTIALLY_REFUNDED", None, 300)
    with app.app_context():
        assert db.session.get_one(Order, order_id).paid_at is not None


def test_a_card_that_succeeds_after_cash_had_settled_the_order_goes_back_by_one_button(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    order_id = order_of(app, till)
    till.cash(amount_in_pence=1_000, rounding_in_pence=0, change_in_pence=0, order_id=order_id)
    payment_id = by_card(till, processor, 1_000, order_id=order_id, status="CANCELLED", captured_amount=0)
    page = page_after(ada, payment_id, "check")
    assert "after the payment was given up" in page and "The order had been paid already." in page
    assert "Refund £10.00</button>" in page
    ada.post(f"{LIST}/{payment_id}/refunds", surplus_form(ada, payment_id))
    payment = till.read(payment_id)
    assert (payment.status, payment.anomaly, payment.is_surplus) == ("REFUNDED", None, True)
    assert "Paid in cash" in text_of(ada, f"/admin/orders/{order_id}")


def test_a_payment_that_was_given_up_and_is_due_is_no_surplus(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    order_id = order_of(app, till, paid_at=None, paid_amount=0)
    payment_id = by_card(till, processor, 1_000, order_id=order_id, status="CANCELLED", captured_amount=0)
    page = page_after(ada, payment_id, "check")
    assert "Needs attention" in page and "Refund £10.00</button>" not in page
    page = page_after(ada, payment_id, "refunds", amount="2", reason="Chipped")
    assert "Needs attention" in page, "a refund for another reason ends nothing"


def test_a_refund_of_a_part_of_what_is_too_much_leaves_the_rest_to_refund(
    app: Flask, ada: PageClient, till: AtTill, processor: FakeProcessor
) -> None:
    paid_twice = {"order_id": order_of(app, till), "anomaly": "order_paid_twice", "is_surplus": True}
    till.cash(amount_in_pence=1_000, rounding_in_pence=0, change_in_pence=0, order_id=paid_twice["order_id"])
    payment_id = by_card(till, processor, 1_000, **paid_twice)
    page = page_after(ada, payment_id, "refunds", amount="4", reason="A part")
    assert "Refund £6.00</button>" in page
    with app.app_context():
        assert db.session.get_one(PosTransaction, payment_id).anomaly == "order_paid_twice"
    page = page_after(ada, payment_id, "anomaly", note="Settled at the counter.")
    assert "Refund £6.00</button>" not in page


def surplus_form(ada: PageClient, payment_id: str) -> dict[str, str]:
    """Return what the button of the note sends."""
    page = ada.get(f"{LIST}/{payment_id}")
    sent: dict[str, str] = {}
    for field in page.all("input"):
        if field.get("type") == "hidden" and field.get("name") in ("key", "surplus"):
            sent.setdefault(field["name"], field["value"])
    assert sent["key"].startswith("surplus-") and sent["surplus"] == "1"
    return sent
