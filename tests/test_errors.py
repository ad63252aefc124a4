"""Errors as answers."""

from __future__ import annotations

from flask import Flask

from app.domain.shared.problems import Conflict
from app.errors import problem


def test_no_detail_of_an_error_replaces_what_every_problem_says(app: Flask) -> None:
    error = Conflict("Not now.", "busy", status="PENDING", title="Mine", maxAmount=5)
    with app.test_request_context("/v1/anything"):
        answer = problem(409, error.code, error.message, error.details)
    body = answer.get_json()
    assert (answer.status_code, body["status"], body["code"], body["maxAmount"]) == (409, 409, "busy", 5)
    assert body["title"] != "Mine"
