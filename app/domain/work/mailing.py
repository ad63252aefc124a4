"""Mails to customers: the port to email, and mails as leased work: sent by a worker, tried again for three days, and
the address then forgotten. What they look like is in `mail_layout`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from sqlalchemy import ColumnElement, String, select
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.clock import Clock
from app.domain.shared.records import UtcDateTime
from app.domain.work import leases
from app.domain.work.context import WorkContext, read_afresh
from app.domain.work.leases import Claim, perform
from app.domain.work.models import LeasedWork, State, WorkKind
from app.extensions import db

TRIED_AGAIN_AFTER = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180))
GIVEN_UP_AFTER = timedelta(days=3)


class MailNotSent(Exception):
    """The error that a mail could not be sent; its message is for people and names no address."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one person, in text and the same in HTML. `key` identifies the mail: it is the same at every try."""

    to: str
    subject: str
    text: str
    html: str
    key: str


class Mailer(Protocol):
    """The port to email. `reaches_people`: whether mails leave this machine."""

    reaches_people: bool

    def send(self, mail: Mail) -> None:
        """Send a mail within half a minute at most. Raises MailNotSent."""
        ...

    def forget(self, address: str) -> int:
        """Remove the mails to an address that this mailer keeps, and return their number. Raises OSError."""
        ...


class NoMailer:
    """The mailer of a shop that sends no mail."""

    reaches_people = False

    def send(self, mail: Mail) -> None:
        raise MailNotSent("No mail is set up.")

    def forget(self, address: str) -> int:
        return 0


class MailToSend(LeasedWork):
    """A mail to be sent. `email` is None once it was sent, or given up: then it is not needed any more. `next_try_at`
    is when the mail server is tried (again)."""

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    email: Mapped[str | None] = mapped_column(String(254))
    next_try_at: Mapped[datetime] = mapped_column(UtcDateTime)

    @property
    def was_sent(self) -> bool:
        """Whether the mail server accepted the mail. One that ended with a reason was not sent."""
        return self.state == State.DONE and self.error is None


class NotTrueAnyMore(Exception):
    """The error of a mail whose contents are no longer true; its message says why."""


M = TypeVar("M", bound=MailToSend)
Letter = Callable[[M], Mail]


def mail_kind(name: str, model: type[M], overdue: str) -> WorkKind[M]:
    """Return the kind of work that sends the mails of a table. `overdue` is the error of a mail that was not sent in
    time."""
    return WorkKind(
        name,
        model,
        lease=timedelta(minutes=1),
        kept=timedelta(days=30),
        lasts_at_most=GIVEN_UP_AFTER,
        overdue=overdue,
        on_end=_forget_address,
    )


def _forget_address(_clock: Clock, mail: MailToSend) -> None:
    mail.email = None


def due(kind: WorkKind[M], clock: Clock, *which: ColumnElement[bool]) -> Sequence[str]:
    """Return the ids of the mails that no worker holds and that are due, in the order of their next try. `which`
    narrows them to some."""
    query = select(kind.model.id).where(*_is_due(kind, clock), *which).order_by(kind.model.next_try_at)
    return db.session.scalars(query).all()


def send(
    context: WorkContext,
    mailer: Mailer,
    kind: WorkKind[M],
    mail_id: str,
    letter: Letter[M],
    *which: ColumnElement[bool],
) -> bool:
    """Send a mail and return True; False when another worker holds it, it is not due, is none of those that `which`
    narrows them to, or the lease was lost. The outcome is in its row. `letter` may raise NotTrueAnyMore: then nothing
    is sent, which is no failure."""
    this = (kind.model.id == mail_id, *_is_due(kind, context.clock), *which)
    claim = context.commit(lambda: leases.claim(kind, context.clock, *this))
    return claim is not None and perform(context, claim, lambda: _send_claimed(context, mailer, claim, letter))


def _send_claimed(context: WorkContext, mailer: Mailer, claim: Claim[M], letter: Letter[M]) -> None:
    """Send the mail of a claim. No transaction is open while the mail server is called. Raises LeaseLost."""
    try:
        mail = letter(db.session.get_one(claim.kind.model, claim.key))
    except NotTrueAnyMore as why:
        reason = str(why)
        context.commit(lambda: leases.finish(context.clock, claim, error=reason))
        return
    read_afresh()
    try:
        mailer.send(mail)
    except MailNotSent as error:
        reason = str(error)
        context.commit(lambda: _try_later(context.clock, claim, reason))
    else:
        context.commit(lambda: leases.finish(context.clock, claim, done=1, error=None))


def _try_later(clock: Clock, claim: Claim[Any], reason: str) -> None:
    row = leases.held(claim)
    pause = TRIED_AGAIN_AFTER[min(row.attempts, len(TRIED_AGAIN_AFTER)) - 1]
    row.state, row.lease_until, row.error, row.next_try_at = State.WAITING.value, None, reason, clock.now() + pause


def _is_due(kind: WorkKind[M], clock: Clock) -> tuple[ColumnElement[bool], ...]:
    return leases.is_free(kind, clock.now()), kind.model.next_try_at <= clock.now()
