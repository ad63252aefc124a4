"""The payment processor's accounts and the sites to which they belong."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from app.domain.pos.models import PosLocation, PosTransaction
from app.domain.sites.models import Setting
from app.extensions import db

ACCOUNT_SETTING = "posProcessorAccountId"
OWN_ACCOUNT = ""  # The platform's own, which every site without a setting uses.


def site_of(account_id: str) -> int | None:
    """Return the site that an account belongs to: by the site's setting, or by a location. None for an account of
    no site, and for the platform's own, which belongs to all."""
    if account_id == OWN_ACCOUNT:
        return None
    settings = select(Setting.site_id, Setting.value).where(Setting.key == ACCOUNT_SETTING).order_by(Setting.site_id)
    for site_id, value in db.session.execute(settings):
        if value == account_id:
            return int(site_id)
    located = select(PosLocation.site_id).where(PosLocation.processor_account_id == account_id)
    used = select(PosTransaction.site_id).where(PosTransaction.processor_account_id == account_id)
    return db.session.scalar(located.limit(1)) or db.session.scalar(used.limit(1))


def accounts_of(site_id: int, processor: str, since: datetime, until: datetime) -> list[str]:
    """Return the accounts, sorted, that payments of the site were made on between two times, and those of its earlier
    or later payments that the site still uses."""
    of_site = PosTransaction.site_id == site_id, PosTransaction.processor == processor
    within = PosTransaction.created_at >= since, PosTransaction.created_at < until
    used = select(PosTransaction.processor_account_id).where(*of_site).distinct()
    lately = set(db.session.scalars(used.where(*within)))
    return sorted(lately | (set(db.session.scalars(used)) & _current_accounts(site_id)))


def _current_accounts(site_id: int) -> set[str]:
    setting = select(Setting.value).where(Setting.site_id == site_id, Setting.key == ACCOUNT_SETTING)
    located = select(PosLocation.processor_account_id).where(PosLocation.site_id == site_id)
    of_locations = {account_id for account_id in db.session.scalars(located) if account_id}
    return {str(db.session.scalar(setting) or OWN_ACCOUNT)} | of_locations
