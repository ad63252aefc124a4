"""Cache of the serving configuration of each shop in a process: read again when a new version was published."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from app.domain.search.ranking_settings import RankingSettings
from app.domain.search.serving.models import ServedConfiguration
from app.domain.search.serving.served import Served, stop_words_of
from app.domain.search.serving.snapshot import read_snapshot
from app.domain.shared.clock import Clock
from app.extensions import db

FRESH = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class _Versions:
    read_at: datetime
    by_site: Mapping[int, int]


class ServingCache:
    """Reads the live versions at most once a second, and a site's configuration when its version is new; while the
    database does not answer, shops serve what they served. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._versions: _Versions | None = None
        self._served: dict[int, Served] = {}

    def served(
        self,
        clock: Clock,
        site_id: int,
        stop_words: Iterable[str] = (),
        ranking: RankingSettings = RankingSettings.DEFAULT,
        by_meaning: bool = False,
    ) -> Served:
        """Return the serving configuration of a site. `stop_words`, `ranking` and `by_meaning` as the settings of the
        site have them."""
        version = self._current(clock.now()).by_site.get(site_id, 0)
        known = self._served.get(site_id, Served.NOTHING)
        if known.version != version:
            known = self._served[site_id] = _read(site_id, known)
        wanted = stop_words_of(stop_words)
        same = (known.stop_words, known.ranking, known.by_meaning) == (wanted, ranking, by_meaning)
        return known if same else replace(known, stop_words=wanted, ranking=ranking, by_meaning=by_meaning)

    def _current(self, now: datetime) -> _Versions:
        known = self._versions
        if known is not None and abs(now - known.read_at) < FRESH:
            return known
        with self._lock:
            if self._versions is known:
                self._versions = _next_versions(known, now)
            return self._versions or _Versions(now, {})


def _next_versions(known: _Versions | None, now: datetime) -> _Versions:
    """Return the live versions of all sites. While the database does not answer, return those known, or none, so that
    search goes on without synonyms and rules rather than not at all."""
    try:
        rows = db.session.execute(select(ServedConfiguration.site_id, ServedConfiguration.live_version)).all()
    except OperationalError:
        db.session.rollback()
        return _Versions(now, known.by_site if known is not None else {})
    return _Versions(now, {row.site_id: row.live_version for row in rows})


def _read(site_id: int, known: Served) -> Served:
    try:
        return read_snapshot(site_id)
    except OperationalError:
        db.session.rollback()
        return known
