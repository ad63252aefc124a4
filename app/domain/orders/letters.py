"""Mails about an order to the customer who placed it. They hold nothing that the customer typed: whoever orders in the
name of another could write to them through the shop. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from html import escape

from app.domain.orders.models import SUBMITTED, Order, OrderLine
from app.domain.shared.letters import html_of, link_html, rows_html, rows_text, text_of
from app.domain.shared.mailing import Mail
from app.domain.shared.money import format_money
from app.domain.shared.text import one_line


class OrderMailKind(StrEnum):
    """What a mail about an order says. One of each is sent at most."""

    RECEIVED = "received"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Sender:
    """The shop that a mail comes from; `address` is that of its home page."""

    name: str
    address: str


SUBJECTS = {
    OrderMailKind.RECEIVED: "Order {number} received",
    OrderMailKind.READY: "Order {number} is ready to collect",
}


def order_mail(kind: OrderMailKind, order: Order, sender: Sender, to: str, key: str) -> Mail:
    """Return the mail about an order, whose lines are as they were bought."""
    heading = SUBJECTS[kind].format(number=order.number)
    words = f"{_sentence(kind, order, sender)} Its number is {order.number}."
    rows = [*(_row(order, line) for line in order.lines), ("Total", format_money(order.total, order.currency))]
    text = text_of(heading, words, rows_text(rows), f"{sender.name}: {sender.address}")
    body = f"<p>{escape(words)}</p>{rows_html(rows)}{link_html(sender.address, sender.name)}"
    return Mail(to, one_line(f"{heading} – {sender.name}"), text, html_of(heading, heading, body), key)


def why_not_true(kind: OrderMailKind, order: Order) -> str | None:
    """Return the reason why a mail would be wrong by now; None while it is right. Each kind tells the customer to
    collect the order."""
    if order.status != SUBMITTED:
        return f"The order was {order.status.lower()} before the mail went out."
    if kind is OrderMailKind.READY and not order.is_ready:
        return "The order was marked as not ready before the mail went out."
    return None


def _sentence(kind: OrderMailKind, order: Order, sender: Sender) -> str:
    payment = ". It is paid" if order.paid_at else " and pay there" if order.total else ""
    if kind is OrderMailKind.READY:
        return f"Your order is ready: collect it at {sender.name}{payment}."
    return f"Thank you for your order. Collect it at {sender.name}{payment}."


def _row(order: Order, line: OrderLine) -> tuple[str, str]:
    options = ", ".join(f"{name}: {value}" for name, value in line.options.items())
    label = f"{line.quantity} × {line.name}{f' ({options})' if options else ''}"
    return label, format_money(line.unit_price * line.quantity, order.currency)
