"""Error handlers: each error becomes a page, a fragment for htmx, or problem+json (RFC 9457)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, TypeVar

import structlog
from flask import Flask, Response, current_app, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.orm.exc import StaleDataError
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from app.domain.catalogue.picture_storage import TRY_AGAIN_AFTER, PicturesUnavailable
from app.domain.pos.processor import BadSignature, Busy, Declined, OutcomeUnknown, ProcessorError
from app.domain.pos.receipt_printer import PrinterTimedOut, PrinterUnavailable
from app.domain.search.engine import SearchUnavailable
from app.domain.shared.problems import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    NotFound,
    TooManyRequests,
    Unauthenticated,
    Unprocessable,
)
from app.domain.shared.redaction import error_summary
from app.extensions import db, login_manager
from app.operations.logs import route
from app.operations.storage import (
    REMOVED_MEANWHILE,
    is_busy_or_away,
    note_pictures_unavailable,
    note_storage_fault,
)
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import DECLARED, PUBLIC
from app.web.surfaces import current_surface
from app.web.themes.drawing import drawn

log = structlog.get_logger()
View = TypeVar("View", bound=Callable[..., Any])
SERVES_JSON = "serves_json"

STATUS: tuple[tuple[type[DomainError], int], ...] = (
    (Invalid, 400),
    (Unauthenticated, 401),
    (NotFound, 404),
    (Forbidden, 403),
    (TooManyRequests, 429),
    (Conflict, 409),
    (Unprocessable, 422),
    (BadSignature, 400),
    (Declined, 402),
    (Busy, 503),
    (OutcomeUnknown, 504),
    (ProcessorError, 502),
    (PrinterUnavailable, 502),
    (PrinterTimedOut, 504),
    (SearchUnavailable, 503),
)
TITLES = {
    400: "Invalid request",
    401: "Please sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    402: "The card was declined",
    409: "Conflict",
    413: "Too large",
    422: "Not possible",
    429: "Too many requests",
    500: "Something went wrong",
    502: "The payment processor refused",
    503: "Temporarily unavailable",
    504: "Outcome unknown",
}
TITLES_OF_CODES = {
    PrinterUnavailable.code: "The printer cannot be reached",
    PrinterTimedOut.code: "The printer took too long",
}
NO_PAGE = "Page not found"  # The title of 404 on pages.
OTHER_TITLE = "Invalid request"
STORAGE_FAILS = "The shop’s disk is full or fails{}. The administrator has been alerted. Try again in a few minutes."
PICTURES_FAIL = "The shop’s storage of pictures does not answer{}. The administrator has been alerted. Try again soon."
REMOVED = "Something of this was removed at the same moment{}. Load it again."
PASSWORD_FIELDS = ("password", "current")  # Of all forms, by name.
PLAIN_WORDS = {
    404: "Check the address. The page may have moved or been removed.",
    405: "This address cannot be used in that way.",
    413: "What was sent is larger than this address takes.",
}


def init_errors(app: Flask) -> None:
    app.register_error_handler(DomainError, domain_error)
    app.register_error_handler(PicturesUnavailable, _pictures_unavailable)
    app.register_error_handler(CSRFError, _csrf_error)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(OperationalError, _database_error)
    app.register_error_handler(DBAPIError, _storage_error)
    for removed in REMOVED_MEANWHILE:
        app.register_error_handler(removed, _removed_meanwhile)
    app.register_error_handler(OSError, _storage_error)
    app.register_error_handler(Exception, _unexpected)
    login_manager.unauthorized_handler(_unauthorized)


def serves_json(view: View) -> View:
    """Declare that a view answers with JSON, whatever goes wrong, since its address does not show it."""
    setattr(view, SERVES_JSON, True)
    return view


def wants_json() -> bool:
    """Whether to answer with JSON: on a surface that does, for the admin's REST paths and other views that declare it,
    and for clients that send or accept JSON alone."""
    if current_surface().answers_json:
        return True
    if wants_fragment():
        return False
    accepts = request.accept_mimetypes
    return (
        request.is_json
        or "/rest/" in request.path
        or hasattr(current_app.view_functions.get(request.endpoint or ""), SERVES_JSON)
        or (accepts.accept_json and not accepts.accept_html)
    )


def problem(status: int, code: str, detail: str, more: Mapping[str, Any] = MappingProxyType({})) -> AnyResponse:
    """Return the response for an error as problem+json, a fragment or a page, whichever the client takes. `more` are
    further members of the document; none replaces those that every problem has."""
    title = TITLES_OF_CODES.get(code) or TITLES.get(status, OTHER_TITLE)
    if wants_json():
        body = {"type": current_surface().problem_type(code), "title": title, "status": status, "detail": detail}
        response: Response = jsonify({**more, **body, "instance": request.path, "code": code})
        response.content_type = "application/problem+json"
    elif wants_fragment():
        response = Response(render_template("_problem.html", title=title, detail=detail, **_lists(more)))
    else:
        surface, typed = current_surface(), _typed_fields() if status == 503 else []
        draw = drawn if surface.is_themed else render_template
        title = NO_PAGE if status == 404 else title
        response = Response(
            draw(surface.error_page, status=status, title=title, detail=detail, typed=typed, **_lists(more))
        )
    if status >= 500:
        _keep_the_form(response)
    response.status_code = status
    return response


def _typed_fields() -> list[tuple[str, str]]:
    """Return the fields of a form that could not be saved, for another try; without passwords, which no page repeats,
    and without files, which it cannot."""
    if request.method != "POST":
        return []
    try:
        fields = list(request.form.items(multi=True))
    except (OSError, HTTPException):  # The form itself was not to be read.
        return []
    return [(name, value) for name, value in fields if name not in PASSWORD_FIELDS]


def _keep_the_form(response: AnyResponse) -> None:
    """Make htmx show the error of a form above the page and not in the form's place, unless the form names another
    place (`hx-status`)."""
    if request.method not in ("GET", "HEAD") and wants_fragment() and current_surface().news_id:
        response.headers["HX-Retarget"] = f"#{current_surface().news_id}"
        response.headers["HX-Reswap"] = "innerHTML show:top"


def _lists(more: Mapping[str, Any]) -> dict[str, Any]:
    return {"errors": more.get("errors", [])}


def domain_error(error: DomainError) -> AnyResponse:
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 400)
    more = dict(error.details)
    if isinstance(error, Invalid):
        more["errors"] = [one.as_json() for one in error.problems]
    response = problem(status, error.code, error.detail if wants_json() else error.message, more)
    if isinstance(error, TooManyRequests | Busy):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthenticated):
        # RFC 6750 section 3.1: an error of the token is named only where one was sent.
        wrong_token = "Authorization" in request.headers and error.code != "invalid_credentials"
        challenge = 'Bearer realm="shop", error="invalid_token"' if wrong_token else 'Bearer realm="shop"'
        response.headers["WWW-Authenticate"] = challenge
    return response


def _csrf_error(error: CSRFError) -> AnyResponse:
    """Return 403, but ask for signing in where the route needs a session and there is none: CSRF tokens belong to
    sessions."""
    view = current_app.view_functions.get(request.endpoint or "")
    if not current_user.is_authenticated and getattr(view, DECLARED, PUBLIC) != PUBLIC:
        return _unauthorized()
    return problem(403, "csrf", "This form was open too long or did not come from this site. Reload and try again.")


def http_error(error: HTTPException) -> AnyResponse:
    """The handler of HTTP errors, also of flask-smorest, whose own would answer pages with JSON."""
    status = error.code or 500
    if status < 400:
        return error.get_response()
    response = problem(status, error.name.lower().replace(" ", "_"), _plain(error))
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def _plain(error: HTTPException) -> str:
    """Return the error's own description where it was given one, else plainer words than the library's."""
    if error.description == type(error).description:
        if error.code == 413 and request.max_content_length:
            return f"What was sent is larger than the {_size(request.max_content_length)} that this address takes."
        return PLAIN_WORDS.get(error.code or 500) or error.description or error.name
    return error.description or error.name


def _size(length: int) -> str:
    """Format a size in units of a thousand, rounded down, so that the named size fits."""
    return f"{length // 1_000_000} MB" if length >= 1_000_000 else f"{length // 1_000} kB"


def _database_error(error: OperationalError) -> AnyResponse:
    """Return 503 where the database is locked or away, which is no fault of the request; any other error may be one of
    the storage."""
    if not is_busy_or_away(error):
        return _storage_error(error)
    db.session.rollback()
    log.warning("database_unavailable", error=error_summary(error))
    return _unavailable("database_unavailable", f"The database is busy{_unsaved()}. Try again in a moment.", 5)


def _removed_meanwhile(error: Exception) -> AnyResponse:
    """Return 409. The traceback is logged, since the error may also be the shop's own: a record that it removed itself
    and changes afterwards. What is read again may have been saved before, so only a failed save says that it was not.
    """
    db.session.rollback()
    log.warning("removed_meanwhile", route=route(), exc_info=error)
    response = problem(409, Conflict.code, REMOVED.format(_unsaved() if isinstance(error, StaleDataError) else ""))
    _keep_the_form(response)
    return response


def _storage_error(error: DBAPIError | OSError) -> AnyResponse:
    """Note an alert and return 503 where the disk is full or fails; any other error is unexpected."""
    if not note_storage_fault(error):
        return _unexpected(error)
    with suppress(SQLAlchemyError):
        db.session.rollback()
    return _unavailable("storage_unavailable", STORAGE_FAILS.format(_unsaved()), 60)


def _pictures_unavailable(error: PicturesUnavailable) -> AnyResponse:
    """Return 503 where another machine that stores the pictures fails. Its reason is for the owner alone."""
    note_pictures_unavailable(error)
    with suppress(SQLAlchemyError):
        db.session.rollback()
    return _unavailable(error.code, PICTURES_FAIL.format(_unsaved()), TRY_AGAIN_AFTER)


def _unsaved() -> str:
    """Say that nothing was saved, where the request would have saved something."""
    return "" if request.method in ("GET", "HEAD") else ", so nothing was saved"


def _unavailable(code: str, words: str, seconds: int) -> AnyResponse:
    response = problem(503, code, words)
    response.headers["Retry-After"] = str(seconds)
    return response


def _unexpected(error: Exception) -> AnyResponse:
    db.session.rollback()
    log.exception("unexpected_error", route=route())
    return problem(500, "internal_error", "Something went wrong on our side. The error was logged.")


def _unauthorized() -> AnyResponse:
    sign_in = url_for("admin.sign_in", next=request.full_path.rstrip("?"))
    if wants_fragment():
        return redirect_page(url_for("admin.sign_in"))
    if wants_json() or request.method not in ("GET", "HEAD"):
        return problem(401, "not_signed_in", "Sign in first.")
    return redirect(sign_in)
