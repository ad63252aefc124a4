"""Machines that run one shop, each of them its parts as deploy/parts starts them, in a folder and from a release of its
own; and what they share."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from signal import SIGKILL

from app.operations.supervisor.parts import WITHOUT_SURFACES, Part
from tests.databases import PostgresqlDatabases
from tests.operations.supervisor.test_running_shop import descendants
from tests.processes import free_port, plain_environment
from tests.redis_servers import redis_without_disk, running_redis
from tests.s3_server import s3_server
from tests.shared_node import own_settings
from tests.waiting import until

SECONDS_TO_START, SECONDS_TO_STOP = 180, 60


class Machine:
    """The parts of one machine, which has the settings of the environment and runs the code of `release`."""

    def __init__(self, folder: Path, release: Path, environment: Mapping[str, str]) -> None:
        folder.mkdir()
        self.folder, self.release, self.port = folder, release, free_port()
        own = {"INSTANCE_DIR": str(folder), "PORT": str(self.port), "LOG_LEVEL": "ERROR"}
        self._environment = {**plain_environment(), **environment, **own}
        self._parts: list[Part] = []

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def is_running(self) -> bool:
        return any(part.running for part in self._parts)

    def prepare(self, *options: str) -> int:
        """Run the preparation of the release, as shop-migrate.service does; its exit status."""
        program = self._program("-m", "app.operations.supervisor.preparation", *options)
        return subprocess.run(program, env=self._own_environment, check=False, timeout=SECONDS_TO_START).returncode

    def start(self) -> None:
        """Returns once the machine takes requests."""
        programs = {
            "web": ["-m", "app.web.server"],
            "worker": [str(self.release / "worker.py"), "default"],
            "builder": [str(self.release / "worker.py"), "builds"],
            "scheduler": ["-m", "flask", "--app", WITHOUT_SURFACES, "scheduler"],
        }
        self._parts = [Part(name, self._program(*program), self._own_environment) for name, program in programs.items()]
        for part in self._parts:
            part.start()
        until(lambda: self.status_of("/readyz?scope=machine") == 200, SECONDS_TO_START)

    def stop(self) -> None:
        """As `systemctl stop` does: every part is sent SIGTERM and ends by itself."""
        for part in self._parts:
            part.terminate()
        for part in self._parts:
            assert part.process is not None and part.process.wait(SECONDS_TO_STOP) == 0, part.name

    def kill(self) -> None:
        """Every process dies at once, as when the power fails."""
        parts = [part.process.pid for part in self._parts if part.process and part.running]
        for pid in [*parts, *(child for part in parts for child in descendants(part))]:
            with suppress(ProcessLookupError):
                os.kill(pid, SIGKILL)
        for part in self._parts:
            part.kill()

    def status_of(self, path: str) -> int:
        """The status of an answer; 0 without one."""
        try:
            with urllib.request.urlopen(self.address + path, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def _program(self, *arguments: str) -> list[str]:
        """A program in the machine's folder: Python finds modules where it is started before those of the release."""
        return ["env", "-C", str(self.folder), str(self.release / ".venv" / "bin" / "python"), *arguments]

    @property
    def _own_environment(self) -> dict[str, str]:
        return {**self._environment, "PYTHONPATH": str(self.release)}


@contextmanager
def shared_services(folder: Path, opensearch_url: str) -> Iterator[dict[str, str]]:
    """PostgreSQL, two Redis, an index and a bucket: the settings by which machines share them."""
    (folder / "s3").mkdir()
    with ExitStack() as stack:
        database = PostgresqlDatabases(lambda _url: None)  # The shop makes its tables.
        stack.callback(database.close)
        yield {
            "SECRET_KEY": "the same on all machines",
            "DATABASE_URL": stack.enter_context(database.own()),
            "REDIS_URL": stack.enter_context(running_redis(folder / "queue")).url,
            "COUNTING": "redis",
            "LIMITS_REDIS_URL": stack.enter_context(redis_without_disk(folder / "limits")).url,
            "SEARCH_ENGINE": "opensearch",
            "OPENSEARCH_URL": opensearch_url,
            "OPENSEARCH_PREFIX": stack.enter_context(own_settings(opensearch_url)).prefix,
            **stack.enter_context(s3_server(folder / "s3")).environment,
        }
