"""The description of the API: OpenAPI 3.1, made from the views and served beside them."""

from __future__ import annotations

import re
from typing import Any

from apispec import APISpec, BasePlugin
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Response, current_app, jsonify
from flask_smorest.spec.plugins import FlaskPlugin
from werkzeug.routing import PathConverter, Rule

from app.blueprints.v1.api import (
    ACCESS_TOKEN,
    IDEMPOTENCY_KEY,
    READER_TOKEN,
    ProblemShape,
    parameter_name,
    problem_name,
)
from app.blueprints.v1.examples import ExamplesPlugin
from app.errors import OTHER_TITLE, TITLES
from app.permissions import public
from app.surfaces import problem_type

PROBLEM = "application/problem+json"
# Headers of answers, for `@bp.response(…, headers=LOCATION | RETRY_AFTER)`.
LOCATION: dict[str, Any] = {
    "Location": {"description": "Where it can be read.", "schema": {"type": "string", "format": "uri-reference"}}
}
RETRY_AFTER: dict[str, Any] = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 1}}}
ETAG: dict[str, Any] = {
    "ETag": {"description": "Send it as If-None-Match: 304 says that nothing changed.", "schema": {"type": "string"}}
}
REPLAYED: dict[str, Any] = {
    "Idempotent-Replayed": {
        "description": "`true` where the same Idempotency-Key was answered before.",
        "schema": {"type": "string", "enum": ["true"]},
    }
}
TITLE = "Shop API"
VERSION = "1"
INTRODUCTION = """\
For programs that manage a shop, and for tills. Sign in at `/v1/auth/login` on the host of the shop and send the token
with every call. Every answer that is not a success is a problem (RFC 9457) with a stable `code`. Times are in UTC,
names in camelCase, amounts of money whole numbers in minor units; fields and parameters that are not described are
refused. While the database is busy any call may answer 503 with Retry-After; nothing was done then.

A payment at a till: `createPosPaymentIntent`, the tap of a card on the reader, `capturePosPaymentIntent`. Send an
Idempotency-Key, so that a payment whose answer got lost is not begun twice.
"""
# What each kind of problem means here, and an example of its code.
MEANINGS: dict[int, tuple[str, str]] = {
    400: (
        "The body or a parameter breaks rules; `errors` names every one with its place. `bad_request`: it cannot be "
        "read at all.",
        "invalid",
    ),
    401: (
        "No token, or one that does not hold: `token_invalid`, `token_expired` (get another with the refresh token), "
        "`session_expired`, `session_revoked`, `refresh_reused` (sign in again); at signing in `invalid_credentials`.",
        "token_expired",
    ),
    402: ("The card was declined; the same payment can be tried again, with this card or another.", "card_declined"),
    403: (
        "The user's role, the plan of the shop, or what an agent is allowed at a till does not allow this; `code` says "
        "which.",
        "forbidden",
    ),
    404: ("There is no such thing on this shop.", "not_found"),
    409: ("The state of things does not allow it now, or another user saved first (`stale_revision`).", "conflict"),
    413: ("The body is too large.", "request_entity_too_large"),
    415: ("The body is not JSON.", "unsupported_media_type"),
    422: ("Well-formed, but beyond what the shop allows.", "amount_exceeds_limit"),
    429: ("Too many requests; `Retry-After` says how many seconds to wait.", "rate_limited"),
    502: (
        "The payment processor refused (`processor_error`), or the shop's account with it is not set up rightly "
        "(`processor_misconfigured`).",
        "processor_error",
    ),
    503: ("Temporarily unavailable; nothing was done. Try again after `Retry-After` seconds.", "processor_unavailable"),
    504: (
        "The payment processor did not answer in time, so the outcome is not known yet; `transactionId` names the "
        "transaction to read until it is.",
        "processor_timeout",
    ),
}

# Further members of some problems, in their examples.
MORE: dict[int, dict[str, object]] = {
    400: {"errors": [{"code": "required", "pointer": "#/name", "message": "This is required."}]},
    402: {"declineCode": "insufficient_funds", "retryable": True},
    422: {"maxAmountInPence": 50_000, "limitSource": "AGENT"},
    504: {"transactionId": "1042"},
}
HEADERS: dict[int, dict[str, Any]] = {
    401: {"WWW-Authenticate": {"description": "The challenge of RFC 6750.", "schema": {"type": "string"}}},
    429: RETRY_AFTER,
    503: RETRY_AFTER,
}

# The tags of operations, in the order of the page that shows them.
TAGS = {
    "Tokens": "Signing in, exchanging tokens, signing out.",
    "POS": "Tills on phones: locations, agents, card payments, refunds, receipts and work sessions.",
    "Catalogue": "Products and collections, for everybody.",
    "Basket": "Baskets of tills, their payment and submission.",
    "Webhooks": "What the payment processor sends.",
    "Taxonomies": "The classification of products.",
    "Merchandising": "Categories and their landing pages.",
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
        "security": [{ACCESS_TOKEN: []}],
        "tags": [{"name": name, "description": meaning} for name, meaning in TAGS.items()],
        "flask_plugin": CamelCasePaths(),
        "extra_plugins": [ExamplesPlugin(), BodyProblems()],
        "marshmallow_plugin": MarshmallowPlugin(schema_name_resolver=_name_of),
    }


class CamelCasePaths(FlaskPlugin):  # type: ignore[misc]
    """A plugin that names the parameters of paths in camelCase, like every other name of the API."""

    def __init__(self) -> None:
        super().__init__()
        self.register_converter(PathConverter, lambda _converter: {"type": "string", "minLength": 1})

    @staticmethod
    def flaskpath2openapi(path: str) -> str:
        return re.sub(r"<(?:[^:<>]+:)?([^<>]+)>", lambda match: f"{{{parameter_name(match[1])}}}", path)

    def rule_to_params(self, rule: Rule) -> list[dict[str, Any]]:
        return [one | {"name": parameter_name(one["name"])} for one in super().rule_to_params(rule)]


class BodyProblems(BasePlugin):
    """A plugin that adds the problems for which any JSON body may be refused, so that no view needs to name them."""

    def operation_helper(self, path: str | None = None, operations: Any = None, **_more: Any) -> None:
        for operation in (operations or {}).values():
            answers = operation.get("responses", {})
            known = {str(status) for status in answers}
            if "requestBody" in operation and "400" in known:
                answers |= {status: problem_name(status) for status in (413, 415) if str(status) not in known}


def _name_of(shape: Any) -> str:
    kind = shape if isinstance(shape, type) else type(shape)
    return kind.__name__.removesuffix("Shape")


def describe_problems(spec: APISpec) -> None:
    """Add the shared header and the problems to the description. To be called before the views are described, which
    refer to these by name."""
    spec.components.parameter(
        IDEMPOTENCY_KEY,
        "header",
        {
            "name": "Idempotency-Key",
            "description": "A value that is new for each thing to do, and the same whenever it is tried again: the "
            "first answer is then given again, with `Idempotent-Replayed: true`. It belongs to the user, the location "
            "and the operation.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255},
            "example": "4f1c0c4e-3ad5-4c0e-9b0c-4f2a1f0f4d11",
        },
    )
    for status, (meaning, code) in MEANINGS.items():
        body = {"schema": ProblemShape, "example": _example(status, code)}
        response: dict[str, Any] = {"description": meaning, "content": {PROBLEM: body}}
        if status in HEADERS:
            response["headers"] = HEADERS[status]
        spec.components.response(problem_name(status), response, lazy=True)


def describe_tokens(spec: APISpec) -> None:
    """Add the security schemes to the description, and remove a schema that nothing refers to."""
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    spec.components.security_scheme(ACCESS_TOKEN, bearer | {"description": "Of `POST /v1/auth/login`."})
    reader = "The `token` of `GET /v1/pos/{locationId}/paymentToken`, for card readers alone."
    spec.components.security_scheme(READER_TOKEN, bearer | {"description": reader})
    spec.components.schemas.pop("PaginationMetadataSchema", None)  # Of flask-smorest's own lists, which no view uses.


def _example(status: int, code: str) -> dict[str, object]:
    return {
        "type": problem_type(code),
        "title": TITLES.get(status, OTHER_TITLE),
        "status": status,
        "detail": MEANINGS[status][0].partition(";")[0],
        "instance": "/v1/…",
        "code": code,
    } | MORE.get(status, {})
