"""What runs goes on when another release cannot take over from it, or part of it cannot be started."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path

import pytest

from app.config import Config
from app.instance_claim import CannotStart
from app.operations.supervisor import __main__ as supervisor
from app.operations.supervisor.listeners import claim_port
from app.operations.supervisor.parts import FAILED, Crew, Part, Release, say
from tests.waiting import until

WEB = 'printf 1 > /proc/self/fd/"$SHOP_READY"; exec sleep 600'


def web(name: str = "web server") -> Part:
    return Part(name, ["/bin/sh", "-c", WEB], dict(os.environ), reports=True)


def other(name: str = "worker") -> Part:
    return Part(name, ["/bin/sleep", "600"], dict(os.environ))


def missing(name: str) -> Part:
    return Part(name, ["/nowhere/python"], dict(os.environ))


@pytest.fixture
def crew() -> Iterator[Crew]:
    """One web server and one worker, both of which run."""
    made = Crew()
    try:
        made.start_first([web()], [other()])
        yield made
    finally:
        made.stop()


def processes(crew: Crew) -> list[int]:
    return [part.process.pid for part in (*crew.web, *crew.others) if part.process and part.running]


def test_another_release_takes_over(crew: Crew) -> None:
    before, fresh = processes(crew), [web(), other()]
    assert crew.take_over(fresh[:1], lambda: fresh[1:])
    assert [*crew.web, *crew.others] == fresh
    assert len(processes(crew)) == 2 and not set(before) & set(processes(crew))


def test_web_servers_that_cannot_all_be_started_take_nothing_over(crew: Crew) -> None:
    before, first = processes(crew), web("web server 1")
    with pytest.raises(CannotStart, match=r"^The web server 2 cannot be started \(No such file .*/nowhere/python\)"):
        crew.take_over([first, missing("web server 2")], lambda: [other()])
    assert processes(crew) == before
    assert first.process and not first.running


def test_a_worker_that_cannot_be_started_gives_back_what_was_taken_over(crew: Crew) -> None:
    """The old worker had ended by then, and is started again."""
    (web_before, _), fresh, scheduler = processes(crew), web(), other("scheduler")
    with pytest.raises(CannotStart, match=r"^The worker cannot be started"):
        crew.take_over([fresh], lambda: [scheduler, missing("worker")])
    assert fresh.process and not fresh.running
    assert scheduler.process and not scheduler.running
    crew.tend()
    crew.tend()
    assert processes(crew)[0] == web_before
    assert len(processes(crew)) == 2


def test_web_servers_that_die_at_once_take_nothing_over(crew: Crew) -> None:
    before = processes(crew)
    dying = Part("web server", ["/bin/false"], dict(os.environ), reports=True)
    assert not crew.take_over([dying], lambda: [other()])
    assert processes(crew) == before


def test_an_upgrade_to_a_release_without_its_python_is_refused(
    crew: Crew, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = processes(crew)
    with (
        claim_port("127.0.0.1", 0) as listener,
        pytest.raises(CannotStart, match=r"^The preparation cannot be started"),
    ):
        release = Release(tmp_path, str(tmp_path / "python"), dict(os.environ))
        supervisor._replace_by(release, Config(), supervisor.Inherited(listener, None, 9), crew)
    assert capsys.readouterr().err == f"Upgrading to {tmp_path}.\n"
    assert processes(crew) == before


def test_a_preparation_that_is_killed_says_so(crew: Crew, capsys: pytest.CaptureFixture[str]) -> None:
    preparation = Part("preparation", ["/bin/sh", "-c", "kill -9 $$"], dict(os.environ))
    assert crew.prepare(preparation) == -signal.SIGKILL
    assert capsys.readouterr().err == "The preparation stopped (killed by SIGKILL).\n"
    assert crew.prepare(Part("preparation", ["/bin/false"], dict(os.environ))) == FAILED


@pytest.mark.parametrize(
    ("web_servers", "others"),
    [([missing("part")], []), ([web(), missing("part")], []), ([web()], [other(), missing("part")])],
)
def test_the_first_start_ends_where_a_part_cannot_be_started(web_servers: list[Part], others: list[Part]) -> None:
    crew = Crew()
    with pytest.raises(CannotStart, match=r"^The part cannot be started \(No such file or directory: /nowhere/python"):
        crew.start_first(web_servers, others)
    crew.stop()
    assert not any(part.running for part in (*web_servers, *others))


def test_a_part_that_cannot_be_started_again_ends_no_other(
    crew: Crew, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    worker, (web_server, _) = crew.others[0], processes(crew)
    worker.command = [str(tmp_path / "removed")]
    os.kill(worker.process.pid, signal.SIGKILL)
    until(lambda: not worker.running)
    crew.tend()
    crew.tend()
    assert processes(crew) == [web_server]
    assert capsys.readouterr().err.splitlines() == [
        "The worker stopped (killed by SIGKILL); it is started again now.",
        f"The worker cannot be started (No such file or directory: {tmp_path}/removed). The next try is in 1 s.",
    ]


def test_a_log_on_a_full_disk_ends_nothing() -> None:
    full = open("/dev/full", "w", buffering=1)  # noqa: SIM115 (closing fails, too)
    with redirect_stderr(full):
        say("The worker stopped.")
    with suppress(OSError):
        full.close()
