"""A receipt as a mail: a text, and the same in HTML that every mail program shows. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from zoneinfo import ZoneInfo

from app.domain.pos.receipts.receipt import Receipt
from app.domain.shared.mailing import Mail
from app.domain.shared.money import format_money
from app.domain.shared.text import one_line

Rows = list[tuple[str, str]]


def receipt_mail(receipt: Receipt, to: str, link: str, key: str) -> Mail:
    """Return the mail of a receipt. `link` leads to the receipt's page."""
    subject = one_line(f"Your receipt from {receipt.shop}")
    return Mail(to, subject, _text(receipt, link), _html(receipt, link), key)


def rows_of(receipt: Receipt) -> Rows:
    """Return the rows of a receipt, what was bought and paid, as labels and amounts."""
    bought = [
        (_named(line.quantity, line.name, line.detail), _money(receipt, line.total)) for line in receipt.purchase.lines
    ]
    return [*bought, *_sums(receipt), *_refunds(receipt)]


def _sums(receipt: Receipt) -> Iterator[tuple[str, str]]:
    bought = receipt.purchase
    if bought.lines and (bought.discount or bought.tax):
        yield "Subtotal", _money(receipt, bought.subtotal)
    if bought.discount:
        yield "Discount", f"-{_money(receipt, bought.discount)}"
    if bought.tax:
        yield "Tax", _money(receipt, bought.tax)
    yield "Paid by card", _money(receipt, receipt.paid)


def _refunds(receipt: Receipt) -> Iterator[tuple[str, str]]:
    for refund in receipt.refunds:
        day = refund.at.astimezone(ZoneInfo(receipt.time_zone))
        yield f"Refunded on {day.day} {day:%B %Y}", f"-{_money(receipt, refund.amount)}"
    if receipt.refunds:
        yield "Left", _money(receipt, receipt.net)


def _text(receipt: Receipt, link: str) -> str:
    rows = "\n".join(f"{label}: {value}" for label, value in rows_of(receipt))
    card = "\n".join(f"{label}: {value}" for label, value in receipt.card)
    place = "\n".join((receipt.shop, receipt.location, *receipt.address))
    facts = "\n".join(f"{label}: {value}" for label, value in _facts(receipt))
    return "\n\n".join(part for part in (place, facts, rows, card, f"This receipt on the web: {link}") if part) + "\n"


def _html(receipt: Receipt, link: str) -> str:
    place = "<br>".join(map(escape, (receipt.location, *receipt.address)))
    tables = "".join(map(_table, (_facts(receipt), rows_of(receipt), list(receipt.card))))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Receipt</title></head><body>'
        f"<h1>{escape(receipt.shop)}</h1><p>{place}</p>{tables}"
        f'<p><a href="{escape(link)}">This receipt on the web</a></p></body></html>'
    )


def _table(rows: Rows) -> str:
    cells = "".join(
        f'<tr><th align="left">{escape(label)}</th><td align="right">{escape(value)}</td></tr>' for label, value in rows
    )
    return f'<table cellpadding="4">{cells}</table>' if cells else ""


def _facts(receipt: Receipt) -> Rows:
    paid_at = receipt.paid_at.astimezone(ZoneInfo(receipt.time_zone))
    facts = [("Receipt", receipt.number), ("Paid", f"{paid_at.day} {paid_at:%B %Y, %H:%M}")]
    return [*facts, ("Order", receipt.order_number)] if receipt.order_number else facts


def _named(quantity: int, name: str, detail: str) -> str:
    return f"{quantity} × {name}{f' ({detail})' if detail else ''}"


def _money(receipt: Receipt, amount: int) -> str:
    return format_money(amount, receipt.currency)
