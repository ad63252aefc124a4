"""The person that a request is about: found by email address or by the number of an order, within a site."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.orders import basket
from app.domain.orders.models import Order
from app.domain.pos.models import PosAgent, PosReceiptMail, PosTransaction
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites.accounts import EMAIL, normal_email
from app.domain.sites.models import AuditEntry, RoleGrant, User
from app.extensions import db

LONGEST_QUERY = 254
LARGEST_NUMBER = 2_147_483_647
_NAMES_OF = {"user.add": "user", "user.change": "user", "pos_agent.save": "pos_agent", "pos_agent.enable": "pos_agent"}


@dataclass(frozen=True, slots=True)
class Account:
    """A user's account as far as it concerns the site. `names` are all present and past names that no other user has,
    `shared_names` those that another user has, too. `site_ids` are the sites where they hold a role or are an agent."""

    user_id: int
    names: frozenset[str]
    shared_names: frozenset[str]
    site_ids: frozenset[int]

    @property
    def pseudonym(self) -> str:
        return f"Erased user {self.user_id}"


@dataclass(frozen=True, slots=True)
class Person:
    """A person, identified by `email`, or, where an order has no address, by that order alone. Orders and accounts made
    after `known_until` are left out."""

    site_id: int
    email: str | None
    order_id: str | None
    known_until: datetime
    account: Account | None = field(default=None)

    @property
    def orders(self) -> ColumnElement[bool]:
        """The condition for orders and baskets of the person."""
        mine = has_address(Order.contact_email, self.email) if self.email else Order.id == self.order_id
        return and_(Order.site_id == self.site_id, mine, Order.created_at <= self.known_until)

    @property
    def order_ids(self) -> Select[Any]:
        return select(Order.id).where(self.orders)

    @property
    def payments(self) -> ColumnElement[bool]:
        """The condition for payments of the person's orders, or with a receipt mailed to the person."""
        mine: ColumnElement[bool] = PosTransaction.order_id.in_(self.order_ids)
        if self.email:
            sent = select(PosReceiptMail.transaction_id).where(
                PosReceiptMail.site_id == self.site_id, has_address(PosReceiptMail.email, self.email)
            )
            mine = or_(mine, PosTransaction.id.in_(sent))
        return and_(PosTransaction.site_id == self.site_id, mine)

    @property
    def payment_ids(self) -> Select[Any]:
        return select(PosTransaction.id).where(self.payments)


def find_person(clock: Clock, site_id: int, words: str) -> Person:
    """Return the person whom `words` name: an email address or an order's number. Raises Invalid for anything else, and
    NotFound where the site keeps nothing about such a person."""
    typed = words.strip()[: LONGEST_QUERY + 1]
    digits = typed.casefold().removeprefix("order").strip().removeprefix("#")
    if digits.isascii() and digits.isdigit() and len(digits) <= 10 and int(digits) <= LARGEST_NUMBER:
        return _person_of_order(clock, site_id, int(digits))
    if not EMAIL.fullmatch(typed) and not basket.CONTACT_EMAIL.fullmatch(typed):
        raise Invalid.one("invalid_person", "Enter an email address or an order number.", "#/who")
    person = person_at(site_id, typed, clock.now())
    if person is None:
        raise NotFound("This shop stores nothing under that address.")
    return person


def person_at(site_id: int, email: str, known_until: datetime) -> Person | None:
    """Return the person of an address; None where the site keeps nothing under it."""
    account = _account(site_id, normal_email(email), known_until)
    # Users are stored under folded addresses, in which "ß" is "ss"; those of orders the database only makes lower.
    email = normal_email(email) if account else email.strip().lower()
    person = Person(site_id, email, None, known_until, account)
    mails = select(PosReceiptMail.id).where(PosReceiptMail.site_id == site_id, has_address(PosReceiptMail.email, email))
    is_known = person.account or any(
        db.session.scalar(query.limit(1)) is not None for query in (person.order_ids, mails)
    )
    return person if is_known else None


def person_of(order: Order, known_until: datetime) -> Person:
    """Return the person of an order."""
    if order.contact_email:
        person = person_at(order.site_id, order.contact_email, known_until)
        if person is not None:
            return person
    return Person(order.site_id, None, order.id, known_until)


def _person_of_order(clock: Clock, site_id: int, number: int) -> Person:
    order = db.session.scalar(select(Order).where(Order.site_id == site_id, Order.number == number))
    if order is None:
        raise NotFound(f"This shop has no order {number}.")
    return person_of(order, clock.now())


def _account(site_id: int, email: str, known_until: datetime) -> Account | None:
    """Return the account of a person who works, or worked, for the site; one of another site only is not disclosed
    here."""
    user = db.session.scalar(select(User).where(User.email == email, User.created_at <= known_until))
    if user is None:
        return None
    site_ids = frozenset(
        site
        for model in (RoleGrant, PosAgent)
        for site in db.session.scalars(select(model.site_id).where(model.user_id == user.id))
    )
    if site_id not in site_ids:
        return None
    names = _names_of(user)
    shared = _names_of_others(user.id, names)
    return Account(user.id, names - shared, shared, site_ids)


def _names_of(user: User) -> frozenset[str]:
    """Return every name of the account and its agents, past ones included."""
    agents = db.session.execute(select(PosAgent.id, PosAgent.display_name).where(PosAgent.user_id == user.id)).all()
    names = {user.display_name, *(agent.display_name for agent in agents)}
    subjects = {("user", str(user.id)), *(("pos_agent", str(agent.id)) for agent in agents)}
    of_subjects = or_(*(and_(AuditEntry.subject_type == kind, AuditEntry.subject_id == id_) for kind, id_ in subjects))
    entries = db.session.execute(
        select(AuditEntry.before, AuditEntry.after).where(of_subjects, AuditEntry.action.in_(_NAMES_OF))
    )
    for entry in entries:
        names.update(
            side["displayName"] for side in entry if isinstance(side, dict) and isinstance(side.get("displayName"), str)
        )
    return frozenset(name for name in names if name)


def _names_of_others(user_id: int, names: Collection[str]) -> frozenset[str]:
    others = (
        select(User.display_name).where(User.id != user_id, User.display_name.in_(names)),
        select(PosAgent.display_name).where(PosAgent.user_id != user_id, PosAgent.display_name.in_(names)),
    )
    return frozenset(name for query in others for name in db.session.scalars(query))


def has_address(column: ColumnElement[Any] | InstrumentedAttribute[Any], email: str) -> ColumnElement[bool]:
    """Return the condition that a column holds an email address, which is given in lower case."""
    return func.lower(column).in_(spellings(email))


def spellings(text: str) -> list[str]:
    """Return the forms that lower() of any database gives to a text of lower case, however it is stored: its letters
    beyond ASCII all lower, or all upper. Those that are stored mixed are not found on SQLite."""
    return sorted({text, "".join(sign if sign.isascii() else sign.upper() for sign in text)})
