"""The processor's accounts that receive the money of sites. Sites share an account only where a superadmin allows it,
as for a merchant with two shops, since a site reads and compares all that its account holds."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.pos.models import PosLocation, PosTransaction
from app.domain.shared.problems import Problem
from app.domain.sites.models import Setting
from app.domain.sites.settings import SiteSettings
from app.extensions import db

ACCOUNT_SETTING = "posProcessorAccountId"


def account_of(own: str | None, settings: SiteSettings) -> str:
    """Return the account for payments at a location: `own` of the location, else the site's, else "", the platform's
    own."""
    return own or settings[ACCOUNT_SETTING] or ""


def account_problems(site_id: int, account_id: str | None, pointer: str) -> list[Problem]:
    """Return the problems of an account that is new to a site: no other site may use it, or have taken payments on
    it."""
    if not account_id or not _is_of_another(site_id, account_id):
        return []
    message = "Another shop uses this account. A superadmin may enter it, if the shops are of one merchant."
    return [Problem("account_taken", message, pointer)]


def _is_of_another(site_id: int, account_id: str) -> bool:
    settings = select(Setting.value).where(Setting.key == ACCOUNT_SETTING, Setting.site_id != site_id)
    if account_id in db.session.scalars(settings).all():
        return True
    located = PosLocation.site_id != site_id, PosLocation.processor_account_id == account_id
    used = PosTransaction.site_id != site_id, PosTransaction.processor_account_id == account_id
    of_others = select(PosLocation.id).where(*located), select(PosTransaction.id).where(*used)
    return any(db.session.scalar(query.limit(1)) is not None for query in of_others)
