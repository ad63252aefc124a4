"""Applies the outbox to the live indexes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf

from app.domain.search.context import SearchContext
from app.domain.search.engine import Change, EngineState, IndexName, SearchUnavailable
from app.domain.search.index import backlog
from app.domain.search.index.backlog import Waiting
from app.domain.search.index.changes import Record, changes_of
from app.domain.search.index.meanings import ranks_by_meaning
from app.domain.sites import versioning
from app.domain.work.context import read_afresh
from app.extensions import db
from app.log_redaction import error_summary

ENOUGH_TO_BLAME_THE_ENGINE = 3
TURN = 2.0  # Seconds after which other sites and other jobs come first.

Failures = dict[Record, str]


def apply_waiting(context: SearchContext, site_id: int) -> int:
    """Apply the outbox entries that wait now, and return how many were applied or set aside; later ones have a wake-up
    of their own. The entries of an index that cannot take changes now keep waiting. Raises SearchUnavailable when the
    engine fails on the way."""
    return sum(_apply_index(context, site_id, index) for index in IndexName)


def apply_for_a_turn(context: SearchContext, site_id: int) -> bool:
    """Apply waiting entries until TURN is over. Return whether it ran out, so that more may wait: embedding the
    products of a large import takes minutes. Raises SearchUnavailable."""
    ends = context.clock.monotonic() + TURN
    applied = sum(_apply_index(context, site_id, index, ends) for index in IndexName)
    return applied > 0 and context.clock.monotonic() >= ends


def _apply_index(context: SearchContext, site_id: int, index: IndexName, ends: float = inf) -> int:
    """Apply the waiting entries of an index, at least one batch and no further one once the time is `ends`; return
    their number. Those of an index that is not set up are dropped."""
    state = context.engine.status(site_id, index).state
    if state is EngineState.NOT_SET_UP:
        _drop_entries(context, site_id, index)
    if state is not EngineState.HEALTHY:
        return 0
    read_afresh()
    newest = backlog.newest(site_id, index)
    applied = 0
    while batch := _apply_batch(context, site_id, index, newest):
        applied += batch
        if context.clock.monotonic() >= ends:
            break
    return applied


def _apply_batch(context: SearchContext, site_id: int, index: IndexName, newest: int) -> int:
    """Apply one batch and return its size. The records are read and applied under one lock, so that an older state
    never overwrites a newer; embedding, which takes long, is done before, for the records as they are then."""
    if ranks_by_meaning(site_id):
        context.engine.prepare(site_id, index, _upcoming(site_id, index, newest))
    with context.engine.exclusive(site_id, index):
        read_afresh()
        batch = backlog.waiting(site_id, index, newest)
        if not batch:
            return 0
        failures = _apply(context, site_id, index, {entry.record for entry in batch})
        context.commit(lambda: _note_outcome(site_id, index, batch, failures))
    return len(batch)


def _upcoming(site_id: int, index: IndexName, newest: int) -> Iterator[Change]:
    """Yield the changes of the next batch, to be prepared. No transaction stays open meanwhile."""
    read_afresh()
    records = {entry.record for entry in backlog.waiting(site_id, index, newest)}
    changes = changes_of(site_id, index, records, lambda *_: None)
    read_afresh()
    yield from changes


def _apply(context: SearchContext, site_id: int, index: IndexName, records: Collection[Record]) -> Failures:
    failures: Failures = {}

    def refuse(kind: str, record_id: int, error: Exception) -> None:
        failures[kind, record_id] = error_summary(error)

    changes = changes_of(site_id, index, records, refuse)
    try:
        context.engine.apply(site_id, index, changes)
    except SearchUnavailable:
        failures |= _apply_singly(context, site_id, index, [record for record in records if record not in failures])
    return failures


def _apply_singly(context: SearchContext, site_id: int, index: IndexName, records: Sequence[Record]) -> Failures:
    """Apply records one by one and return those that the engine refuses, with their errors. Raises SearchUnavailable
    when the engine itself is broken: when it refuses all of the first ENOUGH_TO_BLAME_THE_ENGINE, or all there are."""
    failures: Failures = {}
    for number, record in enumerate(records, 1):
        try:
            context.engine.apply(site_id, index, changes_of(site_id, index, [record]))
        except SearchUnavailable as error:
            failures[record] = error_summary(error)
            if len(failures) == number and number in (len(records), ENOUGH_TO_BLAME_THE_ENGINE):
                raise
    return failures


def _note_outcome(site_id: int, index: IndexName, batch: Sequence[Waiting], failures: Failures) -> None:
    applied = {entry.record for entry in batch} - failures.keys()
    cured = [entry for entry in backlog.set_aside_entries(site_id, index) if entry.record in applied]
    fulfilled = [entry for entry in batch if entry.record in applied]
    backlog.settle(site_id, [entry.id for entry in (*fulfilled, *cured)])
    for entry in batch:
        if error := failures.get(entry.record):
            backlog.put_aside([entry.id], error)
    versioning.index_changed(db.session(), site_id)


def _drop_entries(context: SearchContext, site_id: int, index: IndexName) -> None:
    """Settle the waiting entries of an index. Without an engine there is nothing to bring up to date; one that comes
    later begins with a rebuild."""
    read_afresh()
    waiting = backlog.waiting(site_id, index, backlog.newest(site_id, index))
    if waiting:
        context.commit(lambda: backlog.settle(site_id, [entry.id for entry in waiting]))
