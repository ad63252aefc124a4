"""Erasing a person, and erasing again those whom a restored backup brought back. Call these in a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Delete, Update, delete, func, select, update

from app.domain.bundles.folder import BundleFolder
from app.domain.bundles.models import BundleRun
from app.domain.orders.models import Order
from app.domain.personal_data.erasure_list import ErasureList, Erasures, KnownBy, line_of
from app.domain.personal_data.holdings import ERASED, HOLDINGS, Holding
from app.domain.personal_data.obstacles import Obstacle, obstacles
from app.domain.personal_data.people import Person, person_at, person_of
from app.domain.personal_data.traces import replace_everywhere, replace_in_own_records
from app.domain.shared.author import Author
from app.domain.shared.mailing import Mailer
from app.domain.shared.problems import Conflict, Forbidden, Invalid, Problem
from app.domain.sites import audit, staff
from app.domain.sites.models import RoleGrant, User
from app.domain.sites.roles import Role
from app.domain.sites.sign_in_sessions import SignedIn
from app.extensions import db

SECOND = timedelta(seconds=1)  # The list's times are whole seconds.


@dataclass(frozen=True, slots=True)
class OutsideStores:
    """What outside the database takes part: the list of erasures with the secret of its hashes, kept mails, and the
    files of exports and imports."""

    key: bytes
    list: ErasureList
    mailer: Mailer
    bundles: BundleFolder


@dataclass(frozen=True, slots=True)
class Erasure:
    """`records` are how many of each holding were erased, by its title; `traces` how many others named the person."""

    records: dict[str, int]
    traces: int
    mails: int

    @property
    def summary(self) -> str:
        parts = [f"{title}: {number:,}" for title, number in self.records.items()]
        return "; ".join([*parts, f"Other records that named them: {self.traces:,}", f"Mail files: {self.mails:,}"])


def check_may_erase(actor: SignedIn, person: Person) -> None:
    """Raises Forbidden where the actor may not close the person's account."""
    if person.account is None:
        return
    if not _has_role(actor.site_id, person.account.user_id):
        if person.account.site_ids - {actor.site_id} and Role.SUPERADMIN not in actor.roles:
            raise Forbidden("They also work for another shop, so only a superadmin can erase them.")
        return
    rights = staff.member(actor, person.account.user_id).rights
    if rights.is_oneself:
        raise Forbidden("This is you: another admin has to erase you.")
    if not rights.may_change_account:
        raise Forbidden(rights.why_not or "Your role does not allow you to erase this user.")


def erase(author: Author, person: Person, stores: OutsideStores) -> Erasure:
    """For good. Raises Invalid with what is still open, and Conflict where the list cannot be written, since a backup
    would bring the person back."""
    if open_things := obstacles(person):
        raise Invalid([_problem(obstacle) for obstacle in open_things])
    traces = replace_in_own_records(person) + replace_everywhere(person)
    mails = stores.mailer.forget(person.email) if person.email else 0
    _drop_bundles(author, person, stores)
    counted = {holding.title: _erase(holding, person) for holding in HOLDINGS if not holding.stays}
    db.session.expire_all()
    erasure = Erasure({title: number for title, number in counted.items() if number}, traces, mails)
    name = person.account.pseudonym if person.account else "a person"
    subject = str(person.account.user_id) if person.account else "erased"
    audit.record(author, "personal_data.erase", ("person", subject), f"Erased {name}. {erasure.summary}")
    _note(author, person, stores)
    return erasure


def brought_back(stores: OutsideStores, author: Author) -> Iterator[Person]:
    """Those of the author's site who were erased and are there again; what came after their erasure is not meant.
    Raises OSError where the list cannot be read."""
    erased = Erasures.read(stores.key, stores.list.lines())
    for email in _addresses(author.site_id):
        at = erased.erased_at(author.site_id, KnownBy.EMAIL, email)
        person = at and person_at(author.site_id, email, at + SECOND)
        if person:
            yield person
    nameless = select(Order).where(
        Order.site_id == author.site_id, Order.contact_email == "", Order.contact_name.not_in(("", ERASED))
    )
    for order in db.session.scalars(nameless).all():
        at = erased.erased_at(author.site_id, KnownBy.ORDER, order.id)
        if at:
            yield person_of(order, at + SECOND)


def _drop_bundles(author: Author, person: Person, stores: OutsideStores) -> None:
    """Exported bundles name the users of a shop."""
    if person.account is None:
        return
    kept = select(BundleRun).where(BundleRun.site_id.in_(person.account.site_ids), BundleRun.file.is_not(None))
    for run in db.session.scalars(kept):
        stores.bundles.drop(run.file)
        run.kept_until = author.now()


def _addresses(site_id: int) -> list[str]:
    of_orders = select(func.lower(Order.contact_email)).where(Order.site_id == site_id, Order.contact_email != "")
    addresses = {*db.session.scalars(of_orders.distinct()), *db.session.scalars(select(User.email))}
    return sorted(addresses)


def _erase(holding: Holding, person: Person) -> int:
    which = holding.which(person)
    statement: Delete | Update = delete(holding.model).where(which)
    if holding.erased is not None:
        count = db.session.scalar(select(func.count()).select_from(holding.model).where(which)) or 0
        if not count:
            return 0
        statement = update(holding.model).where(which).values(holding.erased(person))
    result = db.session.execute(statement, execution_options={"synchronize_session": False})
    return result.rowcount  # type: ignore[attr-defined, no-any-return]


def _note(author: Author, person: Person, stores: OutsideStores) -> None:
    kind, value = (KnownBy.EMAIL, person.email) if person.email else (KnownBy.ORDER, person.order_id or "")
    try:
        stores.list.append(line_of(stores.key, person.site_id, kind, value, author.now()))
    except OSError as error:
        raise Conflict(
            f"Nothing was erased: the list of erasures could not be written ({error.strerror}), and without it a "
            "restored backup would bring the person back."
        ) from error


def _problem(obstacle: Obstacle) -> Problem:
    return Problem("something_open", obstacle.reason, "#/who")


def _has_role(site_id: int, user_id: int) -> bool:
    held = select(RoleGrant.id).where(RoleGrant.site_id == site_id, RoleGrant.user_id == user_id).limit(1)
    return db.session.scalar(held) is not None
