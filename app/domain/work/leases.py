"""Claims of work: leases, so that a dead worker blocks no other, and fences, so that a late one changes nothing.

Everything here is called in a transaction; app/domain/work/performing.py brings its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic

from sqlalchemy import ColumnElement, CompoundSelect, Update, and_, false, func, or_, select, union_all, update
from sqlalchemy import inspect as state_of

from app.domain.alerts import job_failures
from app.domain.retention.purging import Retention
from app.domain.shared.clock import Clock
from app.domain.work.context import WorkerLocks
from app.domain.work.kinds import W, WorkKind
from app.domain.work.models import LeasedWork
from app.domain.work.states import UNFINISHED, State
from app.extensions import Base, db

FARTHEST = timedelta(days=1)  # A lease that runs longer was dated by a clock that was wrong.
ANSWERS_WITHIN = timedelta(seconds=15)  # The queue wakes a worker at once, the scheduler's poll within seconds.
LONGEST_ERROR = 1000


class LeaseLost(Exception):
    """The error of a lost claim: the lease ran out, another worker has claimed the work, or the work was ended."""


@dataclass(slots=True)
class Claim(Generic[W]):
    """The right of one worker to do some work; a later claim has a higher fence. `held_until` is by the monotonic clock
    of its process, so that setting the wall clock ends no claim."""

    kind: WorkKind[W]
    key: Any
    site_id: int
    fence: int
    lease: timedelta
    held_until: float

    def extend(self, since: float) -> None:
        self.held_until = since + self.lease.total_seconds()

    @property
    def lock(self) -> str:
        return lock_name(self.kind, self.key, self.fence)


def lock_name(kind: WorkKind[Any], key: Any, fence: int) -> str:
    """Return the name of the lock that a worker holds while it does claimed work."""
    return f"{kind.name}-{key}-{fence}"


def claim(
    kind: WorkKind[W], clock: Clock, *which: ColumnElement[bool], lease: timedelta | None = None
) -> Claim[W] | None:
    """Claim the work that the conditions name; None where it is not free, or ended now for too many attempts."""
    now, lease = clock.now(), kind.lease if lease is None else lease
    free = select(kind.model).where(is_free(kind, now), *which).limit(1).with_for_update(skip_locked=True)
    row = db.session.scalar(free.execution_options(populate_existing=True))
    if row is None:
        return None
    if kind.most_attempts is not None and row.attempts >= kind.most_attempts:
        end(kind, clock, row, State.FAILED, kind.exhausted)
        return None
    row.state, row.started_at, row.lease_until = State.RUNNING.value, row.started_at or now, now + lease
    row.fence, row.attempts = row.fence + 1, row.attempts + 1
    db.session.flush()
    held_until = clock.monotonic() + lease.total_seconds()
    return Claim(kind, state_of(row).identity[0], row.site_id, row.fence, lease, held_until)


def is_free(kind: WorkKind[W], now: datetime) -> ColumnElement[bool]:
    """Return the condition that work waits for a worker: it was never claimed, or its worker is gone and another may
    resume it."""
    waiting = kind.model.state == State.WAITING
    if not kind.is_resumed:
        return waiting
    is_misdated = (kind.model.state == State.RUNNING) & (kind.model.lease_until > now + FARTHEST)
    return or_(waiting, is_abandoned(kind, now), is_misdated)


def is_abandoned(kind: WorkKind[W], now: datetime) -> ColumnElement[bool]:
    lapsed = or_(kind.model.lease_until.is_(None), kind.model.lease_until <= now)
    return (kind.model.state == State.RUNNING) & lapsed


def renew(clock: Clock, claim: Claim[W], **columns: Any) -> W:
    """Renew the lease, set further columns and return the row, locked. Raises LeaseLost, also when the lease has run
    out unnoticed."""
    row = _set(hold(clock, claim), {"lease_until": clock.now() + claim.lease, **columns})
    claim.extend(clock.monotonic())
    return row


def hold(clock: Clock, claim: Claim[W]) -> W:
    """Return the row of claimed work, locked until the end of the transaction. Raises LeaseLost as `renew` does."""
    row = held(claim)
    if clock.monotonic() >= claim.held_until:
        raise LeaseLost
    return row


def renewal(clock: Clock, claim: Claim[W]) -> Update:
    """Return the statement that renews a lease, for a thread without a session. It matches no row once the lease is
    lost."""
    model, now = claim.kind.model, clock.now()
    held = [claim.kind.key == claim.key, model.fence == claim.fence, model.state == State.RUNNING.value]
    if clock.monotonic() >= claim.held_until:
        held.append(false())
    return update(model).where(*held).values(lease_until=now + claim.lease)


def finish(clock: Clock, claim: Claim[W], **columns: Any) -> None:
    """Finish claimed work. Raises LeaseLost."""
    end(claim.kind, clock, _set(held(claim), columns), State.DONE, columns.get("error"))


def fail(clock: Clock, claim: Claim[W], error: str, **columns: Any) -> None:
    """End claimed work as failed. Raises LeaseLost."""
    end(claim.kind, clock, _set(held(claim), columns), State.FAILED, error)


def release(clock: Clock, claim: Claim[W]) -> None:
    """Release claimed work, so that another worker can claim it at once. Raises LeaseLost."""
    held(claim).lease_until = clock.now()
    claim.held_until = clock.monotonic()


def end(kind: WorkKind[W], clock: Clock, row: W, state: State, error: str | None) -> None:
    """End work as done or failed, whichever worker or purge ended it."""
    row.state, row.error, row.finished_at = state.value, error and error[:LONGEST_ERROR], clock.now()
    row.lease_until = None
    db.session.flush()
    if state is State.FAILED:
        job_failures.note_failure(clock, kind.name, row.error or "", row.site_id)
    else:
        job_failures.note_success(clock, kind.name, row.site_id)
    kind.on_end(clock, row)


def held(claim: Claim[W]) -> W:
    """Return the row of claimed work, locked, even when the lease has run out but no worker has claimed the work since.
    Raises LeaseLost."""
    query = select(claim.kind.model).where(claim.kind.key == claim.key).with_for_update()
    row = db.session.scalar(query.execution_options(populate_existing=True))
    if row is None or row.state != State.RUNNING or row.fence != claim.fence:
        raise LeaseLost
    return row


def _set(row: W, columns: dict[str, Any]) -> W:
    for name, value in columns.items():
        setattr(row, name, value)
    return row


def dead_claims(kind: WorkKind[W], clock: Clock, locks: WorkerLocks) -> list[tuple[Any, int]]:
    """Return key and fence of the work whose worker is known to be dead although its lease has not run out."""
    model = kind.model
    leased = select(kind.key, model.fence).where(model.state == State.RUNNING, model.lease_until > clock.now())
    return [(key, fence) for key, fence in db.session.execute(leased) if locks.is_dead(lock_name(kind, key, fence))]


def release_dead(kind: WorkKind[W], clock: Clock, locks: WorkerLocks) -> None:
    """End the leases of workers that are known to be dead."""
    for key, fence in dead_claims(kind, clock, locks):
        held = kind.key == key, kind.model.fence == fence, kind.model.state == State.RUNNING.value
        ended = update(kind.model).where(*held).values(lease_until=clock.now())
        db.session.execute(ended, execution_options={"synchronize_session": False})


def free_keys(kind: WorkKind[W], clock: Clock) -> Sequence[Any]:
    """Return the keys of the work that no worker holds, the oldest first."""
    return db.session.scalars(select(kind.key).where(is_free(kind, clock.now())).order_by(kind.model.created_at)).all()


def is_unanswered(kind: WorkKind[W], clock: Clock, row: W) -> bool:
    """Whether unfinished work waits though no worker is busy with any of its queue."""
    return bool(unanswered(kind, clock, [row]))


def unanswered(kind: WorkKind[W], clock: Clock, rows: Sequence[W]) -> list[W]:
    """Return the unfinished rows that wait though no worker is busy with any work of their queue."""
    unfinished = [row for row in rows if row.is_unfinished]
    if not unfinished:
        return []
    signs = [sign for sign in db.session.scalars(_signs_of_workers(kind.model.queue)) if sign is not None]
    return [row for row in unfinished if clock.now() - max([row.created_at, *signs]) > ANSWERS_WITHIN]


def _signs_of_workers(queue: str) -> CompoundSelect[Any]:
    """Return the query of the last signs of a queue's workers: the latest lease and the latest end of each kind of
    work."""
    tables: list[Any] = [mapper.class_ for mapper in Base.registry.mappers if issubclass(mapper.class_, LeasedWork)]
    models = sorted((model for model in tables if model.queue == queue), key=lambda model: model.__tablename__)
    return union_all(*(select(func.max(sign)) for model in models for sign in (model.lease_until, model.finished_at)))


def expire(kind: WorkKind[W], clock: Clock, is_done: Callable[[W], bool] = lambda _row: False) -> list[W]:
    """End the work that no worker will finish, and return it: as done where `is_done` says that only its state is
    missing, otherwise as failed."""
    now, model = clock.now(), kind.model
    late: list[ColumnElement[bool]] = []
    if kind.waits_at_most:
        late.append((model.state == State.WAITING) & (model.created_at <= now - kind.waits_at_most))
    if kind.lasts_at_most:
        late.append(model.created_at <= now - kind.lasts_at_most)
    if not kind.is_resumed:
        late.append(is_abandoned(kind, now))
    if not late:
        return []
    unfinished = select(model).where(model.state.in_(UNFINISHED), or_(*late)).with_for_update(skip_locked=True)
    ended = list(db.session.scalars(unfinished.execution_options(populate_existing=True)))
    for row in ended:
        if is_done(row):
            end(kind, clock, row, State.DONE, None)
        else:
            end(kind, clock, row, State.FAILED, _why_late(kind, row, now))
    return ended


def _why_late(kind: WorkKind[W], row: W, now: datetime) -> str:
    most = kind.lasts_at_most or kind.waits_at_most
    return kind.overdue if most is not None and now - row.created_at >= most else kind.abandoned


def any_unfinished(kind: WorkKind[W]) -> bool:
    return db.session.scalar(select(kind.key).where(kind.model.state.in_(UNFINISHED)).limit(1)) is not None


def retention(kind: WorkKind[W], name: str, *which: ColumnElement[bool]) -> Retention:
    """Return the retention of a kind's records, which are kept for `kind.kept` after their end; `which` narrows it to
    some."""
    assert kind.kept is not None
    model, kept = kind.model, kind.kept
    ended_at = func.coalesce(model.finished_at, model.created_at)
    has_ended = model.state.not_in(UNFINISHED)
    return Retention(name, model, ended_at, lambda now: and_(has_ended, ended_at < now - kept, *which))
