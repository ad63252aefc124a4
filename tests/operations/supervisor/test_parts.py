"""A part that dies is started again; what runs goes on when another release cannot take over from it."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from pathlib import Path

import pytest

from app.config import Config
from app.operations.instance import CannotStart
from app.operations.supervisor import __main__ as supervisor
from app.operations.supervisor.listeners import claim_port
from app.operations.supervisor.parts import FAILED, Crew, Part, Release, pause_before_restart, say, stop
from tests.waiting import until


def part(code: str, *arguments: str) -> Part:
    return Part("part", [sys.executable, "-c", code, *arguments], dict(os.environ))


SLEEPING = "import time; time.sleep(600)"
DEAF = "import os, signal, sys, time; signal.signal(15, signal.SIG_IGN); open(sys.argv[1], 'w'); time.sleep(600)"


@pytest.mark.parametrize(("deaths", "seconds"), [(1, 0), (2, 1), (3, 2), (4, 4), (50, 30)])
def test_pauses_grow_but_end(deaths: int, seconds: float) -> None:
    assert pause_before_restart(deaths) == seconds


def test_a_part_that_was_killed_runs_again() -> None:
    sleeper = part(SLEEPING)
    sleeper.start()
    first = sleeper.process.pid
    os.kill(first, signal.SIGKILL)
    until(lambda: not sleeper.running)
    assert "killed by SIGKILL" in sleeper.supervise()
    sleeper.supervise()
    assert sleeper.running
    assert sleeper.process.pid != first
    stop([sleeper], 5)


def test_a_part_that_keeps_dying_is_not_started_at_once_again() -> None:
    broken = part("raise SystemExit(3)")
    broken.start()
    until(lambda: not broken.running)
    assert "exit status 3" in broken.supervise()
    broken.supervise()
    until(lambda: not broken.running)
    assert "started again in 1 s" in broken.supervise()
    broken.supervise()
    assert not broken.running


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """What a part runs, which a test may take away."""
    program = tmp_path / "program"
    program.symlink_to("/bin/sleep")
    return program


@pytest.fixture
def sleeper(program: Path) -> Iterator[Part]:
    """A part that was killed and is to be started again now."""
    made = Part("worker", [str(program), "600"], dict(os.environ))
    made.start()
    os.kill(made.process.pid, signal.SIGKILL)
    until(lambda: not made.running)
    made.supervise()
    yield made
    stop([made], 5)


def at_once(part: Part) -> str | None:
    """Tend a part whose pause is over."""
    part.start_again_at = 0.0
    return part.supervise()


@contextmanager
def no_more_files() -> Iterator[None]:
    """Whatever needs another file descriptor fails."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_part_that_cannot_be_started_is_tried_again_as_one_that_died(sleeper: Part, program: Path) -> None:
    """However long it ran before, the tries do not follow each other at once."""
    sleeper.started_at -= 3_600
    program.unlink()
    reason = f"The worker cannot be started (No such file or directory: {program})."
    said = [at_once(sleeper), at_once(sleeper), at_once(sleeper)]
    assert said == [f"{reason} The next try is in {pause} s." for pause in (1, 2, 4)]
    program.symlink_to("/bin/sleep")
    assert at_once(sleeper) is None
    assert sleeper.running


@pytest.mark.parametrize("reports", [False, True])
def test_a_part_is_tried_again_where_the_machine_has_no_room_for_it(sleeper: Part, reports: bool) -> None:
    sleeper.reports = reports
    with no_more_files():
        said = at_once(sleeper)
    assert said == "The worker cannot be started (Too many open files). The next try is in 1 s."
    assert at_once(sleeper) is None
    assert sleeper.running


def test_a_part_that_could_not_be_started_again_has_no_process_to_signal(sleeper: Part, program: Path) -> None:
    """The number of the dead one may be another program's by then."""
    program.unlink()
    at_once(sleeper)
    assert sleeper.process is None
    stop([sleeper], 1)


def test_a_program_that_may_not_be_run_is_named(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.touch(mode=0o600)
    with pytest.raises(CannotStart, match=rf"^The worker cannot be started \(Permission denied: {program}\)\.$"):
        Part("worker", [str(program)], dict(os.environ)).start()


@pytest.mark.parametrize(("number", "name"), [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGRTMIN + 3, "signal 37")])
def test_the_signal_that_killed_a_part_is_said(number: int, name: str) -> None:
    sleeper = part(SLEEPING)
    sleeper.start()
    os.kill(sleeper.process.pid, number)
    until(lambda: not sleeper.running)
    assert f"(killed by {name})" in sleeper.supervise()


def test_stopping_waits_for_those_that_end_by_themselves() -> None:
    sleepers = [part(SLEEPING), part(SLEEPING)]
    for sleeper in sleepers:
        sleeper.start()
    stop(sleepers, 5)
    assert [sleeper.process.returncode for sleeper in sleepers] == [-signal.SIGTERM, -signal.SIGTERM]


def test_stopping_forces_those_that_do_not_listen(tmp_path) -> None:
    is_deaf = tmp_path / "deaf"
    deaf = part(DEAF, str(is_deaf))
    deaf.start()
    until(is_deaf.exists)
    stop([deaf], 0.2)
    assert deaf.process.returncode == -signal.SIGKILL


def test_what_was_never_started_can_be_stopped() -> None:
    stop([part(SLEEPING)], 1)


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


FINISHING = "trap 'sleep 8.5; exit 0' TERM; " + WEB.replace("exec sleep 600", "while :; do sleep 0.1; done")


@pytest.mark.thorough
def test_web_servers_that_take_nothing_over_finish_the_requests_that_they_have_meanwhile(crew: Crew) -> None:
    patient = Crew(drain_seconds=4)
    patient.web, patient.others = crew.web, crew.others
    ready = Part("web server 1", ["/bin/sh", "-c", FINISHING], dict(os.environ), reports=True)
    stuck = Part("web server 2", ["/bin/sh", "-c", "sleep 1; exit 1"], dict(os.environ), reports=True)
    before = processes(crew)
    assert not patient.take_over([ready, stuck], lambda: [other()])
    assert ready.process and ready.process.returncode == 0
    assert processes(crew) == before


def test_a_worker_that_cannot_be_started_gives_back_what_was_taken_over(crew: Crew) -> None:
    """The old worker had ended by then, and is started again."""
    (web_before, _), fresh, scheduler = processes(crew), web(), other("scheduler")
    with pytest.raises(CannotStart, match=r"^The worker cannot be started"):
        crew.take_over([fresh], lambda: [scheduler, missing("worker")])
    assert fresh.process and not fresh.running
    assert scheduler.process and not scheduler.running
    crew.supervise()
    crew.supervise()
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
    crew.supervise()
    crew.supervise()
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
