"""Receipts by email: requested, sent by a worker, tried again for three days, and the address forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import func, select

from app.domain.orders.basket import CONTACT_EMAIL, LONGEST_EMAIL
from app.domain.orders.limits import Mailed, note_mail
from app.domain.pos.payments.transitions import note_of
from app.domain.pos.receipts.letters import receipt_mail
from app.domain.pos.receipts.models import PosReceiptMail
from app.domain.pos.receipts.receipt import receipt_of
from app.domain.pos.reports.transactions import transaction
from app.domain.pos.typed_text import note_problems
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.mailing import Mail, Mailer
from app.domain.shared.problems import Invalid, Problem, TooManyRequests
from app.domain.sites import audit
from app.domain.work import mailing
from app.domain.work.context import WorkContext
from app.domain.work.kinds import WorkRequested
from app.domain.work.mailing import mail_kind
from app.domain.work.models import requested_now
from app.events import publish
from app.extensions import db

MOST_A_DAY = 10  # For one payment, so that the till cannot be used to send many mails to strangers.


RECEIPT_MAIL = mail_kind("receipt-mail", PosReceiptMail, "The mail server did not take the receipt within three days.")


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
    _check_number(author, transaction_id)
    note_mail(author.clock, recipient_key, author.site_id, Mailed.RECEIPT, email)
    mail = PosReceiptMail(
        **requested_now(author), transaction_id=transaction_id, email=email, link=link, next_try_at=author.now()
    )
    db.session.add(mail)
    db.session.add(note_of(author, transaction(author.site_id, transaction_id), "receipt by email"))
    audit.record(author, "pos.receipt", ("pos_transaction", transaction_id), "Sent a receipt by email")
    db.session.flush()
    publish(WorkRequested(RECEIPT_MAIL.name, mail.id))
    return mail


def email_problems(email: str) -> list[Problem]:
    problems = note_problems(email, "The email address", LONGEST_EMAIL, "#/email")
    if problems or (CONTACT_EMAIL.fullmatch(email) and email.isascii()):
        return problems
    return [Problem("invalid_email", "This email address is not like name@example.com.", "#/email")]


def mails_of(site_id: int, transaction_id: str) -> Sequence[PosReceiptMail]:
    """Return the latest mails of a payment's receipt, newest first."""
    query = select(PosReceiptMail).where(
        PosReceiptMail.site_id == site_id, PosReceiptMail.transaction_id == transaction_id
    )
    return db.session.scalars(query.order_by(PosReceiptMail.created_at.desc()).limit(MOST_A_DAY)).all()


def due(clock: Clock) -> Sequence[str]:
    """Return the ids of the mails that no worker has claimed and that may be tried now."""
    return mailing.due(RECEIPT_MAIL, clock)


def send(context: WorkContext, mailer: Mailer, mail_id: str) -> bool:
    """Send a receipt, unless another worker does; return False where it was not this caller's to send. The row holds
    the outcome."""
    return mailing.send(context, mailer, RECEIPT_MAIL, mail_id, _letter)


def _letter(row: PosReceiptMail) -> Mail:
    return receipt_mail(receipt_of(row.site_id, row.transaction_id), row.email or "", row.link, row.id)


def _check_number(author: Author, transaction_id: str) -> None:
    """Check how often the receipt was mailed within a day. Raises TooManyRequests."""
    lately = PosReceiptMail.created_at > author.now() - timedelta(days=1)
    query = select(func.count()).where(PosReceiptMail.transaction_id == transaction_id, lately)
    if (db.session.scalar(query) or 0) >= MOST_A_DAY:
        raise TooManyRequests("This receipt was mailed often enough today.", 3600)
