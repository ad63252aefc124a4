"""The page of the API shows all that is described, to people with and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.blueprints.v1.description import api_description
from app.blueprints.v1.reader import Operation, prose, read_page
from tests.page_client import PageClient, Reading


@pytest.fixture
def description(app: Flask) -> dict[str, Any]:
    with app.app_context():
        return api_description()


@pytest.fixture
def page(app: Flask, site_id: int) -> Reading:
    return PageClient(app).get("/v1/docs")


def _operation(description: dict[str, Any], name: str) -> Operation:
    chapters = read_page(description).chapters
    return next(one for chapter in chapters for one in chapter.operations if one.name == name)


def test_every_operation_has_an_anchor_and_stands_in_the_contents(page: Reading, description: dict[str, Any]) -> None:
    names = [
        one["operationId"] for item in description["paths"].values() for one in item.values() if "responses" in one
    ]
    anchors = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = [link["href"] for link in page.all("a")]
    for name in names:
        assert name in anchors and f"#{name}" in links


def test_every_link_within_the_page_leads_somewhere(page: Reading) -> None:
    anchors = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {link["href"][1:] for link in page.all("a") if link["href"].startswith("#")} <= anchors


def test_everything_comes_from_the_shop(page: Reading) -> None:
    loaded = [one.get("src") or one["href"] for one in page.all("script", "link", "img")]
    assert loaded and all(address.startswith("/static/") for address in loaded)


def test_an_operation_shows_what_is_sent_and_answered(description: dict[str, Any]) -> None:
    login = _operation(description, "login")
    assert (login.method, login.path, login.security) == ("POST", "/v1/auth/login", "")
    fields = {field.name: field for field in login.bodies[0].fields}
    assert fields["email"].is_required and fields["email"].rules == ("at most 254 characters",)
    assert fields["audience"].rules == ("one of api, pos", 'default "api"')
    assert '"email": "admin@demo.test"' in (login.bodies[0].example or "")
    assert [(answer.status, answer.body and answer.body.type.shape) for answer in login.answers] == [
        ("200", "SignedIn")
    ]
    assert "429" in login.problems


def test_an_operation_shows_the_parameters_of_its_path_and_query(description: dict[str, Any]) -> None:
    pages = _operation(description, "listCategoryLandingPages")
    found = [(field.name, field.place, field.is_required) for field in pages.parameters]
    assert found[0] == ("nodeId", "path", True) and ("pageSize", "query", False) in found
    assert pages.security == "accessToken"


def test_every_problem_has_an_example(description: dict[str, Any]) -> None:
    problems = read_page(description).problems
    assert [problem.status for problem in problems] == sorted(problem.status for problem in problems)
    assert all(problem.body and problem.body.example for problem in problems)
    assert {"400", "401", "409", "429"} <= {problem.status for problem in problems}


def test_what_a_description_says_is_text_and_no_markup() -> None:
    assert prose("Say `<b>`\nnow.\n\nThen & there.") == "<p>Say <code>&lt;b&gt;</code> now.</p><p>Then &amp; there.</p>"
