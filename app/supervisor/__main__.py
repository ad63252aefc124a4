"""Start everything in order, keep it running, stop it in order."""

from __future__ import annotations

import http.client
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import NoReturn

from app.config import INSTANCE, REDIS_ADDRESS_FILE, Config, from_environment
from app.environment import ConfigurationError
from app.instance_claim import CannotStart, check_restored, claim_folder
from app.private_files import UMASK, say_private
from app.supervisor import embedded_redis, mcp_server, preparation
from app.supervisor.parts import Part, stop
from app.supervisor.preflight import check_port

ROOT = Path(__file__).resolve().parents[2]
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
SECONDS_TO_STOP = 8.0
SECONDS_TO_STOP_REDIS = 1.5
SECONDS_TO_ANSWER = 60.0
NAMES = {"127.0.0.1": "localhost", "0.0.0.0": "localhost", "::": "localhost"}  # Of hosts that are listened at.
WITHOUT_SURFACES = "app:create_app(surfaces=False)"


class Stop(BaseException):
    """Somebody asked the shop to stop."""


def main() -> int:
    started = time.monotonic()
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)
    try:
        with ExitStack() as leaving:
            _run(leaving, started)
    except (CannotStart, ConfigurationError) as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except Stop:
        return 0


def _run(leaving: ExitStack, started: float) -> NoReturn:
    """What is put on `leaving` is undone in reverse order: the queue's server outlives those who use it."""
    os.umask(UMASK)
    instance = INSTANCE.absolute()
    leaving.enter_context(claim_folder(instance))
    check_restored(instance)
    config = from_environment()
    say_private(config)
    check_port(config.host, config.port)
    listener = mcp_server.listen(config, os.environ)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _empty_folder(instance / "metrics")
    running: list[Part] = []
    if not os.environ.get("REDIS_URL"):
        os.environ["REDIS_URL"] = _start_redis(instance, leaving, running)
    has_demo = _prepare(config)
    web, *others = _parts(config, listener)
    leaving.callback(stop, [web, *others], SECONDS_TO_STOP)
    _start([web], running)
    _wait_until_it_answers(config, running)
    _start(others, running)  # Not before: all parts at once would keep each other from loading.
    _announce(config, has_demo, listener is not None, time.monotonic() - started)
    while True:
        _tend(running)


def _start(parts: Sequence[Part], running: list[Part]) -> None:
    for part in parts:
        part.start()
        running.append(part)


def _start_redis(instance: Path, leaving: ExitStack, running: list[Part]) -> str:
    redis = embedded_redis.prepare(instance)
    leaving.callback(redis.stop, SECONDS_TO_STOP_REDIS)
    _start([redis.part], running)
    redis.wait_until_it_answers()
    # Commands and workers that are started apart from this process find the queue by this file.
    address = instance / REDIS_ADDRESS_FILE
    leaving.callback(address.unlink, missing_ok=True)
    address.write_text(redis.url)
    return redis.url


def _parts(config: Config, listener: socket.socket | None) -> list[Part]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    python, worker = sys.executable, str(ROOT / "worker.py")
    web = [python, "-m", "app.web_server"]
    return [
        *(Part(f"web server {number}", web, environment) for number in range(1, config.web_workers + 1)),
        Part("worker", [python, worker, "default"], environment),
        Part("rebuild worker", [python, worker, "builds"], environment),
        Part("scheduler", [python, "-m", "flask", "--app", WITHOUT_SURFACES, "scheduler"], environment),
        *([mcp_server.part(listener, environment)] if listener else []),
    ]


def _prepare(config: Config) -> bool:
    """True when the demo shop's people exist. In a process of its own, so that nothing of the application, which is
    large, stays with the supervisor."""
    process = multiprocessing.get_context("fork").Process(
        target=preparation.run, args=(config.production,), daemon=True
    )
    process.start()
    process.join()
    if process.exitcode not in (preparation.READY, preparation.READY_WITH_DEMO):
        raise CannotStart("The database could not be brought up to date; the reason stands above.")
    return process.exitcode == preparation.READY_WITH_DEMO


def _wait_until_it_answers(config: Config, running: Sequence[Part]) -> None:
    deadline = time.monotonic() + SECONDS_TO_ANSWER
    while not _answers(config):
        if time.monotonic() > deadline:
            raise CannotStart("The web server does not answer; the reason stands above.")
        _tend(running)


def _answers(config: Config) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(config.host, config.host)
    connection = http.client.HTTPConnection(host, config.port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


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
    print("\n".join([*lines, "Ctrl-C stops everything."]), flush=True)


def _tend(running: Sequence[Part]) -> None:
    time.sleep(0.1)
    for part in running:
        if news := part.tend():
            print(news, file=sys.stderr, flush=True)


def _empty_folder(folder: Path) -> str:
    """Counts of processes that are gone would be added to those of the new ones."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """A second signal must not cut the stopping short."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    print("Stopping the shop.", flush=True)
    raise Stop


if __name__ == "__main__":
    sys.exit(main())
