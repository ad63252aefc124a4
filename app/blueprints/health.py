"""Health and metrics: whether the process is up, whether it can work, and what it has counted."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Mapping

from flask import Blueprint, Response, abort, current_app, jsonify, request
from flask.blueprints import BlueprintSetupState
from prometheus_client import CONTENT_TYPE_LATEST
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app import ports
from app.blueprints.callers import request_host
from app.config import Config
from app.domain.alerts.alerts import count_by_cause
from app.domain.alerts.causes import Cause
from app.domain.search.engine import EngineState, IndexName
from app.domain.search.index.healing import lacks_products, lost_indexes
from app.domain.shared.problems import DomainError, Invalid
from app.domain.sites.models import Site
from app.domain.sites.sites import site_by_host
from app.extensions import csrf, db
from app.operations.metrics import exposition
from app.operations.storage import check_database, note_storage_fault, write_probe
from app.transaction import transaction
from app.web.permissions import public

bp = Blueprint("health", __name__)
csrf.exempt(bp)
EXTENSION = "shop-write-check"
BETWEEN_WRITES = 1.0  # Seconds.
MACHINE = "machine"


class Down(Exception):
    """A part does not answer; the message is safe to show to outsiders."""


class WriteCheck:
    """The latest try to write to the database. It is repeated at most once a second, by one of those who ask, since
    anybody may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tried_at: float | None = None
        self._fault: str | None = None

    def fault(self) -> str | None:
        """Return why the database takes no writes; None where it does."""
        is_first = self._tried_at is None
        if not self._is_recent() and self._lock.acquire(blocking=is_first):
            try:
                if not self._is_recent():
                    self._fault = _write_fault()
                    self._tried_at = ports.clock().monotonic()
            finally:
                self._lock.release()
        return self._fault

    def _is_recent(self) -> bool:
        return self._tried_at is not None and ports.clock().monotonic() - self._tried_at < BETWEEN_WRITES


@bp.record_once
def _add_write_check(state: BlueprintSetupState) -> None:
    state.app.extensions[EXTENSION] = WriteCheck()


@bp.get("/healthz")
@public
def alive() -> Response:
    return Response("ok\n", mimetype="text/plain")


@bp.get("/readyz")
@public
def ready() -> tuple[Response, int]:
    """Whether the shop works as a whole; with `scope=machine` whether a proxy should send requests to this process,
    since what all machines share and pages can do without is no reason to send them elsewhere."""
    checks = {name: _outcome(check) for name, check in _checks(request.args.get("scope", "")).items()}
    working = all(outcome == "ok" for outcome in checks.values())
    return jsonify({"status": "ok" if working else "down", "checks": checks}), 200 if working else 503


@bp.get("/metrics")
@public
def metrics() -> Response:
    config: Config = current_app.config["SHOP"]
    if not config.metrics_token:
        abort(404)
    expected = f"Bearer {config.metrics_token}"
    if not hmac.compare_digest(request.headers.get("Authorization", "").encode(), expected.encode()):
        abort(401)
    counts = count_by_cause(ports.clock())
    return Response(exposition({cause.key: counts.get(cause, 0) for cause in Cause}), content_type=CONTENT_TYPE_LATEST)


def _checks(scope: str) -> Mapping[str, Callable[[], None]]:
    """Return the checks of a scope by name. Raises Invalid."""
    if scope not in ("", MACHINE):
        raise Invalid.one("unknown_scope", f"The scope is {MACHINE}, or none is named.", "#/scope")
    if scope == MACHINE:
        return {"database": _database_answer}
    return {"database": _database, "queue": _queue, "index": _index}


def _outcome(check: Callable[[], None]) -> str:
    try:
        check()
    except Down as down:
        return f"down: {down}"
    return "ok"


def _database_answer() -> None:
    try:
        check_database()
    except SQLAlchemyError as error:
        raise Down("the database does not answer") from error


def _database() -> None:
    _database_answer()
    writing: WriteCheck = current_app.extensions[EXTENSION]
    if (fault := writing.fault()) is not None:
        raise Down(fault)


def _write_fault() -> str | None:
    try:
        with transaction():
            write_probe(db.session.connection())
    except DBAPIError as error:
        return "the database cannot be written to" if note_storage_fault(error) else "the database takes no writes now"
    except SQLAlchemyError:
        return "the database does not answer"
    return None


def _queue() -> None:
    try:
        ports.queue().ping()
    except OSError as error:
        raise Down("the queue does not answer") from error


def _index() -> None:
    """Check the indexes. Raises Down when an index of the shop at this host is damaged or lost, at a host without a
    shop an index of any; when its products are not in one yet; or when no shop can be searched. One new shop that waits
    for its first rebuild takes no other out of service."""
    engine = ports.search_engine()
    try:
        site_ids = db.session.scalars(select(Site.id)).all()
        here = site_by_host(request_host())
        checked = [here.id] if here else site_ids
        lost = sorted({lost.contents for site_id in checked for lost in lost_indexes(engine, site_id)})
        is_awaited = any(lacks_products(engine, site_id) for site_id in checked)
        states = {engine.status(site_id, IndexName.PRODUCTS).state for site_id in site_ids}
    except (DomainError, SQLAlchemyError) as error:
        db.session.rollback()
        raise Down("the index does not answer") from error
    if lost:
        raise Down(f"the index of {' and of '.join(lost)} cannot be read")
    if is_awaited:
        raise Down("the index of products is being prepared")
    if states == {EngineState.UNREACHABLE}:
        raise Down("no index can be read")
