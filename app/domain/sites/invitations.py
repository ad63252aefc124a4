"""Users who are invited by email: added with roles and without a password, which they choose with their name by the
link in the mail."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from app.domain.shared.author import Author, Origin
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Forbidden, Invalid, TooManyRequests
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import account_mails, accounts, activity, staff, throttle
from app.domain.sites.account_mails import AccountLink, AccountMailKind
from app.domain.sites.accounts import Role
from app.domain.sites.models import User
from app.domain.sites.sign_in_sessions import SignedIn
from app.extensions import db

MAILS = (5, timedelta(hours=1))  # To one user.


def invite_by_email(clock: Clock, actor: SignedIn, email: str, roles: Collection[str]) -> tuple[User, bool]:
    """Add a user with roles on the actor's shop and mail an invitation; return the user, and whether they were known
    before. Who is known is added by a superadmin alone, keeps name and password, and gets no mail. Raises Invalid."""
    email = accounts.normal_email(email)
    known = accounts.find_user(email)
    problems = staff.role_problems(roles, actor.roles, some=True)
    if known is None:
        problems += accounts.user_problems(email, _first_name(email))
    if problems:
        raise Invalid(problems)
    if known is not None and not staff.may_adopt(actor.roles):
        raise Invalid.one("address_not_addable", staff.NOT_ADDABLE, "#/email")
    user = known or accounts.create_user(clock, 0, email, _first_name(email))
    for role in roles:
        accounts.grant(user, actor.site_id, Role(role))
    author = _author(clock, actor)
    if known is None:
        _mail(author, user)
    summary = f"{'Added' if known else 'Invited'} the user {user.display_name}"
    activity.record(author, "user.add", ("user", str(user.id)), summary, after={"roles": sorted(roles)})
    return user, known is not None


def resend(clock: Clock, actor: SignedIn, user_id: int) -> User:
    """Mail the invitation again; the link of the one before stops working. Raises NotFound, Forbidden, Conflict,
    Invalid, TooManyRequests."""
    user, author = _invited(actor, user_id), _author(clock, actor)
    user.session_version += 1
    _mail(author, user)
    activity.record(author, "user.invite", ("user", str(user.id)), f"Invited the user {user.display_name} again")
    return user


def revoke(clock: Clock, actor: SignedIn, user_id: int) -> str:
    """Take an invitation back: the link stops working, and the user is removed, or keeps only the roles of other shops.
    Return the address. Raises NotFound, Forbidden, Conflict."""
    user = _invited(actor, user_id)
    email = user.email
    summary = f"Revoked the invitation of the user {user.display_name}"
    activity.record(_author(clock, actor), "user.revoke", ("user", str(user.id)), summary)
    user.session_version += 1
    user.grants = [grant for grant in user.grants if grant.site_id != actor.site_id]
    if not user.grants:
        db.session.delete(user)
    db.session.flush()
    return email


def accept(clock: Clock, memory_kib: int, site_id: int, link: AccountLink | None, name: str, password: str) -> User:
    """Set the name and password that an invited user chose, which ends the link. Call it in a transaction. Raises
    NotFound, and Invalid with every problem."""
    user = account_mails.user_of_link(link, is_used=True)
    if problems := [
        *line_problems(name, "The name", 100, "#/displayName", required=True),
        *accounts.password_problems(password),
    ]:
        raise Invalid(problems)
    user.display_name = one_line(name)
    accounts.set_password(memory_kib, user, password)
    author = Author(site_id, user.display_name, clock, Origin.ADMIN)
    activity.record(author, "user.accept", ("user", str(user.id)), "Accepted the invitation")
    return user


def _invited(actor: SignedIn, user_id: int) -> User:
    """Return a user who has not accepted yet. Raises NotFound, Forbidden, Conflict."""
    found = staff.member(actor, user_id)
    if not found.rights.may_change_account:
        raise Forbidden(found.rights.why_not or "You cannot change this user.")
    user = db.session.get_one(User, user_id, with_for_update=True, populate_existing=True)
    if user.password_hash is not None:
        raise Conflict(f"{user.display_name} has a password already: there is no invitation to accept.")
    return user


def _mail(author: Author, user: User) -> None:
    """Request the mail. Raises TooManyRequests, Invalid."""
    if seconds := throttle.count_within(author.clock, f"invitation-mail:{user.id}", MAILS):
        raise TooManyRequests(f"Too many invitations. Try again in {throttle.spoken(seconds)}.", seconds)
    if account_mails.request_mail(author, user, AccountMailKind.INVITATION) is None:
        raise Invalid.one("invalid_email", "Not every mail server takes this address. Add the user instead.", "#/email")


def _first_name(email: str) -> str:
    """Return what an invited user is called until they say so: what stands before the @."""
    return one_line(email.partition("@")[0]) or email


def _author(clock: Clock, actor: SignedIn) -> Author:
    return Author(actor.site_id, actor.display_name, clock, Origin.ADMIN)
