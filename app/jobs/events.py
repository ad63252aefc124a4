"""Work that follows a committed change. Stored events are delivered to their handlers at least once: an event is
deleted in the transaction of its handler, so that it is delivered again after a crash. Handlers may thus be called
twice, and must be idempotent. What a crash may lose is done at once, within `follow_up`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta

import structlog
from sqlalchemy import select
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from app.domain.orders import lifecycle
from app.domain.relevance.rule_levels import republish_names
from app.domain.search.engine import EngineState, IndexName
from app.domain.search.index import runs
from app.domain.search.index.outbox import enqueue_products_of_levels
from app.domain.search.index.runs import BY_ITSELF, Scope
from app.domain.search.index.taxonomy_changes import bring_changes
from app.domain.shared.author import Author
from app.domain.shared.redaction import error_summary
from app.domain.sites import stored_events
from app.domain.sites.models import StoredEvent
from app.domain.taxonomy import tasks
from app.domain.taxonomy.lifecycle import CHANGED_EVENT
from app.domain.taxonomy.saves import INDEX_EVENT
from app.domain.taxonomy.taxonomies import active_id
from app.domain.work.context import read_afresh
from app.domain.work.models import State
from app.extensions import db
from app.operations.storage import is_busy_or_away, note_storage_fault
from app.ports import clock, search_engine, worker_locks
from app.transaction import transaction

log = structlog.get_logger()


class NotYet(Exception):
    """The event can be followed up only later; that is no failure."""


def follow_structure_save(event: StoredEvent) -> None:
    """Request a recomputation of completeness, since what is mandatory may have changed, and bring the changes into the
    index. Only products of the active taxonomy have a level."""
    if active_id(event.site_id) == event.payload["taxonomyId"]:
        tasks.request(Author(event.site_id, BY_ITSELF, clock()), tasks.Kind.RECOMPUTE, {})
        republish_names(event.site_id)
        enqueue_products_of_levels(event.site_id, event.payload.get("renamedLevels", ()))
        # A web server of the release before says neither.
        placed, defined = event.payload.get("placedLevels"), event.payload.get("definedAttributes")
        bring_changes(event.site_id, event.created_at, placed, defined)


def rebuild_products(event: StoredEvent) -> None:
    """Request a rebuild after a switch: every product lost its classification. A rebuild that runs already may have
    read the products before, so one that begins afterwards is needed. Raises NotYet while another runs."""
    if search_engine().status(event.site_id, IndexName.PRODUCTS).state is EngineState.NOT_SET_UP:
        return
    author = Author(event.site_id, BY_ITSELF, clock())
    run, joined = runs.request_rebuild(author, search_engine(), worker_locks(), Scope.PRODUCTS)
    begins_later = run.state == State.WAITING and run.scope != Scope.CONTENT
    if joined and not begins_later:
        raise NotYet("Another rebuild runs; what it read may be from before.")


def fulfil_order(event: StoredEvent) -> None:
    """Fulfil an order after its submission."""
    lifecycle.fulfil(clock(), event.site_id, event.payload["orderId"], event.payload["isShort"])


HANDLERS: Mapping[str, Callable[[StoredEvent], None]] = {
    INDEX_EVENT: follow_structure_save,
    CHANGED_EVENT: rebuild_products,
    lifecycle.FULFILMENT_EVENT: fulfil_order,
}


# What needs no index and must not wait with a handler that is NotYet done: it is committed before.
BEFORE: Mapping[str, Callable[[StoredEvent], None]] = {CHANGED_EVENT: lambda event: republish_names(event.site_id)}


def deliver(at_least: timedelta = timedelta(0)) -> None:
    """Deliver every event that has waited for at least so long. An event that fails does not delay the others."""
    read_afresh()
    for event_id in stored_events.waiting(clock(), at_least):
        _deliver_event(event_id)


def _deliver_event(event_id: int) -> None:
    try:
        if db.session.scalar(select(StoredEvent.name).where(StoredEvent.id == event_id)) in BEFORE:
            with transaction():
                event = stored_events.take(clock(), event_id)
                if event is not None:
                    BEFORE[event.name](event)
        with transaction():
            event = stored_events.take(clock(), event_id)
            if event is not None:
                HANDLERS[event.name](event)
                stored_events.finish(event_id)
    except NotYet as reason:
        log.debug("event_waits", event_id=event_id, reason=str(reason))
    except Exception as error:  # One that fails must not keep the others from being delivered.
        db.session.rollback()
        if note_storage_fault(error):
            return  # The event waits: its failure could not be written either.
        log.exception("event_failed", event_id=event_id)
        with transaction():
            stored_events.fail(clock(), event_id, error_summary(error))


@contextmanager
def follow_up(failure: str, **facts: object) -> Iterator[None]:
    """Run the block and raise nothing, since what it follows is committed. An error is logged under the name `failure`
    with the facts: in a line where the database is busy or the storage fails, which is an alert as well, else with its
    traceback."""
    try:
        yield
    except Exception as error:
        with suppress(SQLAlchemyError):
            db.session.rollback()
        is_busy = isinstance(error, OperationalError) and is_busy_or_away(error)
        write = log.warning if is_busy or note_storage_fault(error) else log.exception
        write(failure, error=error_summary(error), **facts)
