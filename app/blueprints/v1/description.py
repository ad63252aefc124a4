"""The description of the API: OpenAPI 3.1, made from the views and served beside them, with examples of bodies that are
made from their shapes where a view gives none."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from app.web.errors import OTHER_TITLE, TITLES
from app.web.permissions import public
from app.web.surfaces import problem_type

Json = dict[str, Any]
JSON = "application/json"
# Of fields whose shape gives none. One name means one thing everywhere, so that an example is given once.
BY_NAME: Json = {
    "pageNumber": 1,
    "pageSize": 20,
    "totalItems": 1,
    "totalPages": 1,
    "revision": 4,
    "id": "1042",
    "email": "agent@demo.test",
    "displayName": "Alex Agent",
    "roles": ["POS_AGENT"],
    "deviceId": "5f0c8a52-till-3",
    "deviceName": "Till 3",
    "userId": "4",
    "agentId": "7",
    "locationId": "tml_market",
    "processorLocationId": "tml_market",
    "processorAccountId": "acct_1Mv2",
    "publishableKey": "pk_live_51Mv",
    "secret": "pst_live_YWNjdF8…",
    "clientSecret": "pi_3Qk1_secret_9aX2",
    "transactionId": "8b26b5d1-258c-4e5f-ae31-2871acd424c5",
    "orderId": "09fdca25-5baf-4e20-b682-3a3b3f9f57cb",
    "skuCode": "TENT-2",
    "upc": "5012345678900",
    "seoName": "lake-tent",
    "manufacturer": "Moor",
    "reason": "One mug was broken",
    "endReason": "LOGOUT",
    "closingNote": "",
    "line1": "12 Market Square",
    "line2": "",
    "state": "",
    "sessionId": "0d9a7c61f0b24f1e",
    "token": "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.….…",
    "refreshToken": "q6Zl…",
    "amountInPence": 2599,
    "amount": 2599,
    "amountReceived": 2599,
    "currency": "gbp",
    "orderNumber": "1042",
    "cardBrand": "visa",
    "cardLast4": "4242",
    "name": "Lake tent",
    "path": "tents/family-tents",
    "facetId": "manufacturer",
    "pathSegment": "brand",
    "value": "Moor",
    "heading": "Tents for the moor",
    "note": "First levels",
    "country": "GB",
    "postalCode": "SW1A 1AA",
    "city": "London",
}
BY_FORMAT = {
    "date-time": "2026-11-20T21:04:05Z",
    "date": "2026-11-20",
    "email": "agent@demo.test",
    "uri": "https://shop.test/",
    "uri-reference": "/",
    "uuid": "4f1c0c4e-3ad5-4c0e-9b0c-4f2a1f0f4d11",
}
BY_TYPE: Json = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}
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
        "(`processor_misconfigured`); of a print job: the printer cannot be reached (`printer_unavailable`).",
        "processor_error",
    ),
    503: ("Temporarily unavailable; nothing was done. Try again after `Retry-After` seconds.", "processor_unavailable"),
    504: (
        "The payment processor did not answer in time, so the outcome is not known yet; `transactionId` names the "
        "transaction to read until it is. Of a print job: the printer did not take all in time (`printer_timeout`).",
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
    "Tokens": "Signing in, exchanging tokens, signing out, devices.",
    "POS": "Tills on phones: locations, agents, card payments, refunds, receipts and work sessions.",
    "Catalogue": "Products, categories and collections, for everybody.",
    "Basket": "Baskets of tills, their payment and submission.",
    "Webhooks": "What the payment processor sends.",
    "Taxonomies": "The classification of products.",
    "Merchandising": "Categories and their landing pages.",
}
bp = Blueprint("v1_description", __name__, url_prefix="/v1")


class ExamplesPlugin(BasePlugin):
    """A plugin that adds an example to each body without one. It stands after the plugin that replaces shapes by their
    schemas."""

    def init_spec(self, spec: APISpec) -> None:
        super().init_spec(spec)
        self._schemas = spec.components.schemas

    def operation_helper(self, path: str | None = None, operations: Json | None = None, **_more: Any) -> None:
        for operation in (operations or {}).values():
            for body in (operation.get("requestBody"), *operation.get("responses", {}).values()):
                if isinstance(body, dict):
                    self._complete(body.get("content", {}))

    def _complete(self, contents: Json) -> None:
        content = contents.get(JSON, {})
        if "schema" in content and not {"example", "examples"} & content.keys():
            example = example_of(content["schema"], self._schemas)
            if example is not None:
                content["example"] = example


def example_of(schema: Json, schemas: Mapping[str, Json], name: str = "", within: tuple[str, ...] = ()) -> Any:
    """Return an example for the schema of the field `name`; None for a shape within itself."""
    if "$ref" in schema:
        shape = schema["$ref"].rpartition("/")[2]
        return None if shape in within else example_of(schemas[shape], schemas, name, (*within, shape))
    for parts in ("allOf", "anyOf", "oneOf"):
        if parts in schema:
            return example_of(schema[parts][0], schemas, name, within)
    kind = type_of(schema)
    if kind == "object" and "example" not in schema:
        return _object_example(schema, schemas, within)
    if kind == "array" and "example" not in schema and name not in BY_NAME:
        item = example_of(schema.get("items", {}), schemas, name, within)
        return [] if item is None else [item]
    return _scalar_example(schema, kind, name)


def type_of(schema: Json) -> str | None:
    """Return the type of a schema; of several the first one besides null."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return next((kind for kind in kinds if kind != "null"), "null")
    return kinds if isinstance(kinds, str) else None


def _object_example(schema: Json, schemas: Mapping[str, Json], within: tuple[str, ...]) -> Json:
    required = schema.get("required", ())
    values = {
        name: example_of(part, schemas, name, within)
        for name, part in schema.get("properties", {}).items()
        if not part.get("readOnly")
    }
    return {name: value for name, value in values.items() if value is not None or name in required}


def _scalar_example(schema: Json, kind: str | None, name: str) -> Any:
    if "example" in schema:
        return schema["example"]
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("default") is not None:
        return schema["default"]
    if name in BY_NAME:
        return BY_NAME[name]
    if schema.get("format") in BY_FORMAT:
        return BY_FORMAT[schema["format"]]
    return max(BY_TYPE["integer"], schema.get("minimum", 1)) if kind == "integer" else BY_TYPE.get(kind or "null")


@bp.get("/openapi.json")
@public
def openapi() -> Response:
    return jsonify(api_description())


def api_description() -> dict[str, Any]:
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
        "marshmallow_plugin": MarshmallowPlugin(schema_name_resolver=_schema_name),
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


def _schema_name(shape: Any) -> str:
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
        body = {"schema": ProblemShape, "example": _problem_example(status, code)}
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


def _problem_example(status: int, code: str) -> dict[str, object]:
    return {
        "type": problem_type(code),
        "title": TITLES.get(status, OTHER_TITLE),
        "status": status,
        "detail": MEANINGS[status][0].partition(";")[0],
        "instance": "/v1/…",
        "code": code,
    } | MORE.get(status, {})
