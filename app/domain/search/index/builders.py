"""Who builds a run: leases, so that a dead builder blocks nobody, and fences, so that a late one changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Update, or_, select, update

from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.index import wishes
from app.domain.search.index.runs import DONE, FAILED, JOINED_FOR, RUNNING, WAITING, Scope, end, why_dead
from app.domain.search.models import UNFINISHED, RebuildRun
from app.domain.shared.clock import Clock
from app.extensions import db

LEASE = timedelta(seconds=20)


class RunLost(Exception):
    """The run was given up meanwhile: its lease ran out, or somebody asked for another after half an hour."""


@dataclass(frozen=True, slots=True)
class Builder:
    """The one who has taken a run up; whoever takes it up later has a higher fence."""

    run_id: str
    fence: int
    site_id: int
    scope: Scope
    lease: timedelta


def take_up(clock: Clock, run_id: str, lease: timedelta = LEASE) -> Builder | None:
    """Begin to build a waiting run; None when there is nothing to take up any more."""
    now = clock.now()
    taken = db.session.execute(
        update(RebuildRun)
        .where(RebuildRun.id == run_id, RebuildRun.state == WAITING)
        .values(state=RUNNING, fence=RebuildRun.fence + 1, lease_until=now + lease, started_at=now)
        .returning(RebuildRun.fence, RebuildRun.site_id, RebuildRun.scope)
        .execution_options(synchronize_session=False)
    ).one_or_none()
    return taken and Builder(run_id, taken.fence, taken.site_id, Scope(taken.scope), lease)


def let_go(builder: Builder) -> None:
    """Back to waiting: another process still holds the index's build lock."""
    _change(builder, state=WAITING, lease_until=None, started_at=None)


def note_progress(clock: Clock, builder: Builder, **columns: Any) -> None:
    """Write what changed and renew the lease. Raises RunLost, also when the lease has run out."""
    _run(renewal(clock, builder).values(**columns))


def finish(clock: Clock, builder: Builder, error: str | None = None, failed: bool = False) -> None:
    """The end, with what there is to say about it. Raises RunLost."""
    _change(builder, state=FAILED if failed else DONE, error=error, finished_at=clock.now(), lease_until=None)
    wishes.drop_applied(builder.site_id)


def _change(builder: Builder, **values: Any) -> None:
    _run(_update(builder).values(**values))


def _run(statement: Update) -> None:
    changed = db.session.execute(statement.execution_options(synchronize_session=False))
    if changed.rowcount == 0:  # type: ignore[attr-defined]
        raise RunLost


def renewal(clock: Clock, builder: Builder) -> Update:
    """An update that renews the lease, and touches nothing once it has run out: a builder that was halted for
    longer has lost its run, whether or not anybody noticed."""
    now = clock.now()
    return _update(builder).where(RebuildRun.lease_until > now).values(lease_until=now + builder.lease)


def _update(builder: Builder) -> Update:
    """An update of the run that touches nothing once somebody ended it or took it up anew."""
    return update(RebuildRun).where(
        RebuildRun.id == builder.run_id, RebuildRun.fence == builder.fence, RebuildRun.state == RUNNING
    )


def end_dead_runs(clock: Clock, engine: SearchEngine) -> list[RebuildRun]:
    """Tell the truth about runs whose builder is gone, or that nobody took up for half an hour. One that had swapped
    in everything it was asked for is done. Call it in a transaction."""
    now = clock.now()
    unfinished = select(RebuildRun).where(RebuildRun.state.in_(UNFINISHED))
    late = or_(RebuildRun.lease_until <= now, _waits_since(now - JOINED_FOR))
    ended = list(db.session.scalars(unfinished.where(late).with_for_update(skip_locked=True)))
    for run in ended:
        if _was_published(engine, run):
            end(run, now, DONE, None)
        else:
            end(run, now, FAILED, why_dead(run, now) or "Nobody builds it.")
    return ended


def _waits_since(moment: datetime) -> ColumnElement[bool]:
    return (RebuildRun.state == WAITING) & (RebuildRun.created_at <= moment)


def _was_published(engine: SearchEngine, run: RebuildRun) -> bool:
    return run.state == RUNNING and all(
        index in run.generations and _is_live(engine, run.site_id, index, run.generations[index])
        for index in Scope(run.scope).indexes
    )


def _is_live(engine: SearchEngine, site_id: int, index: IndexName, swap: dict[str, str | None]) -> bool:
    """Whether what the run put in place is live, or, where it could not note the swap any more, anything new is."""
    status = engine.status(site_id, index)
    if status.state is not EngineState.HEALTHY:
        return False
    return status.generation == swap["after"] if "after" in swap else status.generation != swap["before"]
