"""How the API describes itself: OpenAPI 3.1, made from the views and served beside them."""

from __future__ import annotations

from typing import Any

from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Response, current_app, jsonify

from app.blueprints.v1.api import ProblemShape, problem_name
from app.errors import OTHER_TITLE, TITLES
from app.permissions import public

PROBLEM = "application/problem+json"
TITLE = "Shop API"
VERSION = "1"
INTRODUCTION = """\
For programs that manage a shop. Sign in at `/v1/auth/login` on the host of the shop and send the token with every
call. Every answer that is not a success is a problem (RFC 9457) with a stable `code`. Times are in UTC, names in
camelCase; fields that are not described are refused. While the database is busy any call may answer 503 with
Retry-After; nothing was done then.
"""
# What each kind of problem means here, and an example of its code.
MEANINGS: dict[int, tuple[str, str]] = {
    400: ("The body or a parameter breaks rules; `errors` names every one with its place.", "invalid"),
    401: (
        "No token, or one that does not hold: `token_invalid`, `token_expired` (get another with the refresh token), "
        "`session_expired`, `session_revoked`, `refresh_reused` (sign in again); at signing in `invalid_credentials`.",
        "token_expired",
    ),
    403: ("The user's role, or the plan of the shop, does not allow this.", "forbidden"),
    404: ("There is no such thing on this shop.", "not_found"),
    409: ("The state of things does not allow it now, or another user saved first (`stale_revision`).", "conflict"),
    413: ("The body is too large.", "request_entity_too_large"),
    415: ("The body is not JSON.", "unsupported_media_type"),
    429: ("Too many tries; `Retry-After` says how many seconds to wait.", "too_many_requests"),
}

# What some of them carry besides.
MORE: dict[int, dict[str, object]] = {
    400: {"errors": [{"code": "required", "pointer": "#/name", "message": "This is required."}]},
}
HEADERS: dict[int, tuple[str, str]] = {
    401: ("WWW-Authenticate", "The challenge of RFC 6750."),
    429: ("Retry-After", "Seconds."),
}

bp = Blueprint("v1_description", __name__, url_prefix="/v1")


@bp.get("/openapi.json")
@public
def openapi() -> Response:
    return jsonify(described())


def described() -> dict[str, Any]:
    """The whole description, as JSON."""
    api = current_app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    description: dict[str, Any] = api.spec.to_dict()
    return description


def spec_options() -> dict[str, Any]:
    return {
        "title": TITLE,
        "version": VERSION,
        "openapi_version": "3.1.0",
        "info": {"description": INTRODUCTION, "license": {"name": "MIT", "identifier": "MIT"}},
        "security": [{"accessToken": []}],
        "marshmallow_plugin": MarshmallowPlugin(schema_name_resolver=_name_of),
    }


def _name_of(shape: Any) -> str:
    kind = shape if isinstance(shape, type) else type(shape)
    return kind.__name__.removesuffix("Shape")


def describe_problems(spec: APISpec) -> None:
    """To be called before the views are described, which refer to these by name."""
    for status, (meaning, code) in MEANINGS.items():
        body = {"schema": ProblemShape, "example": _example(status, code)}
        response: dict[str, Any] = {"description": meaning, "content": {PROBLEM: body}}
        if status in HEADERS:
            header, meaning_of_header = HEADERS[status]
            response["headers"] = {header: {"description": meaning_of_header, "schema": {"type": "string"}}}
        spec.components.response(problem_name(status), response, lazy=True)


def describe_tokens(spec: APISpec) -> None:
    spec.components.security_scheme("accessToken", {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"})
    spec.components.schemas.pop("PaginationMetadataSchema", None)  # Of flask-smorest's kind of lists; ours are others.


def _example(status: int, code: str) -> dict[str, object]:
    return {
        "type": "about:blank",
        "title": TITLES.get(status, OTHER_TITLE),
        "status": status,
        "detail": MEANINGS[status][0].partition(";")[0],
        "instance": "/v1/…",
        "code": code,
    } | MORE.get(status, {})
