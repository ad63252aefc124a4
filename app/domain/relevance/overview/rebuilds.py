"""The history of a site's rebuilds: all of the last 30 days, to the second."""

from __future__ import annotations

from sqlalchemy import ColumnElement, func, select

from app.domain.relevance.overview.summary import summary
from app.domain.search.engine import SearchEngine
from app.domain.search.index.rebuild_outcomes import RunSummary, summary_of
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import RebuildRun
from app.domain.shared.clock import Clock
from app.domain.shared.paging import Paged
from app.domain.work.states import UNFINISHED
from app.extensions import db

PAGE_SIZE = 50


def rebuilds(
    clock: Clock, engine: SearchEngine, site_id: int, page_number: int = 1, page_size: int = PAGE_SIZE
) -> Paged[RunSummary]:
    """Return a page of the history, the latest first. Older runs are left out, even while they are stored: the latest
    of a kind, or until the nightly purge."""
    shown = RebuildRun.site_id == site_id, _is_kept(clock)
    total = db.session.scalar(select(func.count()).select_from(RebuildRun).where(*shown)) or 0
    page = select(RebuildRun).where(*shown).order_by(RebuildRun.created_at.desc(), RebuildRun.id)
    rows = db.session.scalars(page.offset((page_number - 1) * page_size).limit(page_size)).all()
    is_first = page_number == 1
    latest = [summary(clock, engine, run) for run in rows[:1] if is_first]
    return Paged([*latest, *map(summary_of, rows[len(latest) :])], page_number, page_size, total)


def _is_kept(clock: Clock) -> ColumnElement[bool]:
    assert REBUILD.kept is not None
    ended_at = func.coalesce(RebuildRun.finished_at, RebuildRun.created_at)
    return RebuildRun.state.in_(UNFINISHED) | (ended_at >= clock.now() - REBUILD.kept)
