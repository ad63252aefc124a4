"""Mails with a link by which a user sets a password, and what their links do. A link works once, for an hour after a
forgotten password and for seven days after an invitation: setting a password raises the version that it names."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import select

from app.domain.shared.author import Author, Origin
from app.domain.shared.clock import Clock
from app.domain.shared.problems import NotFound
from app.domain.shared.text import one_line
from app.domain.sites import accounts, activity, throttle
from app.domain.sites.models import AccountMail, Site, User
from app.domain.work import mailing
from app.domain.work.context import WorkContext
from app.domain.work.mail_layout import Frame, button_html, html_of, paragraph_html, text_of
from app.domain.work.mailing import Mail, Mailer, NotTrueAnyMore
from app.domain.work.models import WorkRequested, requested_now
from app.events import publish
from app.extensions import db

AT_SIGN_IN = "Sign-in page"  # Who requests a link is not known.
BUTTON = "#1f4f8a"
# Mails about a forgotten password to one address, whoever requests them.
RESET_LIMITS = ((3, timedelta(hours=1)), (8, timedelta(days=1)))
LINK_IS_OVER = "This link was used, replaced by a newer one, or has expired."


class AccountMailKind(StrEnum):
    """The kinds of mails; each has links of its own."""

    RESET = "reset"
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True)
class AccountLink:
    """What a link names: a user, as of one version of the user's sessions."""

    user_id: int
    session_version: int


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a mail; `{shop}` stands for the name of the shop."""

    subject: str
    opening: str
    button: str
    foot: str
    holds: timedelta


WORDINGS = {
    AccountMailKind.RESET: Wording(
        "Set a new password for {shop}",
        "Set a new password for {shop} with the link below. It works once, for an hour.",
        "Set a new password",
        "If you did not request this, ignore this email: your password stays as it is.",
        timedelta(hours=1),
    ),
    AccountMailKind.INVITATION: Wording(
        "You are invited to {shop}",
        "You can now work on {shop}. Choose your name and password with the link below. It works once, for seven days.",
        "Accept the invitation",
        "If you do not know this shop, ignore this email.",
        timedelta(days=7),
    ),
}
LinkPath = Callable[[AccountMailKind, AccountLink, datetime], str]  # The path of a link, from the time of its request.

ACCOUNT_MAIL = mailing.mail_kind(
    "account-mail", AccountMail, "The mail server did not take the mail within three days."
)


def request_reset(clock: Clock, key: bytes, site_id: int, email: str) -> None:
    """Request the mail by which a user with this address sets a new password, where there is one who can sign in. The
    caller cannot know whether there is, nor whether the address got its most mails of an hour or a day, counted by a
    hash under `key`. Call it in a transaction."""
    email = accounts.normal_email(email)[:254]
    digest = hmac.digest(key, email.encode(), "sha256").hex()
    is_over_limit = throttle.count_within(clock, f"reset-mail:{digest}", *RESET_LIMITS) > 0
    user = accounts.find_user(email)
    if is_over_limit or user is None or not user.enabled or user.password_hash is None:
        return
    reachable = [site.id for site in accounts.reachable_sites(user.id)]
    if not reachable:
        return
    author = Author(site_id if site_id in reachable else reachable[0], AT_SIGN_IN, clock, Origin.ADMIN)
    if request_mail(author, user, AccountMailKind.RESET):
        summary = f"Requested a link to set a new password for {user.display_name}"
        activity.record(author, "user.reset_request", ("user", str(user.id)), summary)


def request_mail(author: Author, user: User, kind: AccountMailKind) -> AccountMail | None:
    """Request the mail with a link. Return None for an address that not every mail server takes. Call it in a
    transaction."""
    if not user.email.isascii():
        return None
    mail = AccountMail(
        **requested_now(author),
        user_id=user.id,
        kind=kind.value,
        session_version=user.session_version,
        email=user.email,
        next_try_at=author.now(),
    )
    db.session.add(mail)
    db.session.flush()
    publish(WorkRequested(ACCOUNT_MAIL.name, mail.id))
    return mail


def user_of_link(link: AccountLink | None, is_used: bool = False) -> User:
    """Return the user whose password a link sets; where it `is_used`, locked until the end of the transaction, so that
    it works once. Raises NotFound for a link that works no more."""
    if link is None:
        raise NotFound(LINK_IS_OVER)
    query = select(User).where(User.id == link.user_id).execution_options(populate_existing=True)
    user = db.session.scalar(query.with_for_update() if is_used else query)
    if user is None or not user.enabled or user.session_version != link.session_version:
        raise NotFound(LINK_IS_OVER)
    return user


def reset_password(clock: Clock, memory_kib: int, site_id: int, link: AccountLink | None, password: str) -> User:
    """Set the password that a user chose by a link, which ends all the user's sessions and the link. Call it in a
    transaction. Raises NotFound, Invalid."""
    user = user_of_link(link, is_used=True)
    accounts.set_password(memory_kib, user, password)
    author = Author(site_id, user.display_name, clock, Origin.ADMIN)
    activity.record(author, "user.password", ("user", str(user.id)), "Set their own new password by a link in an email")
    return user


def due(clock: Clock) -> Sequence[str]:
    """Return the ids of the mails that no worker has claimed and that may be tried now."""
    return mailing.due(ACCOUNT_MAIL, clock)


def send(context: WorkContext, mailer: Mailer, mail_id: str, link_path: LinkPath) -> bool:
    """Send a mail, unless another worker does; return False where it was not this caller's to send. The row holds the
    outcome."""
    return mailing.send(context, mailer, ACCOUNT_MAIL, mail_id, lambda row: _mail_of_row(row, context, link_path))


def _mail_of_row(row: AccountMail, context: WorkContext, link_path: LinkPath) -> Mail:
    """Return the mail of a row. Raises NotFound where the address was erased meanwhile, NotTrueAnyMore."""
    if not row.email:
        raise NotFound("The email address is not kept any more.")
    kind, user = AccountMailKind(row.kind), db.session.get_one(User, row.user_id)
    words = WORDINGS[kind]
    if (
        user.session_version != row.session_version
        or not user.enabled
        or context.clock.now() >= row.created_at + words.holds
    ):
        raise NotTrueAnyMore("Its link would not have worked any more.")
    site = db.session.get_one(Site, row.site_id)
    home = context.address_of(site.primary_host)
    address = f"{home}{link_path(kind, AccountLink(user.id, row.session_version), row.created_at)}"
    subject, opening = words.subject.format(shop=site.name), words.opening.format(shop=site.name)
    body = paragraph_html(opening) + button_html(address, words.button, BUTTON)
    html = html_of(subject, subject, body, Frame(site.name, f"{home}/", foot=words.foot, preview=opening))
    return Mail(row.email, one_line(subject), text_of(subject, opening, address, words.foot), html, row.id)
