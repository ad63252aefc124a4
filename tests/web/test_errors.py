"""Errors as answers."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import delete, select
from sqlalchemy.orm.exc import StaleDataError
from structlog.typing import EventDict

from app.domain.shared.problems import Conflict
from app.domain.sites.models import Site
from app.extensions import db
from app.operations.storage import REMOVED_MEANWHILE
from app.transaction import transaction
from app.web.errors import problem
from tests.factories import make_site


def test_no_detail_of_an_error_replaces_what_every_problem_says(app: Flask) -> None:
    error = Conflict("Not now.", "busy", status="PENDING", title="Mine", maxAmount=5)
    with app.test_request_context("/v1/anything"):
        answer = problem(409, error.code, error.message, error.details)
    body = answer.get_json()
    assert (answer.status_code, body["status"], body["code"], body["maxAmount"]) == (409, 409, "busy", 5)
    assert body["title"] != "Mine"


@pytest.mark.parametrize("touch", ["save", "read"])
def test_who_saves_or_reads_what_another_removes_at_that_moment_is_told_so(app: Flask, touch: str) -> None:
    """PostgreSQL lets another session do so between look and touch. Here the session does so itself."""
    with app.test_request_context("/v1/anything", method="POST"):
        with transaction():
            make_site()
        with pytest.raises(REMOVED_MEANWHILE) as raised, transaction():
            site = db.session.scalars(select(Site)).one()
            db.session.execute(delete(Site), execution_options={"synchronize_session": False})
            if touch == "save":
                site.name = "Renamed"
            else:
                db.session.expire(site)
                _ = site.name
        answer = app.make_response(app.handle_user_exception(raised.value))
    assert (answer.status_code, answer.get_json()["code"]) == (409, "conflict")
    unsaved = ", so nothing was saved" if touch == "save" else ""
    assert answer.get_json()["detail"] == f"Something of this was removed at the same moment{unsaved}. Load it again."


def test_a_form_of_which_something_is_removed_meanwhile_stays_with_what_was_typed(
    app: Flask, log_lines: list[EventDict]
) -> None:
    with app.test_request_context("/admin/anything", method="POST", headers={"HX-Request": "true"}):
        error = StaleDataError("UPDATE expected to update 1 row; 0 were matched.")
        answer = app.make_response(app.handle_user_exception(error))
    assert answer.status_code == 409 and answer.headers["HX-Retarget"] == "#flashes"
    assert [(line["event"], line["exc_info"]) for line in log_lines] == [("removed_meanwhile", error)]
