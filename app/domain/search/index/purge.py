"""Retention of the records of search's own work."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import ColumnElement, and_, exists, or_
from sqlalchemy.orm import aliased

from app.domain.retention.purging import Retention
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import JobSlot, RebuildRun, ReconcileReport
from app.domain.work import leases
from app.domain.work.states import State

KEEP_REPORTS = timedelta(days=90)
KEEP_SLOTS = timedelta(days=7)


def _is_followed() -> ColumnElement[bool]:
    """Whether a later run of the site took a run's place: one of its scope that was done, or any where it failed. What
    the status shows of a site's index stays: its latest run, and its latest of each scope that was done."""
    later = aliased(RebuildRun)
    replaces = and_(later.state == State.DONE, later.scope == RebuildRun.scope)
    return exists().where(
        later.site_id == RebuildRun.site_id,
        later.created_at > RebuildRun.created_at,
        or_(RebuildRun.state != State.DONE, replaces),
    )


RETENTIONS = (
    Retention(
        "reconcile reports",
        ReconcileReport,
        dated=ReconcileReport.at,
        is_old=lambda now: ReconcileReport.at < now - KEEP_REPORTS,
    ),
    Retention("slots of jobs", JobSlot, dated=JobSlot.slot, is_old=lambda now: JobSlot.slot < now - KEEP_SLOTS),
    leases.retention(REBUILD, "rebuilds", _is_followed()),
)
