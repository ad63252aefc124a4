"""The API describes itself truly and completely."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.permissions import DECLARED, PUBLIC
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


def test_every_problem_is_one_of_ours_with_an_example(described: dict[str, Any]) -> None:
    responses = described["components"]["responses"]
    for _, path, operation in _operations(described):
        for status, answer in operation["responses"].items():
            assert (int(status) >= 400) == ("$ref" in answer), (path, status)
    for name, response in responses.items():
        assert list(response["content"]) == ["application/problem+json"], name
        example = response["content"]["application/problem+json"]["example"]
        assert {"type", "title", "status", "detail", "instance", "code"} == example.keys() - {"errors"}


def test_examples_of_bodies_are_sound(app: Flask, described: dict[str, Any]) -> None:
    shapes = described["components"]["schemas"]
    for _, path, operation in _operations(described):
        for content in operation.get("requestBody", {}).get("content", {}).values():
            shape = shapes[content["schema"]["$ref"].rpartition("/")[2]]
            example = content.get("example", {})
            assert example.keys() <= shape["properties"].keys(), path
            assert shape["additionalProperties"] is False, path


def _operations(described: dict[str, Any]) -> Iterator[Operation]:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield method.upper(), path, operation


def _routes(app: Flask) -> dict[tuple[str, str], bool]:
    """Every (method, path) of /v1 but the description's own, and whether it is open to all."""
    found = {}
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/v1/") and rule.endpoint != "v1_description.openapi":
            path = rule.rule.replace("<", "{").replace(">", "}")
            public = getattr(app.view_functions[rule.endpoint], DECLARED) == PUBLIC
            found |= {(method, path): public for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    return found
