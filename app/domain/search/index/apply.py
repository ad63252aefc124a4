"""Brings the live indexes up to date with what was saved."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from app.domain.search.engine import EngineState, IndexName, SearchUnavailable
from app.domain.search.index import wishes
from app.domain.search.index.changes import Record, changes_of
from app.domain.search.index.indexing import Indexing, read_afresh
from app.domain.search.index.wishes import Wish

ENOUGH_TO_BLAME_THE_ENGINE = 3

Failures = dict[Record, str]


def apply_waiting(indexing: Indexing, site_id: int) -> int:
    """How many wishes were fulfilled or failed of those that wait now; what comes later has a wake-up of its own.
    An index that cannot take changes now keeps its wishes waiting. Raises SearchUnavailable when the engine fails
    on the way."""
    return sum(_apply_index(indexing, site_id, index) for index in IndexName)


def _apply_index(indexing: Indexing, site_id: int, index: IndexName) -> int:
    state = indexing.engine.status(site_id, index).state
    if state is EngineState.NOT_SET_UP:
        _forget_wishes(indexing, site_id, index)
    if state is not EngineState.HEALTHY:
        return 0
    read_afresh()
    newest = wishes.newest(site_id, index)
    applied = 0
    while batch := _apply_batch(indexing, site_id, index, newest):
        applied += batch
    return applied


def _apply_batch(indexing: Indexing, site_id: int, index: IndexName, newest: int) -> int:
    """The records are read under the lock under which they are applied, so an older state never follows a newer."""
    with indexing.engine.exclusive(site_id, index):
        read_afresh()
        batch = wishes.waiting(site_id, index, newest)
        if not batch:
            return 0
        failures = _apply(indexing, site_id, index, {(wish.kind, wish.record_id) for wish in batch})
        indexing.commit(lambda: _note_outcome(site_id, index, batch, failures))
    return len(batch)


def _apply(indexing: Indexing, site_id: int, index: IndexName, records: Collection[Record]) -> Failures:
    failures: Failures = {}

    def refuse(kind: str, record_id: int, error: Exception) -> None:
        failures[kind, record_id] = _reason(error)

    changes = changes_of(site_id, index, records, refuse)
    try:
        indexing.engine.apply(site_id, index, changes)
    except SearchUnavailable:
        failures |= _apply_singly(indexing, site_id, index, [record for record in records if record not in failures])
    return failures


def _apply_singly(indexing: Indexing, site_id: int, index: IndexName, records: Sequence[Record]) -> Failures:
    """Finds the records that the engine chokes on. Raises SearchUnavailable when it is the engine that is broken:
    when it takes none of the first few."""
    failures: Failures = {}
    for number, record in enumerate(records, 1):
        try:
            indexing.engine.apply(site_id, index, changes_of(site_id, index, [record]))
        except SearchUnavailable as error:
            failures[record] = _reason(error)
            if len(failures) == number and number in (len(records), ENOUGH_TO_BLAME_THE_ENGINE):
                raise
    return failures


def _note_outcome(site_id: int, index: IndexName, batch: Sequence[Wish], failures: Failures) -> None:
    applied = {(wish.kind, wish.record_id) for wish in batch} - failures.keys()
    cured = [wish for wish in wishes.set_aside_wishes(site_id, index) if (wish.kind, wish.record_id) in applied]
    fulfilled = [wish for wish in batch if (wish.kind, wish.record_id) in applied]
    wishes.settle(site_id, [wish.entry_id for wish in (*fulfilled, *cured)])
    for wish in batch:
        if error := failures.get((wish.kind, wish.record_id)):
            wishes.put_aside([wish.entry_id], error)


def _forget_wishes(indexing: Indexing, site_id: int, index: IndexName) -> None:
    """Without an engine there is nothing to bring up to date; one that comes later begins with a rebuild."""
    read_afresh()
    waiting = wishes.waiting(site_id, index, wishes.newest(site_id, index))
    if waiting:
        indexing.commit(lambda: wishes.settle(site_id, [wish.entry_id for wish in waiting]))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
