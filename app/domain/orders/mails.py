"""Mails about orders: requested with the order's change, in its transaction, and sent by a worker once. What they say
is in `mail_contents`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import selectinload

from app.domain.delivery.deliveries import delivery_of
from app.domain.orders.mail_contents import GivenBack, Letter, OrderMailKind, RefundFacts, order_mail
from app.domain.orders.models import CANCELLED, COLLECTED, SUBMITTED, Order, OrderLine, OrderMail
from app.domain.orders.shop_contact import ShopContact, shop_contact
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.money import format_money
from app.domain.shared.problems import NotFound
from app.domain.shared.records import find_record
from app.domain.sites import activity
from app.domain.sites.setting_keys import ORDER_MAILS, SettingsPage
from app.domain.sites.settings import change_settings, settings_of
from app.domain.work import leases, mailing
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail, Mailer, NotTrueAnyMore
from app.domain.work.models import State, WorkRequested, requested_now
from app.events import publish
from app.extensions import db

OrderPath = Callable[[int, str], str]  # The path of an order's page, by site and order.
GivenBackOf = Callable[[Order], GivenBack]
PicturesOf = Callable[[int, Iterable[OrderLine]], Mapping[str, str]]  # Paths by SKU, of the lines of a site's order.
BY_EMAIL = "; an email says so"  # Ends the summary of a change of which a mail tells.
TRUE_WHILE = {
    OrderMailKind.RECEIVED: SUBMITTED,
    OrderMailKind.READY: SUBMITTED,
    OrderMailKind.COLLECTED: COLLECTED,
    OrderMailKind.CANCELLED: CANCELLED,
}


@dataclass(frozen=True, slots=True)
class OrderMailSettings:
    """Which mails a shop sends by itself, beside the confirmation of an order."""

    collected: bool
    refunded: bool


PAGE = SettingsPage(ORDER_MAILS, OrderMailSettings)


def mail_settings(site_id: int) -> OrderMailSettings:
    return PAGE.read(settings_of(site_id))


def change_mail_settings(author: Author, wanted: OrderMailSettings) -> bool:
    """Save which mails the shop sends by itself; return whether that changed anything. Call it in a transaction."""
    changed = change_settings(author.site_id, PAGE.stored_form(wanted))
    if changed:
        named = ", ".join(PAGE.titles[key] for key in changed)
        before, after = ({key: pair[place] for key, pair in changed.items()} for place in (0, 1))
        activity.record(author, "settings.order_mails", ("settings", "order-mails"), f"Changed {named}", before, after)
    return bool(changed)


def reason_untrue(kind: OrderMailKind, order: Order) -> str | None:
    """Return the reason why a mail would be wrong by now; None while it is right."""
    if kind in TRUE_WHILE and order.status != TRUE_WHILE[kind]:
        words = {SUBMITTED: order.handover.reopened, COLLECTED: order.handover.done}
        became = words.get(order.status, order.status.lower())
        return f"The order was {became} before the mail went out."
    if kind is OrderMailKind.READY and not order.is_ready:
        return "The order was marked as not ready before the mail went out."
    return None


ORDER_MAIL = mailing.mail_kind("order-mail", OrderMail, "The mail server did not take the mail within three days.")

# A later release, which works beside this one during an upgrade, may know more kinds: their mails are its to send.
IS_KNOWN = OrderMail.kind.in_([kind.value for kind in OrderMailKind])


def request_mail(author: Author, order: Order, kind: OrderMailKind) -> OrderMail | None:
    """Request a mail about an order to its contact. Return None where there is no email address that every mail server
    takes, and where a mail of the kind was sent or waits; one that ended unsent is replaced. Call it in a transaction
    that holds the order."""
    if not can_mail(order, kind):
        return None
    db.session.execute(delete(OrderMail).where(*_about(order), OrderMail.kind == kind.value))
    return _store(author, order, kind)


def request_refund_mail(author: Author, order: Order, refund_id: str, refund: RefundFacts) -> OrderMail | None:
    """Request the mail about a refund of an order, one for each. Return None where the shop sends none, there is no
    address, or this refund has one. Call it in a transaction that holds the order."""
    if not (mail_settings(author.site_id).refunded and has_address(order)):
        return None
    if any(mail.refund_id == refund_id for mail in mails_of(order)):
        return None
    given = format_money(refund.amount, order.currency)
    summary = f"{given} of order {order.number} was given back{BY_EMAIL}"
    activity.record(author, "order.refund", ("order", order.id), summary)
    more = {"refund_id": refund_id, "amount": refund.amount, "in_cash": refund.in_cash}
    return _store(author, order, OrderMailKind.REFUNDED, **more)


def _store(author: Author, order: Order, kind: OrderMailKind, **more: object) -> OrderMail:
    named = {"order_id": order.id, "kind": kind.value, "email": order.contact_email} | more
    mail = OrderMail(**requested_now(author), **named, next_try_at=author.now())
    db.session.add(mail)
    db.session.flush()
    publish(WorkRequested(ORDER_MAIL.name, mail.id))
    return mail


class Confirmation(StrEnum):
    """What became of the mail that confirms an order. UNKNOWN once the record of it is not kept any more."""

    SENT = "sent"
    WAITING = "waiting"
    NOT_SENT = "not_sent"
    NO_ADDRESS = "no_address"
    UNKNOWN = "unknown"


def confirmation_of(order: Order, mailer: Mailer) -> Confirmation:
    """Return what became of the mail that confirms an order. Mails that stay on this machine count as not sent."""
    if not has_address(order):
        return Confirmation.NO_ADDRESS
    mail = next((mail for mail in mails_of(order) if mail.kind == OrderMailKind.RECEIVED), None)
    if mail is None:
        return Confirmation.UNKNOWN
    if not mailer.reaches_people:
        return Confirmation.NOT_SENT
    if mail.is_unfinished:
        return Confirmation.WAITING
    return Confirmation.SENT if mail.was_sent else Confirmation.NOT_SENT


def has_address(order: Order) -> bool:
    """Whether the contact of an order has an email address that every mail server takes."""
    return bool(order.contact_email) and order.contact_email.isascii()


def can_mail(order: Order, kind: OrderMailKind) -> bool:
    """Whether a mail of the kind can still be sent about an order."""
    used_up = {mail.kind for mail in mails_of(order) if mail.is_unfinished or mail.was_sent}
    return has_address(order) and kind not in used_up


def end_untrue(clock: Clock, order: Order) -> None:
    """End the waiting mails of an order that are no longer true. One that a worker has claimed is being sent, or is
    checked again before it is tried again. Call it in a transaction that holds the order."""
    waiting = select(OrderMail).where(*_about(order), OrderMail.state == State.WAITING, IS_KNOWN)
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
    return mailing.due(ORDER_MAIL, clock, IS_KNOWN)


@dataclass(frozen=True, slots=True)
class MailSources:
    """What mails show of an order that contexts above this one know: the path of its page, how much of what was paid
    was given back, the pictures of its lines."""

    order_path: OrderPath
    given_back_of: GivenBackOf
    pictures_of: PicturesOf


def send(context: WorkContext, mailer: Mailer, mail_id: str, sources: MailSources) -> bool:
    """Send a mail about an order, unless another worker does; return False where it was not this caller's to send. The
    row holds the outcome."""

    def letter(row: OrderMail) -> Mail:
        return _mail_of_row(row, context, sources)

    return mailing.send(context, mailer, ORDER_MAIL, mail_id, letter, IS_KNOWN)


def _mail_of_row(row: OrderMail, context: WorkContext, sources: MailSources) -> Mail:
    """Return the mail of a row. Raises NotFound where the order or the address was erased meanwhile, NotTrueAnyMore."""
    order = find_record(Order, row.site_id, row.order_id, options=[selectinload(Order.lines)])
    if order is None or not row.email:
        raise NotFound("The order, or its email address, is not kept any more.")
    kind = OrderMailKind(row.kind)
    if reason := reason_untrue(kind, order):
        raise NotTrueAnyMore(reason)
    shop = shop_contact(row.site_id, context.address_of)
    url = f"{shop.home.rstrip('/')}{sources.order_path(row.site_id, order.id)}"
    refund = RefundFacts(row.amount or 0, row.in_cash)
    pictures = at_home(shop, sources.pictures_of(row.site_id, order.lines))
    instructions = delivery_of(row.site_id).payment_instructions if order.awaits_transfer else ""
    letter = Letter(shop, url, pictures, refund, sources.given_back_of(order), instructions)
    return order_mail(kind, order, letter, row.email, row.id)


def at_home(shop: ShopContact, paths: Mapping[str, str]) -> dict[str, str]:
    """Return the addresses of paths of a shop, by the same keys."""
    return {key: f"{shop.home.rstrip('/')}{path}" for key, path in paths.items()}


def _about(order: Order) -> tuple[ColumnElement[bool], ...]:
    return OrderMail.site_id == order.site_id, OrderMail.order_id == order.id
