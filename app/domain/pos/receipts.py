"""Receipts: read from a payment, with what the rules of card schemes want of it; and sent by email: requested, sent by
a worker, tried again for three days, and the address forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import selectinload

from app.domain.orders.limits import Mailed, note_mail
from app.domain.orders.models import Order
from app.domain.orders.offers import subtotal_of
from app.domain.pos.models import PosLocation, PosReceiptMail, PosRefund, PosTransaction
from app.domain.pos.payments.transitions import timeline_entry
from app.domain.pos.processor import RECEIPT_FIELDS
from app.domain.pos.receipt_content import (
    CashHandling,
    OtherPayment,
    Purchase,
    Receipt,
    ReceiptLine,
    ReceiptRefund,
    receipt_mail,
)
from app.domain.pos.rules import email_problems
from app.domain.pos.states import CASH, PAID_STATUSES, card_name, in_words
from app.domain.pos.transactions import get_transaction
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound, TooManyRequests
from app.domain.shared.records import existing, find_record
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.work import mailing
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail, Mailer, mail_kind
from app.domain.work.models import WorkRequested, requested_now
from app.events import publish
from app.extensions import db

NOT_VERIFIED = "None"  # A small payment, for which the cardholder did nothing but hold the card to the reader.
NO_RECEIPT = "There is no such receipt."
NOT_PAID = "A receipt is there once the payment was made."
MOST_A_DAY = 10  # For one payment, so that the till cannot be used to send many mails to strangers.
RECEIPT_MAIL = mail_kind("receipt-mail", PosReceiptMail, "The mail server did not take the receipt within three days.")


def receipt_of(site_id: int, transaction_id: str) -> Receipt:
    """Return the receipt of a transaction, in a few statements. Raises NotFound, also while nothing was paid."""
    payment = existing(find_record(PosTransaction, site_id, transaction_id), NO_RECEIPT)
    if payment.status not in PAID_STATUSES:
        raise NotFound(NOT_PAID)
    site, tip = db.session.get_one(Site, site_id), min(payment.tip_in_pence, payment.captured_amount)
    return Receipt(
        shop=site.name,
        location=payment.location.display_name,
        address=address_lines(payment.location),
        number=payment.id.partition("-")[0].upper() if len(payment.id) == 36 else payment.id,
        order_number=payment.order_number,
        paid_at=payment.captured_at or payment.created_at,
        time_zone=site.time_zone,
        currency=payment.currency,
        paid=payment.captured_amount - tip,
        tip=tip,
        cash=_cash_handling(payment),
        purchase=_purchase(payment),
        others=tuple(_other_payments(payment)),
        card=card_fields(payment),
        refunds=tuple(_refunds_on_receipt(payment)),
    )


def _cash_handling(payment: PosTransaction) -> CashHandling | None:
    if payment.tender_type != CASH:
        return None
    change = payment.change_in_pence or 0
    return CashHandling(payment.moved_cash + change, change, payment.rounding_in_pence or 0)


def _other_payments(payment: PosTransaction) -> Iterable[OtherPayment]:
    """Yield the other payments of the payment's order of which money was kept, the oldest first."""
    if payment.order_id is None:
        return
    row = PosTransaction
    left = row.captured_amount - row.tip_in_pence - row.refunded_amount
    query = select(left, row.tender_type).where(
        row.site_id == payment.site_id, row.order_id == payment.order_id, row.id != payment.id
    )
    counts = row.status.in_([str(status) for status in PAID_STATUSES]), row.is_surplus.is_(False), left > 0
    for amount, tender in db.session.execute(query.where(*counts).order_by(row.created_at, row.id)):
        yield OtherPayment(amount, tender == CASH)


def address_lines(location: PosLocation) -> tuple[str, ...]:
    town = " ".join(part for part in (location.city, location.state, location.postal_code) if part)
    return tuple(line for line in (location.line1, location.line2, town, location.country) if line)


def card_fields(payment: PosTransaction) -> tuple[tuple[str, str], ...]:
    """Return the brand, the last four digits, how the card was read, and the fields of its chip, as labels and values;
    nothing for cash."""
    fields = [
        ("Card", card_name(payment.card_brand, payment.card_last4)),
        ("Read by", in_words(payment.read_method or "")),
        *((label, in_words(payment.emv.get(name, ""))) for name, label in RECEIPT_FIELDS),
    ]
    return tuple((label, text) for label, text in fields if text and text != NOT_VERIFIED)


def _purchase(payment: PosTransaction) -> Purchase:
    if payment.order_id is None:
        return Purchase()
    order = find_record(Order, payment.site_id, payment.order_id, options=[selectinload(Order.lines)])
    if order is None:
        return Purchase()
    lines = tuple(
        ReceiptLine(
            line.name,
            ", ".join(f"{name}: {value}" for name, value in line.options.items()),
            line.quantity,
            line.unit_price,
            line.unit_price * line.quantity,
        )
        for line in order.lines
    )
    return Purchase(lines, subtotal_of(order), order.discount, order.tax, order.delivery_price)


def _refunds_on_receipt(payment: PosTransaction) -> Iterable[ReceiptRefund]:
    """Yield the refunds of a payment that were made or are pending. What was refunded at the processor without the shop
    is one sum."""
    made: Sequence[PosRefund] = db.session.scalars(
        select(PosRefund)
        .where(PosRefund.transaction_id == payment.id, PosRefund.status.in_(("SUCCEEDED", "PENDING")))
        .order_by(PosRefund.created_at, PosRefund.id)
    ).all()
    for refund in made:
        yield ReceiptRefund(refund.created_at, refund.amount, refund.tender_type == CASH, refund.rounding)
    rest = payment.refunded_amount - sum(refund.amount for refund in made)
    if rest > 0:
        yield ReceiptRefund(payment.updated_at, rest)


def request_mail(
    author: Author, transaction_id: str, email: str, link: str, recipient_key: bytes = b""
) -> PosReceiptMail:
    """Request a receipt by email. Call it in a transaction. Raises Invalid for an invalid address, NotFound while
    nothing was paid, and TooManyRequests, also where the recipient, counted by a hash under `recipient_key`, got very
    many receipts."""
    email = email.strip()
    if problems := email_problems(email):
        raise Invalid(problems)
    receipt_of(author.site_id, transaction_id)
    _check_daily_number(author, transaction_id)
    note_mail(author.clock, recipient_key, author.site_id, Mailed.RECEIPT, email)
    mail = PosReceiptMail(
        **requested_now(author), transaction_id=transaction_id, email=email, link=link, next_try_at=author.now()
    )
    db.session.add(mail)
    db.session.add(timeline_entry(author, get_transaction(author.site_id, transaction_id), "receipt by email"))
    activity.record(author, "pos.receipt", ("pos_transaction", transaction_id), "Sent a receipt by email")
    db.session.flush()
    publish(WorkRequested(RECEIPT_MAIL.name, mail.id))
    return mail


def mails_of(site_id: int, transaction_id: str) -> Sequence[PosReceiptMail]:
    """Return the latest mails of a payment's receipt, newest first."""
    query = select(PosReceiptMail).where(
        PosReceiptMail.site_id == site_id, PosReceiptMail.transaction_id == transaction_id
    )
    return db.session.scalars(query.order_by(PosReceiptMail.created_at.desc()).limit(MOST_A_DAY)).all()


def due_mails(clock: Clock) -> Sequence[str]:
    """Return the ids of the mails that no worker has claimed and that may be tried now."""
    return mailing.due(RECEIPT_MAIL, clock)


def send_mail(context: WorkContext, mailer: Mailer, mail_id: str) -> bool:
    """Send a receipt, unless another worker does; return False where it was not this caller's to send. The row holds
    the outcome."""

    def write(row: PosReceiptMail) -> Mail:
        return receipt_mail(receipt_of(row.site_id, row.transaction_id), row.email or "", row.link, row.id)

    return mailing.send(context, mailer, RECEIPT_MAIL, mail_id, write)


def _check_daily_number(author: Author, transaction_id: str) -> None:
    """Check how often the receipt was mailed within a day. Raises TooManyRequests."""
    lately = PosReceiptMail.created_at > author.now() - timedelta(days=1)
    query = select(func.count()).where(PosReceiptMail.transaction_id == transaction_id, lately)
    if (db.session.scalar(query) or 0) >= MOST_A_DAY:
        raise TooManyRequests("This receipt was mailed often enough today.", 3600)
