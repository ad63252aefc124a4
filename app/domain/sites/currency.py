"""The currency in which a site sells."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.shared.problems import NotFound
from app.domain.sites.models import Site
from app.extensions import db


def currency_of(site_id: int) -> str:
    """An ISO 4217 code in lower case. Raises NotFound."""
    currency = db.session.scalar(select(Site.currency).where(Site.id == site_id))
    if currency is None:
        raise NotFound("There is no such site.")
    return currency
