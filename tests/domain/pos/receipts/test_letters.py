"""A receipt as a mail."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from app.domain.pos.receipt_content import Purchase, Receipt, ReceiptLine, ReceiptRefund, receipt_mail, receipt_rows

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
        ("Refunded on 1 July 2026", "-£6.00"),
        ("Left", "£20.00"),
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
