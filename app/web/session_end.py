"""The end of a request's database session, while its answer can still become an error: a connection that dies after the
view has answered would else fail the teardown, after which the web server knows only its own plain 500."""

from __future__ import annotations

from collections.abc import Iterator

import structlog
from flask import Flask, Response, current_app, has_request_context, request
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from app.domain.shared.redaction import error_summary
from app.extensions import db

log = structlog.get_logger()
SAVED = "shop.saved"  # In the WSGI environment of a request that committed something.


def init_session_end(app: Flask) -> None:
    """Register the hooks. Call it after all other hooks are registered, so that its own comes first."""
    with app.app_context():
        if not event.contains(db.session, "after_commit", _note_saved):
            event.listen(db.session, "after_commit", _note_saved)
    app.after_request(_end_transaction)
    app.teardown_appcontext(close_session)


def _note_saved(_session: object) -> None:
    if has_request_context():
        request.environ[SAVED] = True


def _end_transaction(response: Response) -> Response:
    """End the transaction in which the view read, or make the first part of an answer that reads as it is sent. Where
    that fails, the answer is that of any database error, but a save that was committed keeps its own: whoever heard
    that it failed would save again."""
    try:
        if response.is_streamed and not response.direct_passthrough:
            response.response = _begun(response.iter_encoded())
        else:
            db.session.rollback()
    except DBAPIError as error:
        if request.method not in ("GET", "HEAD") and SAVED in request.environ:
            close_session(error)
            return response
        return current_app.make_response(current_app.handle_user_exception(error))
    return response


def _begun(parts: Iterator[bytes]) -> Iterator[bytes]:
    """Return the parts, of which the first is made at once."""
    first = next(parts, b"")

    def all_parts() -> Iterator[bytes]:
        yield first
        yield from parts

    return all_parts()


def close_session(_error: BaseException | None) -> None:
    """Close the session. Never raises: what it read is in the answer, and what was not committed is lost with the
    connection."""
    try:
        db.session.remove()
    except SQLAlchemyError as error:
        log.warning("database_unavailable", error=error_summary(error))
        db.session.remove()
