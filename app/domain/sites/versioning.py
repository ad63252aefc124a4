"""Raises a site's `config_version` with every saved change of what the shop looks like."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import event, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.session import UOWTransaction

from app.domain.sites.models import ShopConfiguration, Site


def listen(session_factory: type[Session] | object) -> None:
    """Register on the application's sessions, once per factory."""
    if not event.contains(session_factory, "after_flush", _raise_versions):
        event.listen(session_factory, "after_flush", _raise_versions)


def touch(session: Session, site_ids: Iterable[int]) -> None:
    """For changes made in bulk, which the session does not see."""
    wanted = sorted(set(site_ids))
    if wanted:
        session.connection().execute(
            update(Site.__table__)  # type: ignore[arg-type]
            .where(Site.__table__.c.id.in_(wanted))
            .values(config_version=Site.__table__.c.config_version + 1)
        )


def _raise_versions(session: Session, _flush: UOWTransaction) -> None:
    changed = (
        record.site_id  # type: ignore[attr-defined]
        for record in (*session.new, *session.dirty, *session.deleted)
        if isinstance(record, ShopConfiguration) and (record not in session.dirty or session.is_modified(record))
    )
    touch(session, (site_id for site_id in changed if site_id is not None))
