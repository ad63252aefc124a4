"""The database may go away after a view has answered."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from flask import Flask, Response
from sqlalchemy.exc import OperationalError

GONE = OperationalError("SELECT", {}, psycopg.OperationalError("the server went away"))


@pytest.mark.parametrize(("whole", "status"), [(True, 200), (False, 503)])
def test_an_answer_that_reads_as_it_is_sent_begins_with_its_first_line_or_is_a_503(
    app: Flask, whole: bool, status: int
) -> None:
    def lines() -> Iterator[str]:
        if not whole:
            raise GONE
        yield "first\n"
        yield "second\n"

    with app.test_request_context("/v1/anything"):
        answer = app.process_response(Response(lines(), mimetype="text/csv"))
        assert answer.status_code == status
        assert not whole or answer.get_data(as_text=True) == "first\nsecond\n"
