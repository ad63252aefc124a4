"""Translates what went wrong into an answer: a page, a fragment for htmx, or problem+json (RFC 9457)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from flask import Flask, Response, current_app, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from flask_wtf.csrf import CSRFError
from sqlalchemy.exc import OperationalError
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as AnyResponse

from app.database_errors import is_busy_or_away
from app.domain.search.engine import SearchUnavailable
from app.domain.shared.problems import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    NotFound,
    StaleRevision,
    TooManyRequests,
    Unauthenticated,
)
from app.extensions import db, login_manager
from app.htmx import redirect_page, wants_fragment
from app.permissions import DECLARED, PUBLIC

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
    (SearchUnavailable, 503),
)
TITLES = {
    400: "That did not work",
    401: "Please sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Something else came first",
    413: "Too large",
    429: "Too many tries",
    500: "Our mistake",
    503: "Not available just now",
}
OTHER_TITLE = "That did not work"
PLAIN_WORDS = {
    404: "There is nothing at this address. It may have moved, or never have been here.",
    405: "This address cannot be used in that way.",
    413: "What was sent is larger than this address takes.",
}


def init_errors(app: Flask) -> None:
    app.register_error_handler(DomainError, _domain_error)
    app.register_error_handler(CSRFError, _csrf_error)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(OperationalError, _database_error)
    app.register_error_handler(Exception, _unexpected)
    login_manager.unauthorized_handler(_unauthorized)


def serves_json(view: View) -> View:
    """Declares that a view answers with JSON, whatever goes wrong and whoever asks; its address does not tell."""
    setattr(view, SERVES_JSON, True)
    return view


def wants_json() -> bool:
    """True where JSON is served: the admin's REST paths and other views that say so, /v1, and who sends or asks for
    JSON alone."""
    if request.path.startswith("/v1/"):
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


def problem(status: int, code: str, detail: str, **more: Any) -> AnyResponse:
    """The answer in the form that the client understands."""
    title = TITLES.get(status, OTHER_TITLE)
    if wants_json():
        body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        response: Response = jsonify(body | {"instance": request.path, "code": code} | more)
        response.content_type = "application/problem+json"
    elif wants_fragment():
        response = Response(render_template("_problem.html", title=title, detail=detail, **_lists(more)))
    else:
        page = "admin/error.html" if request.path.startswith("/admin") else "storefront/error.html"
        response = Response(render_template(page, status=status, title=title, detail=detail, **_lists(more)))
    response.status_code = status
    return response


def _lists(more: dict[str, Any]) -> dict[str, Any]:
    return {"errors": more.get("errors", [])}


def _domain_error(error: DomainError) -> AnyResponse:
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 400)
    more: dict[str, Any] = {}
    if isinstance(error, Invalid):
        more["errors"] = [one.as_json() for one in error.problems]
    if isinstance(error, StaleRevision):
        more["currentRevision"] = error.current_revision
    response = problem(status, error.code, error.message, **more)
    if isinstance(error, TooManyRequests):
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, Unauthenticated):
        response.headers["WWW-Authenticate"] = _challenge(error)
    return response


def _challenge(error: Unauthenticated) -> str:
    """RFC 6750 section 3.1: what is wrong with a token is told only where one was sent."""
    wrong_token = "Authorization" in request.headers and error.code != "invalid_credentials"
    return 'Bearer realm="shop"' + (', error="invalid_token"' if wrong_token else "")


def _csrf_error(error: CSRFError) -> AnyResponse:
    """A token is that of a session: where signing in comes first, its lack says less than that of the session."""
    if not current_user.is_authenticated and _needs_sign_in():
        return _unauthorized()
    return problem(403, "csrf", "This form was open too long or did not come from this site. Reload and try again.")


def _needs_sign_in() -> bool:
    view = current_app.view_functions.get(request.endpoint or "")
    return getattr(view, DECLARED, PUBLIC) != PUBLIC


def http_error(error: HTTPException) -> AnyResponse:
    """Also what flask-smorest, which would answer every page with JSON, is told to do."""
    status = error.code or 500
    if status < 400:
        return error.get_response()
    response = problem(status, error.name.lower().replace(" ", "_"), _plain(error))
    for name, value in error.get_headers():
        if name.lower() not in ("content-type", "content-length"):
            response.headers[name] = value
    return response


def _plain(error: HTTPException) -> str:
    """What was said about this very case, else calmer words than the library's."""
    if error.description == type(error).description:
        return PLAIN_WORDS.get(error.code or 500) or error.description or error.name
    return error.description or error.name


def _database_error(error: OperationalError) -> AnyResponse:
    """A database that is locked or away is a matter of waiting, not a fault of the request."""
    if not is_busy_or_away(error):
        return _unexpected(error)
    db.session.rollback()
    log.warning("database_unavailable", error=str(error.orig))
    response = problem(503, "database_unavailable", "The database is busy. Nothing was saved. Try again in a moment.")
    response.headers["Retry-After"] = "5"
    return response


def _unexpected(error: Exception) -> AnyResponse:
    db.session.rollback()
    log.exception("unexpected_error", path=request.path)
    return problem(500, "internal_error", "Something broke on our side. It was noted.")


def _unauthorized() -> AnyResponse:
    sign_in = url_for("admin.sign_in", next=request.full_path.rstrip("?"))
    if wants_fragment():
        return redirect_page(url_for("admin.sign_in"))
    if wants_json() or request.method not in ("GET", "HEAD"):
        return problem(401, "not_signed_in", "Sign in first.")
    return redirect(sign_in)
