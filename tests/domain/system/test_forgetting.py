"""A machine that will not come back is forgotten, with what only it could end."""

from __future__ import annotations

import pytest

from app.domain.alerts.alerts import open_alerts, raise_alert
from app.domain.alerts.causes import Cause
from app.domain.alerts.job_failures import note_failure
from app.domain.bundles import runs
from app.domain.bundles.parts import OF_AN_ADMIN
from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.system import job_runs
from app.domain.system.forgetting import GONE, forget_machine, forget_machines, silent_machine
from app.ports import work_kinds
from app.transaction import transaction
from tests.factories import make_site, make_user
from tests.fakes.clock import StoppedClock

FACTS = MachineFacts("left", "1.0", "opensearch", "postgresql", "s3")

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def gone(clock: StoppedClock) -> str:
    """A machine with an open alert, a job that fails and an import that only it can do."""
    with transaction():
        machines.register(clock, "left00000000", FACTS)
        raise_alert(clock, Cause.DISK_FULL, "12 MB left", machine="left00000000")
        raise_alert(clock, Cause.CLOCK_MOVED, "by a day")
        for _ in range(2):
            note_failure(clock, "measure", "no disk", machine="left00000000")
        job_runs.note_start(clock, "measure@left00000000")
    return "left00000000"


def causes() -> set[str]:
    return {alert.cause for alert in open_alerts(None)}


def test_its_alerts_and_runs_end_and_those_of_the_shop_stay(gone: str, clock: StoppedClock) -> None:
    assert causes() == {"disk_full", "clock_moved", "job_failed_twice"}
    with transaction():
        forget_machine(clock, work_kinds(), gone)
    assert causes() == {"clock_moved"}
    assert job_runs.latest_runs(gone) == {} and machines.all_machines() == []


def test_its_work_fails_and_can_be_requested_again(gone: str, clock: StoppedClock) -> None:
    with transaction():
        site = make_site()
        site_id, user_id = site.id, make_user(site).id
        author = Author(site_id, "Mia", clock)
        run = runs.request_import(author, user_id, "shop.zip", f"{'0' * 32}.zip", OF_AN_ADMIN, gone)
        run_id = run.id
    with transaction():
        forget_machine(clock, work_kinds(), gone)
    ended = runs.run_of(site_id, run_id)
    assert (ended.state, ended.error) == ("failed", GONE)


def test_it_is_forgotten_by_itself_after_a_week_and_this_one_never(gone: str, clock: StoppedClock) -> None:
    with transaction():
        machines.register(clock, "right0000000", FACTS)
    clock.move(days=6)
    with transaction():
        assert forget_machines(clock, work_kinds(), "right0000000") == []
    clock.move(days=1, seconds=1)
    with transaction():
        assert forget_machines(clock, work_kinds(), "right0000000") == [gone]
    assert [machine.id for machine in machines.all_machines()] == ["right0000000"]


def test_one_that_runs_is_not_forgotten_by_hand(gone: str, clock: StoppedClock) -> None:
    with pytest.raises(Conflict, match="The machine left runs"):
        silent_machine(clock, gone)
    clock.move(minutes=2)
    assert silent_machine(clock, gone).id == gone
    with pytest.raises(NotFound):
        silent_machine(clock, "right")
