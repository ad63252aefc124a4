"""A receipt as the customer reads it: its content, its rows, its mail as a text and as HTML that every mail program
shows. It names no person. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from html import escape
from zoneinfo import ZoneInfo

from app.domain.shared.clock import format_moment
from app.domain.shared.money import format_money
from app.domain.shared.text import one_line
from app.domain.work.mail_layout import html_of, link_html, rows_html, rows_text, text_of
from app.domain.work.mailing import Mail

Rows = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """A line of a receipt; `unit_price` and `total` in minor units."""

    name: str
    detail: str
    quantity: int
    unit_price: int
    total: int


@dataclass(frozen=True, slots=True)
class Purchase:
    """The contents and sums of an order; empty for a payment without one."""

    lines: tuple[ReceiptLine, ...] = ()
    subtotal: int = 0
    discount: int = 0
    tax: int = 0
    delivery: int = 0


@dataclass(frozen=True, slots=True)
class ReceiptRefund:
    """A refund on a receipt, in minor units. `rounding` is what was handed out in cash more (or less) than `amount`."""

    at: datetime
    amount: int
    in_cash: bool = False
    rounding: int = 0


@dataclass(frozen=True, slots=True)
class CashHandling:
    """The cash of a payment in minor units: `rounding` is what was to be handed over more (or less) than was paid."""

    handed_over: int
    change: int = 0
    rounding: int = 0


@dataclass(frozen=True, slots=True)
class OtherPayment:
    """Another payment of the same order; `amount` in minor units, without its tip and what was given back."""

    amount: int
    in_cash: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt as the customer reads it; money in minor units of `currency`. `paid` is without the tip. `cash` is None
    for a payment by card, `card` holds labels and values of the card."""

    shop: str
    location: str
    address: tuple[str, ...]
    number: str
    order_number: str | None
    paid_at: datetime
    time_zone: str
    currency: str
    paid: int
    tip: int = 0
    cash: CashHandling | None = None
    purchase: Purchase = Purchase()
    others: tuple[OtherPayment, ...] = ()
    card: tuple[tuple[str, str], ...] = ()
    refunds: tuple[ReceiptRefund, ...] = ()

    @property
    def refunded(self) -> int:
        return sum(refund.amount for refund in self.refunds)

    @property
    def net(self) -> int:
        return self.paid + self.tip - self.refunded


def receipt_mail(receipt: Receipt, to: str, link: str, key: str) -> Mail:
    """Return the mail of a receipt. `link` leads to the receipt's page."""
    facts = [("Receipt", receipt.number), ("Paid", format_moment(receipt.paid_at, receipt.time_zone))]
    if receipt.order_number:
        facts.append(("Order", receipt.order_number))
    tables = (facts, receipt_rows(receipt), receipt.card)
    place = "\n".join((receipt.shop, receipt.location, *receipt.address))
    text = text_of(place, *map(rows_text, tables), f"This receipt on the web: {link}")
    place_html = "<br>".join(map(escape, (receipt.location, *receipt.address)))
    body = f"<p>{place_html}</p>{''.join(map(rows_html, tables))}{link_html(link, 'This receipt on the web')}"
    subject = one_line(f"Your receipt from {receipt.shop}")
    return Mail(to, subject, text, html_of("Receipt", receipt.shop, body), key)


def receipt_rows(receipt: Receipt) -> Rows:
    """Return the rows of a receipt, what was bought and paid, as labels and amounts."""
    bought = [
        (f"{line.quantity} × {line.name}{f' ({line.detail})' if line.detail else ''}", _money(receipt, line.total))
        for line in receipt.purchase.lines
    ]
    return [*bought, *_sum_rows(receipt), *_payment_rows(receipt), *_refund_rows(receipt)]


def _sum_rows(receipt: Receipt) -> Iterator[tuple[str, str]]:
    bought = receipt.purchase
    if bought.lines and (bought.discount or bought.tax or bought.delivery):
        yield "Subtotal", _money(receipt, bought.subtotal)
    if bought.discount:
        yield "Discount", f"-{_money(receipt, bought.discount)}"
    if bought.tax:
        yield "Tax", _money(receipt, bought.tax)
    if bought.delivery:
        yield "Delivery", _money(receipt, bought.delivery)
    if bought.lines and receipt.others:
        yield "Total", _money(receipt, bought.subtotal - bought.discount + bought.tax + bought.delivery)


def _payment_rows(receipt: Receipt) -> Iterator[tuple[str, str]]:
    for other in receipt.others:
        yield f"Also paid {'in cash' if other.in_cash else 'by card'}", _money(receipt, other.amount)
    yield f"Paid {'by card' if receipt.cash is None else 'in cash'}", _money(receipt, receipt.paid)
    if receipt.tip:
        yield "Tip", _money(receipt, receipt.tip)
        yield "Charged to the card", _money(receipt, receipt.paid + receipt.tip)
    if cash := receipt.cash:
        if cash.rounding:
            yield "Rounding", _money(receipt, cash.rounding)
        yield "Handed over", _money(receipt, cash.handed_over)
        yield "Change", _money(receipt, cash.change)


def _refund_rows(receipt: Receipt) -> Iterator[tuple[str, str]]:
    for refund in receipt.refunds:
        day = refund.at.astimezone(ZoneInfo(receipt.time_zone))
        way = "in cash" if refund.in_cash else "to the card"
        handed_out = f" ({_money(receipt, refund.amount + refund.rounding)} handed out)" if refund.rounding else ""
        yield f"Refunded {way} on {day.day} {day:%B %Y}{handed_out}", f"-{_money(receipt, refund.amount)}"
    if receipt.refunds:
        yield "Left", _money(receipt, receipt.net)


def _money(receipt: Receipt, amount: int) -> str:
    return format_money(amount, receipt.currency)
