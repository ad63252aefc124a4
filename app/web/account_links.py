"""Links by which a user sets a password, one purpose for each kind of mail (app/domain/sites/account_mails.py)."""

from __future__ import annotations

from datetime import datetime

from app.domain.sites.account_mails import AccountLink, AccountMailKind
from app.web.tokens import INVITATION, PASSWORD_RESET, current_signer

PURPOSES = {AccountMailKind.RESET: PASSWORD_RESET, AccountMailKind.INVITATION: INVITATION}
PATHS = {AccountMailKind.RESET: "/admin/new-password/", AccountMailKind.INVITATION: "/admin/invitation/"}


def account_link_path(kind: AccountMailKind, link: AccountLink, requested_at: datetime) -> str:
    """Return the path of a link, which holds from the request on, however late its mail is sent."""
    text = current_signer().sign(PURPOSES[kind], [link.user_id, link.session_version], requested_at)
    return f"{PATHS[kind]}{text}"


def read_account_link(kind: AccountMailKind, token: str, now: datetime) -> AccountLink | None:
    """Return what a token of the kind names; None for any other text, and once it has expired."""
    read = current_signer().read(PURPOSES[kind], token, now)
    return AccountLink(*read) if read else None
