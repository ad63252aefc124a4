"""Examples of bodies in the description, made from their shapes where a view gives none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apispec import APISpec, BasePlugin

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
        return _object(schema, schemas, within)
    if kind == "array" and "example" not in schema and name not in BY_NAME:
        item = example_of(schema.get("items", {}), schemas, name, within)
        return [] if item is None else [item]
    return _scalar(schema, kind, name)


def type_of(schema: Json) -> str | None:
    """Return the type of a schema; of several the first one besides null."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return next((kind for kind in kinds if kind != "null"), "null")
    return kinds if isinstance(kinds, str) else None


def _object(schema: Json, schemas: Mapping[str, Json], within: tuple[str, ...]) -> Json:
    required = schema.get("required", ())
    values = {
        name: example_of(part, schemas, name, within)
        for name, part in schema.get("properties", {}).items()
        if not part.get("readOnly")
    }
    return {name: value for name, value in values.items() if value is not None or name in required}


def _scalar(schema: Json, kind: str | None, name: str) -> Any:
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
