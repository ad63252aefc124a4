"""What mails about orders say, in text and in HTML. They hold nothing that the customer typed: whoever orders in the
name of another could write to them through the shop. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape

from app.domain.orders.models import SUBMITTED, Order, OrderLine
from app.domain.orders.shop_contact import ShopContact
from app.domain.shared.money import format_money
from app.domain.shared.text import one_line
from app.domain.work.mail_layout import (
    LINE,
    SOFT,
    TABLE,
    Frame,
    button_html,
    heading_html,
    html_of,
    paragraph_html,
    rows_html,
    rows_text,
    text_of,
)
from app.domain.work.mailing import Mail

SIDE = 56  # Pixels of a picture.
TOTAL = "Total"
COLLECTION = "Where and when to collect"
HOW_TO_PAY = "How to pay"


class OrderMailKind(StrEnum):
    """What a mail about an order says. One of each is sent at most, and one for each refund."""

    RECEIVED = "received"
    READY = "ready"
    COLLECTED = "collected"
    CANCELLED = "cancelled"
    REFUNDED = "refunded"


SUBJECTS = {
    OrderMailKind.RECEIVED: "Order {number} received",
    OrderMailKind.READY: "Order {number} is ready to collect",
    OrderMailKind.COLLECTED: "Order {number} was collected",
    OrderMailKind.CANCELLED: "Order {number} was cancelled",
    OrderMailKind.REFUNDED: "Refund for order {number}",
}
SUBJECTS_OF_DELIVERED = SUBJECTS | {
    OrderMailKind.READY: "Order {number} is on its way",
    OrderMailKind.COLLECTED: "Order {number} was delivered",
}


@dataclass(frozen=True, slots=True)
class RefundFacts:
    """A refund as its mail names it: the amount in minor units, and whether it was given back in cash."""

    amount: int = 0
    in_cash: bool = False


class GivenBack(StrEnum):
    """How much of what was paid for an order was given back."""

    NOTHING = "nothing"
    PART = "part"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Letter:
    """What a mail about an order needs beside the order: the shop that sends it, the address of the order's page, the
    addresses of pictures by SKU, how much was given back, and how to pay in advance."""

    shop: ShopContact
    order_url: str
    pictures: Mapping[str, str] = field(default_factory=dict)
    refund: RefundFacts = RefundFacts()
    given_back: GivenBack = GivenBack.NOTHING
    payment_instructions: str = ""


def order_mail(kind: OrderMailKind, order: Order, letter: Letter, to: str, key: str) -> Mail:
    """Return the mail about an order, whose lines are as they were bought."""
    shop, subjects = letter.shop, SUBJECTS_OF_DELIVERED if order.is_delivered else SUBJECTS
    heading = subjects[kind].format(number=order.number)
    words = f"{_opening(kind, order, letter)} The number of your order is {order.number}."
    sums, (title, place) = list(_sums(order)), _next_step(order, letter)
    bought = [(line_label(line), _line_total(order, line)) for line in order.lines]
    text = text_of(
        heading,
        words,
        rows_text([*bought, *sums]),
        f"See your order: {letter.order_url}",
        "\n".join((f"{title}:", *place)) if place else "",
        f"{shop.name}: {shop.home}",
    )
    body = "".join(
        (
            paragraph_html(words),
            _lines_html(order, letter.pictures),
            rows_html(sums, TOTAL),
            button_html(letter.order_url, "See your order", shop.accent),
            f"{heading_html(title)}<p>{'<br>'.join(map(escape, place))}</p>" if place else "",
        )
    )
    html = html_of(heading, heading, body, _frame(shop, words))
    return Mail(to, one_line(f"{heading} – {shop.name}"), text, html, key)


def _next_step(order: Order, letter: Letter) -> tuple[str, list[str]]:
    """Return the heading and the lines of what the customer does next: pay in advance, or collect; none for others."""
    if order.awaits_transfer:
        return HOW_TO_PAY, payment_lines(order, letter.payment_instructions)
    waits = order.status == SUBMITTED and not order.is_delivered
    return COLLECTION, collection_lines(letter.shop) if waits else []


def payment_lines(order: Order, instructions: str) -> list[str]:
    """Return how an order is paid in advance, a line each: as the shop says now, or said when it was placed."""
    named = f"Amount: {format_money(order.amount_due, order.currency)}", f"Reference: Order {order.number}"
    return [*(instructions or order.payment_instructions or "").splitlines(), *named]


def collection_lines(shop: ShopContact) -> list[str]:
    """Return where and when orders are collected, a line each; none where the shop does not say."""
    place = [shop.name, *shop.address] if shop.address else []
    return [*place, *(f"{days}: {times}" if times else days for days, times in shop.hours)]


def line_label(line: OrderLine) -> str:
    options = _options(line)
    return f"{line.quantity} × {line.name}{f' ({options})' if options else ''}"


def _options(line: OrderLine) -> str:
    return ", ".join(f"{name}: {value}" for name, value in line.options.items())


def _opening(kind: OrderMailKind, order: Order, letter: Letter) -> str:
    shop = letter.shop.name
    if order.is_delivered and kind in (OrderMailKind.RECEIVED, OrderMailKind.READY):
        return _opening_of_delivered(kind, order, letter.given_back)
    if kind is OrderMailKind.READY:
        return f"Your order is ready: collect it at {shop}{_payment_words(order, letter.given_back)}."
    if kind is OrderMailKind.COLLECTED:
        paid = " and paid" if order.total and letter.given_back is not GivenBack.ALL else ""
        return f"Thank you: your order was {order.handover.done}{paid}. We hope you enjoy it."
    if kind is OrderMailKind.CANCELLED:
        return f"Your order was cancelled. You owe nothing{_words_of_cancelled(order, letter.given_back)}."
    if kind is OrderMailKind.REFUNDED:
        amount = format_money(letter.refund.amount, order.currency)
        takes = "in cash" if letter.refund.in_cash else "to your card, which can take a few working days"
        return f"We gave back {amount} of what you paid for your order, {takes}."
    return f"Thank you for your order. Collect it at {shop}{_payment_words(order, letter.given_back)}."


def _opening_of_delivered(kind: OrderMailKind, order: Order, given_back: GivenBack) -> str:
    """The address is not named: whoever ordered typed it."""
    days = f" ({order.delivery_days})" if order.delivery_days else ""
    by = f"by {order.delivery_method}{days}"
    if kind is OrderMailKind.READY:
        opening = f"Your order is on its way to you, {by}"
    elif order.awaits_transfer and not order.paid_amount:
        amount = format_money(order.total, order.currency)
        return (
            f"Thank you for your order. Please pay {amount} by bank transfer. Once it has arrived, we send your order "
            f"to the address that you gave, {by}."
        )
    else:
        opening = f"Thank you for your order. We send it to the address that you gave, {by}"
    return f"{opening}{_payment_words(order, given_back)}."


def _words_of_cancelled(order: Order, given_back: GivenBack) -> str:
    """Return what the sentence about the cancellation says of the money that was paid."""
    if given_back is GivenBack.ALL:
        return ", and what you paid was given back"
    if given_back is GivenBack.PART:
        return "; part of what you paid was given back: ask us about the rest"
    if order.paid_by_transfer:
        return "; we transfer back what you paid"
    return "; ask us about what you paid" if order.paid_amount else ""


def _payment_words(order: Order, given_back: GivenBack) -> str:
    """Return what the sentence about the collection says of the payment. What is given back of an order that was paid
    leaves it paid."""
    if order.paid_at:
        more = {GivenBack.PART: "; part of that was given back", GivenBack.ALL: "; what you paid was given back"}
        return f". It is paid{more.get(given_back, '')}"
    if order.paid_amount:
        remaining = format_money(order.amount_due, order.currency)
        return f". {remaining} remain to be paid" if order.is_delivered else f" and pay the remaining {remaining} there"
    if order.is_delivered:
        return ". You pay when it arrives" if order.total else ""
    return " and pay there" if order.total else ""


def _sums(order: Order) -> Iterator[tuple[str, str]]:
    """Yield the rows below the lines of an order."""
    for label, amount in (("Discount", -(order.discount or 0)), ("Tax", order.tax)):
        if amount:
            yield label, format_money(amount, order.currency)
    if order.is_delivered:
        price = order.delivery_price
        yield "Delivery", format_money(price, order.currency) if price else "Free"
    yield TOTAL, format_money(order.total, order.currency)
    if order.status == SUBMITTED and order.paid_amount and not order.paid_at:
        yield "Paid already", format_money(order.paid_amount, order.currency)
        yield (
            "Still to pay" if order.is_delivered else "To pay on collection",
            format_money(order.amount_due, order.currency),
        )


def _line_total(order: Order, line: OrderLine) -> str:
    return format_money(line.unit_price * line.quantity, order.currency)


def _lines_html(order: Order, pictures: Mapping[str, str]) -> str:
    rows = "".join(_line_html(order, line, pictures) for line in order.lines)
    return f"<table {TABLE}>{rows}</table>"


def _line_html(order: Order, line: OrderLine, pictures: Mapping[str, str]) -> str:
    cell = f"padding:10px 0;border-bottom:1px solid {LINE};vertical-align:top"
    picture, options = _picture_html(pictures.get(line.sku)), _options(line)
    shown = f'<td width="{SIDE}" style="{cell};padding-right:12px">{picture}</td>' if pictures else ""
    small = f"color:{SOFT};font-size:14px"
    detail = f'<br><span class="soft" style="{small}">{escape(options)}</span>' if options else ""
    return (
        f'<tr>{shown}<td style="{cell}">{line.quantity} × {escape(line.name)}{detail}</td>'
        f'<td align="right" style="{cell};padding-left:12px;white-space:nowrap">{_line_total(order, line)}</td></tr>'
    )


def _picture_html(address: str | None) -> str:
    if address is None:
        return ""
    style = "display:block;border:0;border-radius:6px;object-fit:cover"
    return f'<img src="{escape(address)}" alt="" width="{SIDE}" height="{SIDE}" style="{style}">'


def _frame(shop: ShopContact, preview: str) -> Frame:
    """Return the frame of a shop's mails: its name or logo, and how to reach it."""
    logo, logo_webp = (f"{shop.home.rstrip('/')}{path}" if path else "" for path in (shop.logo, shop.logo_webp))
    reached = " · ".join(part for part in (shop.name, *shop.address, shop.phone, shop.email) if part)
    foot = f"{reached}. You get this email because an order at {shop.name} named your address."
    return Frame(shop.name, shop.home, logo, logo_webp, foot, preview)
