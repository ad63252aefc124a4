"""`flask machines list` and `flask machines forget`."""

from __future__ import annotations

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts
from app.domain.sites.models import AuditEntry
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site
from tests.fakes.clock import StoppedClock


@pytest.fixture
def gone(app: Flask, clock: StoppedClock) -> str:
    with app.app_context(), transaction():
        make_site("fern.test")
        machines.register(clock, "left00000000", MachineFacts("left", "1.0", "opensearch", "postgresql", "s3"))
    clock.move(minutes=2)
    return "left00000000"


def test_machines_are_listed_with_their_state(app: Flask, gone: str) -> None:
    output = app.test_cli_runner().invoke(args=["machines", "list"]).output
    times = "2026-11-20T12:00:00Z\t2026-11-20T12:00:00Z"
    assert output == f"{gone}\tleft\tsilent\t{times}\t1.0\topensearch\ts3\n"


def test_one_that_is_gone_is_forgotten_and_the_log_says_by_whom(app: Flask, gone: str) -> None:
    runner = app.test_cli_runner()
    assert runner.invoke(args=["machines", "forget", gone]).output == "Forgot the machine left.\n"
    assert runner.invoke(args=["machines", "list"]).output == ""
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry)).one()
        assert (entry.action, entry.summary) == ("machine.forget", "Forgot the machine left")
    again = runner.invoke(args=["machines", "forget", gone])
    assert again.exit_code == 1 and f"There is no machine {gone}." in again.output


def test_one_that_runs_is_kept(app: Flask, gone: str, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        machines.beat(clock, gone)
    refused = app.test_cli_runner().invoke(args=["machines", "forget", gone])
    assert refused.exit_code == 1 and "The machine left runs" in refused.output
