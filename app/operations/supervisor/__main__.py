"""Start everything in order, keep it running, stop it in order."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from app.config import MEMORY_NAME, REDIS_ADDRESS_FILE, Config, ConfigurationError, from_environment, instance_folder
from app.operations.instance import UMASK, CannotStart, check_restored, claim_folder, say_private
from app.operations.supervisor import embedded_redis
from app.operations.supervisor.listeners import listen_for_mcp, listen_for_web
from app.operations.supervisor.parts import (
    NEEDS_A_STOP,
    PREPARED,
    PREPARED_WITH_DEMO,
    REFUSED,
    Crew,
    Release,
    current_release,
    say,
    start,
)

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SECONDS_TO_STOP_REDIS = 1.5
NAMES = {"127.0.0.1": "localhost", "0.0.0.0": "localhost", "::": "localhost"}  # Of hosts that are listened at.


@dataclass(frozen=True, slots=True)
class Inherited:
    """What all releases inherit: the sockets to listen at, and the memory in which their processes count together."""

    web: socket.socket
    mcp: socket.socket | None
    memory: int

    @property
    def mcp_descriptor(self) -> int | None:
        return self.mcp.fileno() if self.mcp else None


class Stop(BaseException):
    """Raised when the shop is to stop."""


def main() -> int:
    started = time.monotonic()
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)
    upgrades: list[int] = []  # Signals for one. Noted from the start on: unhandled, this signal ends a process.
    signal.signal(signal.SIGUSR2, lambda number, _frame: upgrades.append(number))
    try:
        with ExitStack() as leaving:
            _run(leaving, started, upgrades)
    except (CannotStart, ConfigurationError) as trouble:
        say(str(trouble))
        return 1
    except Stop:
        return 0


def _run(leaving: ExitStack, started: float, upgrades: list[int]) -> NoReturn:
    """Run the shop. What is put on `leaving` is undone in reverse order: the queue's server outlives its users. Raises
    CannotStart, also for whatever the system refuses meanwhile, such as a folder."""
    try:
        config, inherited, crew = _start(leaving, started)
    except OSError as error:
        raise CannotStart.because_of(error, "The shop") from error
    _watch(config, inherited, crew, upgrades)


def _start(leaving: ExitStack, started: float) -> tuple[Config, Inherited, Crew]:
    """Start everything in order. Raises CannotStart, ConfigurationError and OSError."""
    os.umask(UMASK)
    instance = instance_folder(os.environ)
    leaving.enter_context(claim_folder(instance))
    check_restored(instance)
    config = from_environment()
    say_private(config)
    web = listen_for_web(config.host, config.port, os.environ)
    inherited = Inherited(web, listen_for_mcp(config, os.environ), os.memfd_create(MEMORY_NAME))
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _empty_folder(instance / "metrics")
    crew = Crew(config.drain_seconds)
    if not os.environ.get("REDIS_URL"):
        os.environ["REDIS_URL"] = _start_redis(instance, leaving, crew)
    release = current_release()
    has_demo = _prepare(config, release, crew)
    leaving.callback(crew.stop)
    web_servers = release.web_servers(config, inherited.web.fileno(), inherited.memory)
    crew.start_first(web_servers, release.others(inherited.mcp_descriptor, inherited.memory))
    _announce(config, has_demo, inherited.mcp is not None, time.monotonic() - started)
    return config, inherited, crew


def _watch(config: Config, inherited: Inherited, crew: Crew, upgrades: list[int]) -> NoReturn:
    """Watch the parts until the shop is stopped. An upgrade that is requested while one is going on comes after it."""
    while True:
        crew.supervise()
        if upgrades:
            upgrades.clear()
            _upgrade(config, inherited, crew)


def _upgrade(config: Config, inherited: Inherited, crew: Crew) -> None:
    """Replace the running release by the one that is in place now. Where that fails, the running one goes on."""
    try:
        _replace_by(current_release(), config, inherited, crew)
    except CannotStart as trouble:
        say(f"Not upgraded: the running release goes on. {trouble}")


def _replace_by(release: Release, config: Config, inherited: Inherited, crew: Crew) -> None:
    """Replace the running release, or say why not. Raises CannotStart."""
    say(f"Upgrading to {release.folder}.")
    status = crew.prepare(release.preparation(*_options(config), "upgrade"))
    if status == NEEDS_A_STOP:
        return say("Not upgraded: what runs cannot live with the new database. Restart the shop instead.")
    if status == REFUSED:
        return say("Not upgraded: the new release cannot run beside another machine; the reason stands above.")
    if status not in (PREPARED, PREPARED_WITH_DEMO):
        return say("Not upgraded: the database could not be brought up to date; the reason stands above.")
    web = release.web_servers(config, inherited.web.fileno(), inherited.memory)
    if crew.take_over(web, partial(release.others, inherited.mcp_descriptor, inherited.memory)):
        return say(f"Upgraded to {release.folder}.")
    say("Not upgraded: the new web servers do not answer; the reason stands above. The old ones go on.")


def _start_redis(instance: Path, leaving: ExitStack, crew: Crew) -> str:
    redis = embedded_redis.prepare(instance)
    leaving.callback(redis.stop, SECONDS_TO_STOP_REDIS)
    start([redis.part], crew.lasting)
    redis.wait_until_it_answers()
    # Commands and workers that are started apart from this process find the queue by this file.
    address = instance / REDIS_ADDRESS_FILE
    leaving.callback(address.unlink, missing_ok=True)
    address.write_text(redis.url)
    return redis.url


def _prepare(config: Config, release: Release, crew: Crew) -> bool:
    """Prepare the release; True when the demo shop's people exist. In a process of its own, so that nothing of the
    application, which is large, stays with the supervisor."""
    status = crew.prepare(release.preparation(*_options(config)))
    if status == REFUSED:
        raise CannotStart("The shop does not start; the reason stands above.")
    if status not in (PREPARED, PREPARED_WITH_DEMO):
        raise CannotStart("The database could not be brought up to date; the reason stands above.")
    return status == PREPARED_WITH_DEMO


def _options(config: Config) -> list[str]:
    return ["production"] if config.production else []


def _announce(config: Config, has_demo: bool, has_mcp: bool, seconds: float) -> None:
    host = NAMES.get(config.host, config.host)
    lines = [
        f"The shop is ready after {seconds:.1f} s.",
        f"  Shop   http://{host}:{config.port}/",
        f"  Admin  http://{host}:{config.port}/admin/login",
    ]
    if has_mcp:
        lines.append(f"  MCP    http://{NAMES.get(config.mcp_host, config.mcp_host)}:{config.mcp_port}/mcp")
    if has_demo:
        people = ", ".join(f"{name}@demo.test" for name in ("super", "admin", "merch", "agent"))
        lines += [f"  Sign in as {people}; the password is demo-password-1"]
    say("\n".join([*lines, "Ctrl-C stops everything."]), sys.stdout)


def _empty_folder(folder: Path) -> str:
    """Empty a folder and return its path: counts of ended processes in it would be added to those of the new ones."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Raise Stop. Further signals are ignored, so that none cuts the stopping short."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    say("Stopping the shop.", sys.stdout)
    raise Stop


if __name__ == "__main__":
    sys.exit(main())
