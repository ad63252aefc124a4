"""The receipt of a payment, as who has its link reads it."""

from __future__ import annotations

import pytest
from flask import Flask

from app.blueprints.receipt_links import receipt_path
from app.domain.pos.models import PosRefund, PosTransaction
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get
from tests.factories import WHEN, make_agent, make_location, make_order, make_site, make_transaction, make_user
from tests.page_client import check_page
from tests.statements import statements

EMV = {"applicationPreferredName": "VISA DEBIT", "dedicatedFileName": "A0000000031010", "authorizationCode": "123456",
       "cardholderVerificationMethod": "approval"}  # fmt: skip


@pytest.fixture
def path(app: Flask, site_id: int) -> str:
    return receipt_of(app, site_id, "SUCCEEDED")


def receipt_of(app: Flask, site_id: int, status: str, **more: object) -> str:
    """The path of the receipt of a new payment of an order."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        location = make_location(site, line1="12 The Piazza", city="London", postal_code="WC2E 8RF")
        agent = make_agent(site, make_user(site, Role.POS_AGENT, name="Tilly Till"), location)
        order = make_order(site, number=1001 + location.id)
        card = {"card_brand": "visa", "card_last4": "4242", "read_method": "contactless_emv", "emv": EMV}
        fields = {"amount_in_pence": 2_500, "order_id": order.id, "order_number": "1001", **card} | more
        payment = make_transaction(agent, location, status, **fields)
        payment_id = payment.id
        if payment.refunded_amount:
            db.session.add(
                PosRefund(
                    id=f"refund-{payment_id}",
                    site_id=site_id,
                    transaction_id=payment_id,
                    status="SUCCEEDED",
                    tender_type=payment.tender_type,
                    amount=payment.refunded_amount,
                    reason="A secret reason",
                    requested_by="Ada Admin",
                    created_at=WHEN,
                    updated_at=WHEN,
                )
            )
    with app.test_request_context():
        return receipt_path(site_id, payment_id)


def test_a_receipt_shows_what_card_schemes_want_and_what_was_bought(get: Get, path: str) -> None:
    page = get(path)
    assert page.status_code == 200
    check_page(page.text)
    text = " ".join(page.text.split())
    bought = ("Market stall", "12 The Piazza", "London WC2E 8RF", "2 × Kettle", "£25.00", "1 November 2026")
    card = ("Visa •••• 4242", "VISA DEBIT", "A0000000031010", "123456", "Approval", "Contactless EMV")
    for part in (*bought, *card):
        assert part in text, part


def test_nobody_is_named_and_no_search_engine_or_cache_keeps_it(app: Flask, get: Get, site_id: int) -> None:
    page = get(receipt_of(app, site_id, "PARTIALLY_REFUNDED", refunded_amount=500))
    for secret in ("Tilly", "Ada", "Sam Sedge", "sam@home.test", "A secret reason"):
        assert secret not in page.text
    assert "noindex" in page.headers["X-Robots-Tag"] and 'content="noindex' in page.text
    assert page.headers["Cache-Control"] == "no-store" and page.headers["Referrer-Policy"] == "no-referrer"


def test_refunds_are_shown_with_what_is_left(app: Flask, get: Get, site_id: int) -> None:
    text = get(receipt_of(app, site_id, "PARTIALLY_REFUNDED", refunded_amount=500)).text
    assert "Refunded to the card on" in text and "-£5.00" in text and "£20.00" in text


def test_cash_has_a_receipt_without_a_card(app: Flask, get: Get, site_id: int) -> None:
    cash = {"tender_type": "CASH", "change_in_pence": 500, "rounding_in_pence": -2, "amount_in_pence": 2_502}
    no_card = {"card_brand": None, "card_last4": None, "read_method": None, "emv": {}}
    path = receipt_of(app, site_id, "PARTIALLY_REFUNDED", refunded_amount=500, refunded_in_cash=500, **cash, **no_card)
    page = get(path)
    check_page(page.text)
    text = " ".join(page.text.split())
    rows = {"Paid in cash": "£25.02", "Rounding": "-£0.02", "Handed over": "£30.00", "Change": "£5.00"}
    for part in (*(f"{label}</th><td>{amount}" for label, amount in rows.items()), "Refunded in cash on"):
        assert part in text, part
    assert "Card</h2>" not in text and "by card" not in text


def test_each_receipt_of_an_order_names_its_other_payments(app: Flask, get: Get, site_id: int) -> None:
    path = receipt_of(app, site_id, "SUCCEEDED", amount_in_pence=1_500, tip_in_pence=200, captured_amount=1_700)
    with app.app_context(), transaction():
        card = db.session.query(PosTransaction).one()
        cash = {"tender_type": "CASH", "order_id": card.order_id}
        make_transaction(card.agent, card.location, "SUCCEEDED", amount_in_pence=1_000, **cash)
        make_transaction(card.agent, card.location, "CANCELLED", amount_in_pence=400, **cash)
        make_transaction(card.agent, card.location, "SUCCEEDED", amount_in_pence=700, is_surplus=True, **cash)
    text = " ".join(get(path).text.split())
    for part in ("Total</th><td>£25.00", "Also paid in cash</th><td>£10.00", "Paid by card</th><td>£15.00",
                 "Tip</th><td>£2.00", "Charged to the card</th><td>£17.00"):  # fmt: skip
        assert part in text, part
    assert text.count("Also paid") == 1


@pytest.mark.parametrize("status", ["PENDING", "CANCELLED", "FAILED", "UNKNOWN"])
def test_there_is_none_for_what_was_not_paid(app: Flask, get: Get, site_id: int, status: str) -> None:
    assert get(receipt_of(app, site_id, status)).status_code == 404


def test_another_shops_host_and_guesses_find_nothing(app: Flask, get: Get, path: str) -> None:
    with app.app_context(), transaction():
        make_site("other.test", "Other")
    assert get(path, host="other.test").status_code == 404
    token = path.removeprefix("/r/")
    for guess in (token[:-1] + ("A" if token[-1] != "A" else "B"), token.rpartition(".")[0], token + "=", "x.y", "."):
        assert get(f"/r/{guess}").status_code == 404, guess


def test_a_long_order_takes_the_same_statements(app: Flask, get: Get, path: str) -> None:
    get(path)
    with statements(app) as seen:
        get(path)
    assert len([one for one in seen if one.startswith("SELECT")]) < 12
