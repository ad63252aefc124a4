"""A person says that the clock is right, and removes what is old."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import func, select

from app.domain.alerts.alerts import open_alerts
from app.domain.catalogue.image_store import ImageStore
from app.domain.sites.models import AuditEntry, SignInFailure
from app.extensions import db
from app.ports import STORES
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.fakes.picture_storage import PicturesInMemory
from tests.searching import add_site


@pytest.fixture(autouse=True)
def attempts(app: Flask, clock: StoppedClock) -> None:
    """A hundred, of a shop that runs."""
    with app.app_context(), transaction():
        add_site("shop.test")
        add_site("other.test")
        db.session.add_all(SignInFailure(key=str(number), at=clock.now()) for number in range(100))
    purge(app)


def purge(app: Flask, *arguments: str) -> Result:
    return app.test_cli_runner().invoke(args=["purge", *arguments])


def left(app: Flask) -> int:
    with app.app_context():
        return db.session.scalar(select(func.count()).select_from(SignInFailure)) or 0


def test_a_purge_by_hand_says_what_it_removed_and_what_waits(app: Flask, clock: StoppedClock) -> None:
    for _ in range(2):
        clock.move(hours=18)
        result = purge(app)
    assert result.exit_code == 0
    assert ["throttled", "attempts", "100", "100", "25"] in [line.split() for line in result.output.splitlines()]
    assert left(app) == 75


def test_while_the_clock_is_in_doubt_nothing_goes_and_both_times_are_named(app: Flask, clock: StoppedClock) -> None:
    clock.jump(days=400)
    result = purge(app)
    assert result.exit_code == 1
    assert "The clock says 2027-12-25 12:00" in result.output and "purge --all" in result.output
    assert left(app) == 100


def test_a_person_who_says_that_the_clock_is_right_has_everything_removed(app: Flask, clock: StoppedClock) -> None:
    clock.jump(days=400)
    purge(app)
    assert purge(app, "--all").exit_code == 0
    assert left(app) == 0
    with app.app_context():
        assert not open_alerts(None)
        entries = db.session.execute(select(AuditEntry.site_id, AuditEntry.action, AuditEntry.actor)).all()
    assert entries == [(1, "purge.all", "command line"), (2, "purge.all", "command line")]
    assert purge(app).exit_code == 0, "the clock is believed from then on"


@pytest.mark.parametrize("argument", [(), ("--all",)])
def test_a_storage_of_pictures_that_is_down_is_said(app: Flask, tmp_path: Path, argument: tuple[str, ...]) -> None:
    images = ImageStore(PicturesInMemory("it does not answer"), tmp_path)
    app.extensions[STORES] = replace(app.extensions[STORES], images=images)
    refused = purge(app, *argument)
    assert refused.exit_code == 1
    assert refused.output == "Error: The storage of pictures cannot be used: it does not answer.\n"
