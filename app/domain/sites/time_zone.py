"""The time zone of a site's days."""

from __future__ import annotations

from sqlalchemy import select

from app.domain.shared.problems import NotFound
from app.domain.sites.models import Site
from app.extensions import db


def time_zone_of(site_id: int) -> str:
    """An IANA name. Raises NotFound."""
    zone = db.session.scalar(select(Site.time_zone).where(Site.id == site_id))
    if zone is None:
        raise NotFound("There is no such site.")
    return zone
