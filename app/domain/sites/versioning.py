"""The versions of a site by which caches see that they are old: `config_version` rises with every saved change of what
the shop looks like, `index_version` with every change of its search indexes that shoppers can see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import event, update
from sqlalchemy.orm import Session
from sqlalchemy.orm.session import UOWTransaction

from app.domain.sites.models import ShopConfiguration, Site

CHANGED = "versions-changed"


@dataclass
class _Counter:
    value: int = 0


_own_changes = _Counter()


def listen(session_factory: type[Session] | object) -> None:
    """Register on the application's sessions, once per factory."""
    if not event.contains(session_factory, "after_flush", _raise_versions):
        event.listen(session_factory, "after_flush", _raise_versions)
        event.listen(session_factory, "after_commit", _count_own_change)
        event.listen(session_factory, "after_rollback", _forget_change)


def own_changes() -> int:
    """Return how often this process committed a change of some site's versions: a cache that saw fewer reads the
    versions at once, so that the next request sees what this one saved."""
    return _own_changes.value


def touch(session: Session, site_ids: Iterable[int]) -> None:
    """Advance the versions of sites after changes made in bulk, which the session does not see."""
    wanted = sorted(set(site_ids))
    if wanted:
        session.info[CHANGED] = True
        session.connection().execute(
            update(Site.__table__)  # type: ignore[arg-type]
            .where(Site.__table__.c.id.in_(wanted))
            .values(config_version=Site.__table__.c.config_version + 1)
        )


def index_changed(session: Session, site_id: int) -> None:
    """Raise a site's `index_version`. Call it once the change is visible in search, so that nothing older is cached
    under the new version."""
    sites = Site.__table__
    session.info[CHANGED] = True
    session.connection().execute(
        update(sites).where(sites.c.id == site_id).values(index_version=sites.c.index_version + 1)  # type: ignore[arg-type]
    )


def _raise_versions(session: Session, _flush: UOWTransaction) -> None:
    dirty = session.dirty  # Computed anew at each read.
    changed = (
        record.site_id  # type: ignore[attr-defined]
        for record in (*session.new, *dirty, *session.deleted)
        if isinstance(record, ShopConfiguration) and (record not in dirty or session.is_modified(record))
    )
    touch(session, (site_id for site_id in changed if site_id is not None))


def _count_own_change(session: Session) -> None:
    """Count the commit of a change; the end of a savepoint, which is no commit yet, has the same event."""
    if not session.in_nested_transaction() and session.info.pop(CHANGED, False):
        _own_changes.value += 1


def _forget_change(session: Session) -> None:
    if not session.in_nested_transaction():
        session.info.pop(CHANGED, None)
