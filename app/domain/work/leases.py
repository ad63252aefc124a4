"""Leased work from request to end: leases, so that a dead worker blocks no other, and fences, so that a late one
changes nothing.

Everything but `perform` is called in a transaction; that brings its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic

import structlog
from sqlalchemy import ColumnElement, CompoundSelect, Engine, Update, and_, false, func, or_, select, union_all, update
from sqlalchemy import inspect as state_of
from sqlalchemy.exc import IntegrityError, OperationalError, SQLAlchemyError

from app.domain.alerts import job_failures
from app.domain.retention.purging import Retention
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.shared.redaction import error_summary
from app.domain.work.context import WorkContext, WorkerLocks
from app.domain.work.models import UNFINISHED, LeasedWork, OfMachine, State, W, WorkKind, requested_now
from app.extensions import Base, db

FARTHEST = timedelta(days=1)  # A lease that runs longer was dated by a clock that was wrong.
ANSWERS_WITHIN = timedelta(seconds=15)  # The queue wakes a worker at once, the scheduler's poll within seconds.
LONGEST_ERROR = 1000
ATTEMPTS = 3
BEATS_IN_A_LEASE = 4
INTERRUPTIONS = (OperationalError, SystemExit, KeyboardInterrupt)
log = structlog.get_logger()


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


def join_or_create(model: type[W], author: Author, *which: ColumnElement[bool], **columns: Any) -> tuple[W, bool]:
    """Return the unfinished work of the author's site that the conditions name, or new work with these columns, and
    whether it is new. The table must allow one such unfinished row. Call it in a transaction. Raises Conflict where
    others are quicker again and again."""
    unfinished = select(model).where(model.site_id == author.site_id, model.state.in_(UNFINISHED), *which)
    for _ in range(ATTEMPTS):
        under_way = db.session.scalar(unfinished.execution_options(populate_existing=True))
        if under_way is not None:
            return under_way, False
        created = model(**requested_now(author), **columns)
        if insert_alone(created):
            return created, True
    raise Conflict("Others are asking for the same at this moment. Try again.")


def insert_alone(work: LeasedWork) -> bool:
    """Insert new work and return True; False when another request was quicker."""
    try:
        with db.session.begin_nested():
            db.session.add(work)
            db.session.flush()
    except IntegrityError:
        return False
    return True


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


def perform(context: WorkContext, claim: Claim[Any], work: Callable[[], object]) -> bool:
    """Do the work, whose last step finishes it, and return True; False when the lease was lost meanwhile. Where the
    worker is stopped or the database goes away, work of a kind that is resumed is released, and so is any at an outage
    of what its kind needs; any other error fails it.
    Errors that the row does not explain are raised as well."""
    kind = claim.kind
    with context.locks.hold(claim.lock), _heartbeat(context.clock, claim):
        try:
            work()
        except LeaseLost:
            return False
        except kind.outages as error:
            db.session.rollback()
            log.warning("work_waits", kind=kind.name, error=error_summary(error))
            with suppress(LeaseLost):
                context.commit(lambda: release(context.clock, claim, is_counted=False))
            return True
        except (*INTERRUPTIONS, Exception) as error:
            db.session.rollback()
            is_resumed = kind.is_resumed and isinstance(error, INTERRUPTIONS)
            with suppress(LeaseLost):
                if is_resumed:
                    context.commit(lambda: release(context.clock, claim))
                else:
                    words = kind.describe_error(error)
                    context.commit(lambda: fail(context.clock, claim, words))
            if is_resumed or not isinstance(error, kind.expected):
                raise
    return True


@contextmanager
def _heartbeat(clock: Clock, claim: Claim[Any]) -> Iterator[None]:
    """Renew the lease by a thread while the block runs. A process that dies or is stopped stops renewing."""
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(clock, claim, db.engine, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _beat(clock: Clock, claim: Claim[Any], engine: Engine, ended: threading.Event) -> None:
    """Renew the lease at intervals, and not through the session, which belongs to the thread that works."""
    pause = claim.lease.total_seconds() / BEATS_IN_A_LEASE
    while not ended.wait(pause):
        with suppress(SQLAlchemyError), engine.begin() as connection:  # A busy database takes the next beat.
            since = clock.monotonic()
            if connection.execute(renewal(clock, claim)).rowcount:
                claim.extend(since)


def renew(clock: Clock, claim: Claim[W], **columns: Any) -> W:
    """Renew the lease, set further columns and return the row, locked. Raises LeaseLost, also when the lease has run
    out unnoticed."""
    row = _set_columns(hold(clock, claim), {"lease_until": clock.now() + claim.lease, **columns})
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
    end(claim.kind, clock, _set_columns(held(claim), columns), State.DONE, columns.get("error"))


def fail(clock: Clock, claim: Claim[W], error: str, **columns: Any) -> None:
    """End claimed work as failed. Raises LeaseLost."""
    end(claim.kind, clock, _set_columns(held(claim), columns), State.FAILED, error)


def release(clock: Clock, claim: Claim[W], is_counted: bool = True) -> None:
    """Release claimed work, so that another worker can claim it at once. Raises LeaseLost."""
    row = held(claim)
    row.lease_until = clock.now()
    row.attempts -= 0 if is_counted else 1
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


def _set_columns(row: W, columns: dict[str, Any]) -> W:
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


def redate(kind: WorkKind[W], before: datetime, now: datetime) -> None:
    """Shift unfinished work after the clock was set from `before`, the time that it would show otherwise, to `now`.
    Times that were noted since then stay. Call it in a transaction."""
    unfinished = select(kind.model).where(kind.model.state.in_(UNFINISHED)).with_for_update()
    for row in db.session.scalars(unfinished.execution_options(populate_existing=True)):
        if _is_of_before(row.created_at, before, now):
            row.created_at += now - before
        if row.started_at and _is_of_before(row.started_at, before, now):
            row.started_at += now - before
        if row.lease_until and before < row.lease_until <= before + kind.lease:
            row.lease_until += now - before


def _is_of_before(moment: datetime, before: datetime, now: datetime) -> bool:
    return moment <= before if now > before else moment > now


def free_keys(kind: WorkKind[W], clock: Clock, machine: str = "") -> Sequence[Any]:
    """Return the keys of the work that no worker holds and that this machine may do, the oldest first."""
    free = is_free(kind, clock.now()), kind.may_run_on(machine)
    return db.session.scalars(select(kind.key).where(*free).order_by(kind.model.created_at)).all()


def end_work_of_machine(kind: WorkKind[W], clock: Clock, machine: str, reason: str) -> None:
    """End the unfinished work of a machine that is gone, with its files."""
    if not issubclass(kind.model, OfMachine):
        return
    query = select(kind.model).where(kind.model.machine == machine, kind.model.state.in_(UNFINISHED))
    for row in db.session.scalars(query.with_for_update().execution_options(populate_existing=True)).all():
        end(kind, clock, row, State.FAILED, reason)


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
