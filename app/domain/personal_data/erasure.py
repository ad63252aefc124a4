"""Erasing a person: the obstacles to it, each with what to do about it; and the erasure, which is noted in the list of
erasures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import Delete, Update, and_, delete, func, or_, select, update

from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.import_task import Transaction
from app.domain.bundles.models import BundleRun
from app.domain.bundles.runs import runs_of
from app.domain.orders.handover import handover_of
from app.domain.orders.models import OPEN, SUBMITTED, Order, OrderMail
from app.domain.personal_data.erasure_list import ErasureList, Erasures, KnownBy, line_of
from app.domain.personal_data.holdings import ERASED, HOLDINGS, Holding
from app.domain.personal_data.people import Person, person_at
from app.domain.personal_data.traces import replace_everywhere, replace_in_own_records
from app.domain.pos.models import LedgerDifference, PosAgent, PosReceiptMail, PosRefund, PosSession, PosTransaction
from app.domain.pos.states import OPEN_STATUSES
from app.domain.shared.author import Author
from app.domain.shared.clock import format_moment
from app.domain.shared.problems import Conflict, Forbidden, Invalid, Problem
from app.domain.sites import activity, staff
from app.domain.sites.accounts import Role
from app.domain.sites.models import RoleGrant, User
from app.domain.sites.sign_in_sessions import SignedIn
from app.domain.sites.sites import time_zone_of
from app.domain.work.mailing import Mailer
from app.domain.work.models import UNFINISHED
from app.extensions import db

SECOND = timedelta(seconds=1)  # The list's times are whole seconds.
MOST_OBSTACLES = 20  # Of a kind; others show once these are gone.
UNSETTLED_REFUNDS = ("PENDING", "UNKNOWN")


@dataclass(frozen=True, slots=True)
class OutsideStores:
    """The stores outside the database that take part: the list of erasures with the secret of its hashes, kept mails,
    and the files of exports and imports."""

    key: bytes
    list: ErasureList
    mailer: Mailer
    bundles: BundleFolder


@dataclass(frozen=True, slots=True)
class Erasure:
    """The outcome of an erasure. `records` counts the erased records of each holding, by its title; `traces` counts the
    other records that named the person. `mails` counts the removed mail files, and `failure` says why some could not be
    removed."""

    records: dict[str, int]
    traces: int
    mails: int = 0
    failure: str = ""

    @property
    def of_records(self) -> str:
        parts = [f"{title}: {number:,}" for title, number in self.records.items()]
        return "; ".join([*parts, f"Other records that named them: {self.traces:,}"])

    @property
    def summary(self) -> str:
        parts = [self.of_records, f"Mail files: {self.mails:,}"]
        if self.failure:
            parts.append(f"Some files could not be removed ({self.failure}). Remove them on the server")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An obstacle to an erasure. `order_id` or `payment_id` is the record that it is about, where the admin has a page
    of it."""

    reason: str
    order_id: str | None = None
    payment_id: str | None = None


def obstacles(person: Person) -> list[Obstacle]:
    return [
        *_unfinished_orders(person),
        *_unsettled_payments(person),
        *_unsent_receipts(person),
        *_unsent_order_mails(person),
        *_unfinished_work(person),
    ]


def _unfinished_orders(person: Person) -> Iterator[Obstacle]:
    is_open = or_(
        Order.status == SUBMITTED,
        and_(Order.status == OPEN, or_(Order.reserved_amount > 0, Order.paid_amount > 0)),
    )
    columns = Order.id, Order.number, Order.status, Order.delivery_method
    query = select(*columns).where(person.orders, is_open).order_by(Order.created_at)
    for order_id, number, status, method in db.session.execute(query.limit(MOST_OBSTACLES)):
        if status == SUBMITTED:
            waiting = handover_of(bool(method)).waiting
            yield Obstacle(f"Order {number} is {waiting}: hand it over or cancel it first.", order_id)
        else:
            yield Obstacle("A basket is paid or being paid but not submitted: submit or refund it first.", order_id)


def _unsettled_payments(person: Person) -> Iterator[Obstacle]:
    mine = person.payments
    if person.account:
        agents = select(PosAgent.id).where(PosAgent.user_id == person.account.user_id)
        mine = or_(mine, PosTransaction.agent_id.in_(agents))
    refunded = select(PosRefund.transaction_id).where(PosRefund.status.in_(UNSETTLED_REFUNDS))
    differing = select(LedgerDifference.transaction_id).where(
        LedgerDifference.settled_at.is_(None), LedgerDifference.transaction_id.is_not(None)
    )
    unsettled = or_(
        PosTransaction.status.in_(OPEN_STATUSES),
        PosTransaction.anomaly.is_not(None),
        PosTransaction.id.in_(refunded),
        PosTransaction.id.in_(differing),
    )
    query = select(PosTransaction.id, PosTransaction.created_at).where(mine, unsettled)
    for payment_id, at in db.session.execute(query.order_by(PosTransaction.created_at).limit(MOST_OBSTACLES)):
        reason = f"A payment of {at:%Y-%m-%d} is not settled: wait until it is, or settle it."
        yield Obstacle(reason, payment_id=payment_id)


def _unsent_receipts(person: Person) -> Iterator[Obstacle]:
    if not person.email:
        return
    waiting = select(PosReceiptMail.transaction_id).where(
        PosReceiptMail.transaction_id.in_(person.payment_ids), PosReceiptMail.state.in_(UNFINISHED)
    )
    for payment_id in db.session.scalars(waiting.limit(MOST_OBSTACLES)):
        yield Obstacle(
            "A receipt is being emailed: wait until it is sent or has failed, at most three days.", None, payment_id
        )


def _unsent_order_mails(person: Person) -> Iterator[Obstacle]:
    waiting = select(OrderMail.order_id).where(
        OrderMail.order_id.in_(person.order_ids), OrderMail.state.in_(UNFINISHED)
    )
    for order_id in db.session.scalars(waiting.limit(MOST_OBSTACLES)):
        yield Obstacle(
            "An email about an order is being sent: wait until it is sent or has failed, at most three days.", order_id
        )


def _unfinished_work(person: Person) -> Iterator[Obstacle]:
    if person.account is None:
        return
    bundles = select(BundleRun.action).where(runs_of(person.account.site_ids), BundleRun.state.in_(UNFINISHED))
    for action in db.session.scalars(bundles.limit(MOST_OBSTACLES)):
        yield Obstacle(f"A bundle {action} that may contain the user is running: wait until it is done, or cancel it.")
    working = select(PosSession.started_at, PosSession.site_id).where(
        PosSession.user_id == person.account.user_id, PosSession.ended_at.is_(None)
    )
    for started_at, site_id in db.session.execute(working.limit(MOST_OBSTACLES)):
        since = format_moment(started_at, time_zone_of(site_id))
        yield Obstacle(f"They have been signed in to a till since {since}: close that session first.")


def check_may_erase(actor: SignedIn, person: Person) -> None:
    """Check that the actor may close the person's account. Raises Forbidden."""
    if person.account is None:
        return
    if not _has_role(actor.site_id, person.account.user_id):
        if person.account.site_ids - {actor.site_id} and Role.SUPERADMIN not in actor.roles:
            raise Forbidden("They also work for another shop, so only a superadmin can erase them.")
        return
    rights = staff.member(actor, person.account.user_id).rights
    if rights.is_oneself:
        raise Forbidden("You cannot erase yourself. Ask another admin.")
    if not rights.may_change_account:
        raise Forbidden(rights.why_not or "Your role does not allow you to erase this user.")


def erase(transaction: Transaction, author: Author, person: Person, stores: OutsideStores) -> Erasure:
    """Erase a person for good. Files, which no rollback brings back, are removed after the commit. Raises Invalid with
    what is still open, and Conflict where the list cannot be written, since a backup would bring the person back."""
    with transaction():
        erasure, files = _erase_records(author, person, stores)
    return _remove_files(erasure, person, files, stores)


def _erase_records(author: Author, person: Person, stores: OutsideStores) -> tuple[Erasure, list[str]]:
    """Erase a person's records in the database; return the outcome, and the files of bundles that must be removed, too.
    Raises Invalid, Conflict."""
    if open_things := obstacles(person):
        raise Invalid([Problem("something_open", obstacle.reason, "#/who") for obstacle in open_things])
    traces = replace_in_own_records(person) + replace_everywhere(person)
    files = _end_bundles(author, person)
    counted = {holding.title: _erase_holding(holding, person) for holding in HOLDINGS if not holding.stays}
    db.session.expire_all()
    erasure = Erasure({title: number for title, number in counted.items() if number}, traces)
    name = person.account.pseudonym if person.account else "a person"
    subject = str(person.account.user_id) if person.account else "erased"
    activity.record(author, "personal_data.erase", ("person", subject), f"Erased {name}. {erasure.of_records}")
    _note_in_list(author, person, stores)
    return erasure, files


def _remove_files(erasure: Erasure, person: Person, files: list[str], stores: OutsideStores) -> Erasure:
    try:
        for file in files:
            stores.bundles.drop(file)
        return replace(erasure, mails=stores.mailer.forget(person.email) if person.email else 0)
    except OSError as error:
        return replace(erasure, failure=error.strerror or "unknown error")


def brought_back(stores: OutsideStores, author: Author) -> Iterator[Person]:
    """Yield the persons of the author's site who were erased and are there again, as after a restore; what came after
    their erasure is not meant. Raises OSError where the list cannot be read."""
    erased = Erasures.read(stores.key, stores.list.lines())
    for email in _addresses_of(author.site_id):
        at = erased.erased_at(author.site_id, KnownBy.EMAIL, email)
        person = at and person_at(author.site_id, email, at + SECOND)
        if person:
            yield person
    for order_id in _nameless_orders(author.site_id):
        at = erased.erased_at(author.site_id, KnownBy.ORDER, order_id)
        if at:
            yield Person(author.site_id, None, order_id, at + SECOND)


def _nameless_orders(site_id: int) -> Sequence[str]:
    """Return the ids of orders that have no address and still name a person. Baskets, which are many, name none."""
    is_nameless = (Order.contact_email == "") & Order.contact_name.not_in(("", ERASED))
    return db.session.scalars(select(Order.id).where(Order.site_id == site_id, is_nameless)).all()


def _end_bundles(author: Author, person: Person) -> list[str]:
    """End the retention of every file of an export, import or transfer of the person's shops, since it names their
    users; return the files."""
    if person.account is None:
        return []
    kept = select(BundleRun).where(runs_of(person.account.site_ids), BundleRun.file.is_not(None))
    ended = db.session.scalars(kept).all()
    for run in ended:
        run.kept_until = author.now()
    return [run.file for run in ended if run.file]


def _addresses_of(site_id: int) -> list[str]:
    of_orders = select(Order.contact_email).where(Order.site_id == site_id, Order.contact_email != "").distinct()
    addresses = {email.lower() for email in db.session.scalars(of_orders)}
    return sorted(addresses.union(db.session.scalars(select(User.email))))


def _erase_holding(holding: Holding, person: Person) -> int:
    which = holding.which(person)
    statement: Delete | Update = delete(holding.model).where(which)
    if holding.erased is not None:
        count = db.session.scalar(select(func.count()).select_from(holding.model).where(which)) or 0
        if not count:
            return 0
        statement = update(holding.model).where(which).values(holding.erased(person))
    result = db.session.execute(statement, execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined, no-any-return]


def _note_in_list(author: Author, person: Person, stores: OutsideStores) -> None:
    kind, value = (KnownBy.EMAIL, person.email) if person.email else (KnownBy.ORDER, person.order_id or "")
    try:
        stores.list.append(line_of(stores.key, person.site_id, kind, value, author.now()))
    except OSError as error:
        raise Conflict(
            f"Nothing was erased: the list of erasures could not be written ({error.strerror}), and without it a "
            "restored backup would bring the person back."
        ) from error


def _has_role(site_id: int, user_id: int) -> bool:
    held = select(RoleGrant.id).where(RoleGrant.site_id == site_id, RoleGrant.user_id == user_id).limit(1)
    return db.session.scalar(held) is not None
