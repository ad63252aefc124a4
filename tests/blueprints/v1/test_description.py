"""The API describes itself truly and completely."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask

from app.blueprints.v1.api import parameter_name
from app.web.permissions import DECLARED, PUBLIC
from tests.blueprints.v1.conftest import LOGOUT, WEBHOOK, ApiClient, Signed
from tests.surroundings import ROOT

Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture
def described(app: Flask, site_id: int) -> dict[str, Any]:
    answer = app.test_client().get("/v1/openapi.json")
    assert answer.status_code == 200
    return answer.json


def test_the_file_in_docs_is_current(described: dict[str, Any]) -> None:
    kept = json.loads((ROOT / "docs" / "openapi.json").read_text())
    assert kept == described, "run `make openapi`"


def test_every_route_is_described_and_nothing_else(app: Flask, described: dict[str, Any]) -> None:
    assert described["openapi"] == "3.1.0"
    assert {(method, path) for method, path, _ in _operations(described)} == set(_routes(app))


def test_every_operation_has_a_name_of_its_own_and_a_sentence(described: dict[str, Any]) -> None:
    operations = [operation for _, _, operation in _operations(described)]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    assert all(operation["summary"] for operation in operations)


def test_only_what_is_open_to_all_says_so(app: Flask, described: dict[str, Any]) -> None:
    open_to_all = {row for row, public in _routes(app).items() if public}
    assert described["security"] == [{"accessToken": []}]
    said = {(method, path) for method, path, operation in _operations(described) if operation.get("security") == []}
    assert said == open_to_all
    for method, path, operation in _operations(described):
        if (method, path) not in open_to_all:
            assert {"401", "403"} <= operation["responses"].keys(), path


def test_every_operation_has_one_of_the_tags(described: dict[str, Any]) -> None:
    """And whatever the till uses of its own is tagged POS, as the specification says."""
    tags = {tag["name"] for tag in described["tags"]}
    for _, path, operation in _operations(described):
        assert len(operation["tags"]) == 1 and set(operation["tags"]) <= tags, path
        assert (operation["tags"] == ["POS"]) == path.startswith("/v1/pos/"), path


def test_every_problem_is_one_of_ours_with_an_example(described: dict[str, Any]) -> None:
    responses = described["components"]["responses"]
    for _, path, operation in _operations(described):
        for status, answer in operation["responses"].items():
            assert (int(status) >= 400) == ("$ref" in answer), (path, status)
    for name, response in responses.items():
        assert list(response["content"]) == ["application/problem+json"], name
        example = response["content"]["application/problem+json"]["example"]
        assert {"type", "title", "status", "detail", "instance", "code"} <= example.keys()


def test_examples_of_bodies_are_sound(app: Flask, described: dict[str, Any]) -> None:
    shapes = described["components"]["schemas"]
    for _, path, operation in _operations(described):
        if path in (LOGOUT, WEBHOOK):  # Any body is read.
            continue
        for content in operation.get("requestBody", {}).get("content", {}).values():
            shape = shapes[content["schema"]["$ref"].rpartition("/")[2]]
            example = content.get("example", {})
            assert example.keys() <= shape["properties"].keys(), path
            assert shape["additionalProperties"] is False, path


def test_every_example_fits_its_schema(described: dict[str, Any]) -> None:
    """And every body of JSON has one."""
    for method, path, operation in _operations(described):
        for body in (operation.get("requestBody", {}), *operation["responses"].values()):
            content = body.get("content", {}).get("application/json", {})
            if path != LOGOUT and "schema" in content:
                schema = content["schema"] | {"components": described["components"]}
                validator = jsonschema_rs.Draft202012Validator(schema)
                assert [error.message for error in validator.iter_errors(content["example"])] == [], (method, path)


def test_signing_out_takes_any_body_and_says_so(described: dict[str, Any]) -> None:
    contents = described["paths"][LOGOUT]["post"]["requestBody"]["content"]
    assert contents.keys() == {"application/json", "text/plain"}
    for content in contents.values():
        assert content["schema"].keys() == {"description", "properties"}
        assert all(part.keys() <= {"description", "default"} for part in content["schema"]["properties"].values())


def test_every_text_that_is_sent_is_described_without_nul(described: dict[str, Any]) -> None:
    for name, shape in _sent_shapes(described):
        for label, part in shape["properties"].items():
            if "string" in part.get("type", "") and "enum" not in part:
                assert not re.search(part["pattern"], "a\0b"), (name, label)
                assert re.search(part["pattern"], "A line."), (name, label)


def test_lines_are_described_as_they_are_read(stranger: ApiClient, described: dict[str, Any]) -> None:
    """In the regular expressions of ECMA 262: anchored by themselves, and with no `\\Z` of Python's."""
    shapes = described["components"]["schemas"]
    pattern = shapes["LoginBody"]["properties"]["deviceName"]["pattern"]
    for line in ("Till 7", "é", "x" * 100, "\u0085", "", "x" * 101, "a\tb", "a\x1fb", "a\x7f"):
        answer = stranger.sign_in("nobody@shop.test", deviceName=line)
        assert (answer.status_code == 403) == bool(re.search(pattern, line)), line


@pytest.mark.parametrize(
    "name", ["Outdoor", " x ", "", "\t \x85", "a\tb", "a\x85b", "a\x01b", "a\u202eb", "\ufffe", "x" * 201]
)
def test_names_are_described_as_they_are_read(signed_in: Signed, described: dict[str, Any], name: str) -> None:
    rule = described["components"]["schemas"]["CreateBody"]["properties"]["name"]
    fits = bool(re.search(rule["pattern"], name)) and rule["minLength"] <= len(name) <= rule["maxLength"]
    answer = signed_in().call("POST", "/v1/admin/taxonomies", {"name": name})
    assert answer.status_code == (201 if fits else 400), answer.text


@pytest.mark.parametrize("text", ["", "a\nb\tc", "a\rb", "a\x0cb", "a\x01b", "a\x95b", "a\u202eb", "x" * 5_001])
def test_descriptions_are_described_as_they_are_read(signed_in: Signed, described: dict[str, Any], text: str) -> None:
    rule = described["components"]["schemas"]["CreateBody"]["properties"]["description"]
    fits = bool(re.search(rule["pattern"], text)) and len(text) <= rule["maxLength"]
    answer = signed_in().call("POST", "/v1/admin/taxonomies", {"name": "Outdoor", "description": text})
    assert answer.status_code == (201 if fits else 400), answer.text


def test_a_refresh_says_when_it_needs_the_device(described: dict[str, Any]) -> None:
    result = described["components"]["schemas"]["RefreshBody"]["properties"]["deviceId"]["description"]
    assert "Required where the session was opened with one" in result


def _sent_shapes(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Those of bodies, and those within them."""
    for name, shape in described["components"]["schemas"].items():
        if name.endswith("Body") or name in ("Level", "Attribute", "Validation"):
            yield name, shape


def _operations(described: dict[str, Any]) -> Iterator[Operation]:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield method.upper(), path, operation


def _routes(app: Flask) -> dict[tuple[str, str], bool]:
    """Every (method, path) of /v1 but the description's own, and whether it is open to all."""
    found = {}
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/v1/") and rule.endpoint not in ("v1_description.openapi", "v1_reader.docs"):
            path = re.sub("<(?:[^:<>]+:)?([^<>]+)>", lambda match: f"{{{parameter_name(match[1])}}}", rule.rule)
            public = getattr(app.view_functions[rule.endpoint], DECLARED) == PUBLIC
            found |= {(method, path): public for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    return found


NAMED_BY_THE_SPECIFICATION = {
    "createPosConnectionToken": (None, "PosConnectionToken"),
    "createPosPaymentIntent": ("CreatePosPaymentIntent", "PosPaymentIntent"),
    "createBasketPaymentIntent": (None, "PosPaymentIntent"),
}


def test_schemas_have_the_names_of_the_specification(described: dict[str, Any]) -> None:
    names = {"PosConnectionToken", "PosLocation", "CreatePosPaymentIntent", "PosPaymentIntent", "PosTransaction"}
    assert names | {"PosAgent", "PosSession", "Address", "Basket"} <= set(described["components"]["schemas"])
    for _, _, operation in _operations(described):
        body, answer = NAMED_BY_THE_SPECIFICATION.get(operation["operationId"], (None, None))
        if body:
            sent = operation["requestBody"]["content"]["application/json"]["schema"]
            assert sent == {"$ref": f"#/components/schemas/{body}"}
        if answer:
            (done,) = (operation["responses"][status] for status in ("200", "201") if status in operation["responses"])
            shown = done["content"]["application/json"]["schema"]
            assert shown == {"$ref": f"#/components/schemas/{answer}"}
    items = described["components"]["schemas"]["PosTransactions"]["properties"]["items"]["items"]
    assert items == {"$ref": "#/components/schemas/PosTransaction"}


def test_a_body_that_is_required_has_a_field_that_is_and_one_that_is_not_has_none(described: dict[str, Any]) -> None:
    for _, _, operation in _operations(described):
        sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        schema = described["components"]["schemas"].get(sent.get("$ref", "").rpartition("/")[2])
        if schema and operation["operationId"] != "saveCategoryLandingRules":  # One of two, which the view asks for.
            assert operation["requestBody"]["required"] == bool(schema.get("required")), operation["operationId"]
