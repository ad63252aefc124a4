"""A receipt as a mail."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from app.domain.pos.receipt_content import (
    CashHandling,
    OtherPayment,
    Purchase,
    Receipt,
    ReceiptLine,
    ReceiptRefund,
    receipt_mail,
    receipt_rows,
)

AT = datetime(2026, 7, 1, 11, 30, tzinfo=UTC)
LINES = (ReceiptLine("Kettle", "Colour: red", 2, 1_250, 2_500), ReceiptLine("Mug", "", 1, 500, 500))
CARD = (("Card", "Visa •••• 4242"), ("AID", "A0000000031010"))
RECEIPT = Receipt(
    shop="Fern & Fell",
    location="Market stall",
    address=("12 The Piazza", "London WC2E 8RF"),
    number="4F1C0C4E",
    order_number="1001",
    paid_at=AT,
    time_zone="Europe/London",
    currency="gbp",
    paid=3_000,
    purchase=Purchase(LINES, 3_000),
    card=CARD,
)


def test_rows_are_what_was_bought_and_paid() -> None:
    assert receipt_rows(RECEIPT) == [
        ("2 × Kettle (Colour: red)", "£25.00"),
        ("1 × Mug", "£5.00"),
        ("Paid by card", "£30.00"),
    ]


def test_a_discount_a_tax_and_refunds_lead_to_what_is_left() -> None:
    dear = Purchase(LINES, 3_000, discount=500, tax=100)
    refunded = replace(RECEIPT, purchase=dear, paid=2_600, refunds=(ReceiptRefund(AT, 600),))
    assert receipt_rows(refunded)[2:] == [
        ("Subtotal", "£30.00"),
        ("Discount", "-£5.00"),
        ("Tax", "£1.00"),
        ("Paid by card", "£26.00"),
        ("Refunded to the card on 1 July 2026", "-£6.00"),
        ("Left", "£20.00"),
    ]


def test_a_receipt_of_an_order_that_is_delivered_names_what_that_costs() -> None:
    delivered = replace(RECEIPT, purchase=Purchase(LINES, 3_000, delivery=395), paid=3_395)
    assert receipt_rows(delivered)[2:] == [
        ("Subtotal", "£30.00"),
        ("Delivery", "£3.95"),
        ("Paid by card", "£33.95"),
    ]


def test_cash_shows_what_was_handed_over_its_change_and_the_rounding() -> None:
    cash = replace(RECEIPT, paid=3_002, cash=CashHandling(5_000, 2_000, -2), card=())
    assert receipt_rows(cash)[2:] == [
        ("Paid in cash", "£30.02"),
        ("Rounding", "-£0.02"),
        ("Handed over", "£50.00"),
        ("Change", "£20.00"),
    ]
    refunded = replace(cash, refunds=(ReceiptRefund(AT, 333, in_cash=True, rounding=2),))
    assert receipt_rows(refunded)[6:] == [
        ("Refunded in cash on 1 July 2026 (£3.35 handed out)", "-£3.33"),
        ("Left", "£26.69"),
    ]


def test_a_tip_stands_beside_what_was_bought_and_is_refunded_last() -> None:
    assert receipt_rows(replace(RECEIPT, tip=300))[2:] == [
        ("Paid by card", "£30.00"),
        ("Tip", "£3.00"),
        ("Charged to the card", "£33.00"),
    ]
    assert receipt_rows(replace(RECEIPT, tip=300, refunds=(ReceiptRefund(AT, 3_100),)))[-1] == ("Left", "£2.00")


def test_every_other_payment_of_the_order_is_named() -> None:
    others = (OtherPayment(1_000, in_cash=True), OtherPayment(500))
    assert receipt_rows(replace(RECEIPT, paid=1_500, others=others))[2:] == [
        ("Total", "£30.00"),
        ("Also paid in cash", "£10.00"),
        ("Also paid by card", "£5.00"),
        ("Paid by card", "£15.00"),
    ]


def test_text_and_html_say_the_same() -> None:
    mail = receipt_mail(RECEIPT, "sam@home.test", "https://fern.test/r/x.y", "mail-1")
    place, facts = ("Market stall", "London WC2E 8RF"), ("4F1C0C4E", "1 July 2026, 12:30 BST", "1001")
    for part in (*place, *facts, "£30.00", "A0000000031010", "https://fern.test/r/x.y", "2 × Kettle (Colour: red)"):
        assert part in mail.text and part in mail.html, part
    assert (mail.to, mail.subject, mail.key) == ("sam@home.test", "Your receipt from Fern & Fell", "mail-1")


def test_names_are_no_markup_and_no_second_header() -> None:
    nasty = replace(RECEIPT, shop="<b>Fern</b>\r\nBcc: all@evil.test", location="<script>")
    mail = receipt_mail(nasty, "sam@home.test", "https://fern.test/r/x", "mail-1")
    assert "<b>" not in mail.html and "<script>" not in mail.html
    assert "\n" not in mail.subject and "\r" not in mail.subject
