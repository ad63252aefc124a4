"""Another release takes over while the shop is asked for pages: no request fails, also with a migration in between."""

from __future__ import annotations

import http.client
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.operations.supervisor.test_running_shop import children, descendants
from tests.processes import RunningShop, free_port
from tests.releases import Releases
from tests.waiting import until

PATIENCE = 120


class Client(threading.Thread):
    """Asks for pages all the time, over a connection of its own that is kept, or over a new one each time."""

    def __init__(self, port: int, is_kept: bool) -> None:
        super().__init__(daemon=True)
        self._port, self._is_kept = port, is_kept
        self.answered, self.failures = 0, list[str]()
        self._ended = threading.Event()

    def run(self) -> None:
        connection = self._connection()
        while not self._ended.is_set():
            try:
                connection.request("GET", "/search?q=tent" if self.answered % 2 else "/", headers={"Host": "localhost"})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failures.append(f"status {answer.status}")
            except (OSError, http.client.HTTPException) as error:
                self.failures.append(repr(error))
                connection.close()
            self.answered += 1
            if not self._is_kept:
                connection.close()
        connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        """It connects again where the server said that it closes."""
        return http.client.HTTPConnection("localhost", self._port, timeout=60)

    def end(self) -> None:
        self._ended.set()
        self.join(PATIENCE)


@contextmanager
def clients(port: int) -> Iterator[list[Client]]:
    asking = [Client(port, is_kept) for is_kept in (True, True, False, False)]
    for client in asking:
        client.start()
    try:
        yield asking
    finally:
        for client in asking:
            client.end()


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Releases:
    made = Releases(tmp_path_factory.mktemp("releases"))
    made.switch_to(made.add("1"))
    return made


@pytest.fixture(scope="module")
def shop(releases: Releases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningShop]:
    made = RunningShop(
        tmp_path_factory.mktemp("upgraded"),
        python=str(releases.current / ".venv" / "bin" / "python"),
        PYTHONPATH=str(releases.current),
        WEB_WORKERS="2",
        MCP_PORT=str(free_port()),
    )
    yield made.start()
    if made.is_running:
        made.stop()


def upgrade(shop: RunningShop, words: str) -> None:
    before = shop.log.stat().st_size
    os.kill(shop.pid, signal.SIGUSR2)
    until(lambda: words in shop.log.read_bytes()[before:].decode(), PATIENCE)


def processes(shop: RunningShop, words: str, release: Path) -> list[int]:
    """Those that run the code of the release."""
    found = [pid for pid, command in descendants(shop.pid).items() if words in command]
    return [pid for pid in found if f"PYTHONPATH={release}\0".encode() in _environment(pid)]


def parts(shop: RunningShop, release: Path) -> set[int]:
    """The processes that the supervisor tends. Those of the release before may still be ending, and work is forked for
    a moment."""
    return children(shop.pid) & set(processes(shop, "", release))


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # It has just ended.
        return b""


def revision(shop: RunningShop) -> str:
    with closing(sqlite3.connect(shop.folder / "instance" / "shop.db")) as database:
        found: str = database.execute("SELECT version_num FROM alembic_version").fetchone()[0]
        return found


def test_an_upgrade_with_a_migration_fails_no_request(shop: RunningShop, releases: Releases) -> None:
    old, new = releases.folder / "1", releases.add("2", migration="second")
    until(lambda: shop.status_of("/readyz") == 200, PATIENCE)
    assert len(processes(shop, "app.web.server", old)) == 2
    with clients(shop.port) as asking:
        until(lambda: min(client.answered for client in asking) > 5, PATIENCE)
        releases.switch_to(new)
        upgrade(shop, f"Upgraded to {new}.")
        until(lambda: not processes(shop, "", old), PATIENCE)
        then = [client.answered for client in asking]
        until(lambda: min(client.answered - had for client, had in zip(asking, then, strict=True)) > 5, PATIENCE)
    assert [client.failures for client in asking] == [[]] * 4
    assert revision(shop) == "second"
    for words, count in (("app.web.server", 2), ("worker.py default", 1), ("scheduler", 1), ("app.mcp", 1)):
        assert len(processes(shop, words, new)) == count, words


@pytest.mark.thorough
def test_the_release_before_lives_with_the_new_database(shop: RunningShop, releases: Releases) -> None:
    """Also after a restart of the shop."""
    old, new = releases.folder / "1", releases.current.resolve()
    releases.switch_to(old)
    upgrade(shop, f"Upgraded to {old}.")
    assert shop.stop() == 0
    shop.start()
    assert revision(shop) == "second"
    assert len(processes(shop, "app.web.server", old)) == 2
    assert shop.status_of("/search?q=tent") == 200
    releases.switch_to(new)
    upgrade(shop, f"Upgraded to {new}.")


def test_a_release_that_does_not_come_up_leaves_the_old_one_answering(shop: RunningShop, releases: Releases) -> None:
    before = releases.current.resolve()
    running = parts(shop, before)
    broken = releases.add("3")
    (broken / "wsgi.py").unlink()
    (broken / "wsgi.py").write_text("raise RuntimeError('not today')\n")
    releases.switch_to(broken)
    upgrade(shop, "Not upgraded: the database could not be brought up to date")
    assert shop.status_of("/") == 200
    releases.switch_to(before)
    assert len(running) >= 5 and running <= parts(shop, before)


def test_a_release_without_its_python_leaves_the_old_one_whole(shop: RunningShop, releases: Releases) -> None:
    before = releases.current.resolve()
    running = parts(shop, before)
    broken = releases.add("without Python")
    (broken / ".venv").unlink()
    releases.switch_to(broken)
    upgrade(shop, "Not upgraded: the running release goes on. The preparation cannot be started (No such file")
    releases.switch_to(releases.current)
    upgrade(shop, f"Not upgraded: the running release goes on. The link {releases.current} leads in a circle")
    assert shop.status_of("/") == 200
    releases.switch_to(before)
    assert len(running) >= 5 and running <= parts(shop, before)


def test_a_migration_that_the_old_release_cannot_live_with_wants_a_stop(shop: RunningShop, releases: Releases) -> None:
    before = releases.current.resolve()
    releases.switch_to(releases.add("4", migration="fourth", more="NEEDS_A_STOP = True"))
    known = revision(shop)
    upgrade(shop, "Restart the shop instead")
    assert revision(shop) == known
    assert shop.status_of("/") == 200
    releases.switch_to(before)
