"""Mails about orders: requested with the order's change, in its transaction, and sent by a worker once.

They hold nothing that the customer typed: whoever orders in the name of another could write to them through the shop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import selectinload

from app.domain.orders.models import SUBMITTED, Order, OrderMail
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.problems import NotFound
from app.domain.shared.records import find_record
from app.domain.shared.text import one_line
from app.domain.sites.models import Site
from app.domain.work import leases, mailing
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail, Mailer, NotTrueAnyMore, html_of, link_html, rows_html, rows_text, text_of
from app.domain.work.models import State, WorkRequested, requested_now
from app.events import publish
from app.extensions import db


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
    payment = _payment_words(order)
    if kind is OrderMailKind.READY:
        opening = f"Your order is ready: collect it at {sender.name}{payment}."
    else:
        opening = f"Thank you for your order. Collect it at {sender.name}{payment}."
    words = f"{opening} Its number is {order.number}."
    rows = []
    for line in order.lines:
        options = ", ".join(f"{name}: {value}" for name, value in line.options.items())
        label = f"{line.quantity} × {line.name}{f' ({options})' if options else ''}"
        rows.append((label, format_money(line.unit_price * line.quantity, order.currency)))
    rows.append(("Total", format_money(order.total, order.currency)))
    text = text_of(heading, words, rows_text(rows), f"{sender.name}: {sender.address}")
    body = f"<p>{escape(words)}</p>{rows_html(rows)}{link_html(sender.address, sender.name)}"
    return Mail(to, one_line(f"{heading} – {sender.name}"), text, html_of(heading, heading, body), key)


def _payment_words(order: Order) -> str:
    """Return what the sentence about the collection says of the payment."""
    if order.paid_at:
        return ". It is paid"
    if order.paid_amount:
        return f" and pay the remaining {format_money(order.amount_due, order.currency)} there"
    return " and pay there" if order.total else ""


def reason_untrue(kind: OrderMailKind, order: Order) -> str | None:
    """Return the reason why a mail would be wrong by now; None while it is right. Each kind tells the customer to
    collect the order."""
    if order.status != SUBMITTED:
        return f"The order was {order.status.lower()} before the mail went out."
    if kind is OrderMailKind.READY and not order.is_ready:
        return "The order was marked as not ready before the mail went out."
    return None


ORDER_MAIL = mailing.mail_kind("order-mail", OrderMail, "The mail server did not take the mail within three days.")


def request_mail(author: Author, order: Order, kind: OrderMailKind) -> OrderMail | None:
    """Request a mail about an order to its contact. Return None where there is no email address that every mail server
    takes, and where a mail of the kind was sent or waits; one that ended unsent is replaced. Call it in a transaction
    that holds the order."""
    if not can_mail(order, kind):
        return None
    email = order.contact_email
    db.session.execute(delete(OrderMail).where(*_about(order), OrderMail.kind == kind.value))
    mail = OrderMail(**requested_now(author), order_id=order.id, kind=kind.value, email=email, next_try_at=author.now())
    db.session.add(mail)
    db.session.flush()
    publish(WorkRequested(ORDER_MAIL.name, mail.id))
    return mail


def can_mail(order: Order, kind: OrderMailKind) -> bool:
    """Whether a mail of the kind can still be sent about an order."""
    email = order.contact_email
    used_up = {mail.kind for mail in mails_of(order) if mail.is_unfinished or mail.was_sent}
    return bool(email) and email.isascii() and kind not in used_up


def end_untrue(clock: Clock, order: Order) -> None:
    """End the waiting mails of an order that are no longer true. One that a worker has claimed is being sent, or is
    checked again before it is tried again. Call it in a transaction that holds the order."""
    waiting = select(OrderMail).where(*_about(order), OrderMail.state == State.WAITING)
    for mail in db.session.scalars(waiting.with_for_update().execution_options(populate_existing=True)):
        if reason := reason_untrue(OrderMailKind(mail.kind), order):
            leases.end(ORDER_MAIL, clock, mail, State.DONE, reason)


def mails_of(order: Order) -> Sequence[OrderMail]:
    """Return the mails about an order, oldest first."""
    return db.session.scalars(
        select(OrderMail).where(*_about(order)).order_by(OrderMail.created_at, OrderMail.id)
    ).all()


def due(clock: Clock) -> Sequence[str]:
    """Return the ids of the mails that no worker has claimed and that may be tried now."""
    return mailing.due(ORDER_MAIL, clock)


def send(context: WorkContext, mailer: Mailer, mail_id: str) -> bool:
    """Send a mail about an order, unless another worker does; return False where it was not this caller's to send. The
    row holds the outcome."""
    return mailing.send(context, mailer, ORDER_MAIL, mail_id, _mail_of_row)


def _mail_of_row(row: OrderMail) -> Mail:
    """Return the mail of a row. Raises NotFound where the order or the address was erased meanwhile, NotTrueAnyMore."""
    order = find_record(Order, row.site_id, row.order_id, options=[selectinload(Order.lines)])
    if order is None or not row.email:
        raise NotFound("The order, or its email address, is not kept any more.")
    kind = OrderMailKind(row.kind)
    if reason := reason_untrue(kind, order):
        raise NotTrueAnyMore(reason)
    site = db.session.get_one(Site, row.site_id)
    sender = Sender(site.name, f"https://{site.primary_host}/")
    return order_mail(kind, order, sender, row.email, row.id)


def _about(order: Order) -> tuple[ColumnElement[bool], ...]:
    return OrderMail.site_id == order.site_id, OrderMail.order_id == order.id
