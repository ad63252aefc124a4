"""Which accounts of the payment processor belong to which site."""

from __future__ import annotations

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


def accounts_of(site_id: int, processor: str) -> list[str]:
    """Return every account that payments of the site were made on, in order."""
    query = (
        select(PosTransaction.processor_account_id)
        .where(PosTransaction.site_id == site_id, PosTransaction.processor == processor)
        .distinct()
    )
    return sorted(db.session.scalars(query))
