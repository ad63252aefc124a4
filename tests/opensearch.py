"""Real nodes of OpenSearch for tests, made by tools/opensearch. A machine without Java skips what needs them."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.processes import free_port
from tests.surroundings import ROOT, missing

SECONDS_TO_START = 120
QUICK_TO_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
ONE_OF_MANY = ["discovery.type=single-node"]
HEAP_OF_THREE = 256  # Megabytes of each.
# The tests' machine has a disk that is fuller than a cluster likes, and a heap so small that garbage which is not yet
# collected would be taken for memory in use.
ORDINARY = [
    "network.host=127.0.0.1",
    "cluster.routing.allocation.disk.threshold_enabled=false",
    "indices.breaker.total.use_real_memory=false",
]


class Node:
    """A node in a folder of its own, with a heap of so many megabytes. `java` are options of Java."""

    def __init__(self, folder: Path, *settings: str, heap: int = 640, java: Sequence[str] = QUICK_TO_START) -> None:
        self.port, self.transport_port = free_port(), free_port()
        self.folder, self._heap, self.settings, self._java = folder, heap, settings, java
        self._process: subprocess.Popen[bytes] | None = None
        self._read = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, *more: str) -> Node:
        """Returns once the node answers."""
        self.begin(*more)
        self.await_ready()
        return self

    def begin(self, *more: str) -> None:
        installed = where()
        heap = [f"-Xms{self._heap}m", f"-Xmx{self._heap}m", *self._java]
        program = ["java", *heap, "-cp", f"{installed}:{installed}/lib/*", "Node", str(self.folder)]
        ports = [f"http.port={self.port}", f"transport.port={self.transport_port}"]
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "node.log").open("ab") as log:
            self._read = log.tell()
            self._process = subprocess.Popen(
                [*program, *ORDINARY, *ports, *self.settings, *more],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def await_ready(self) -> None:
        assert self._process is not None
        log, deadline = self.folder / "node.log", time.monotonic() + SECONDS_TO_START
        while b"ready" not in log.read_bytes()[self._read :]:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"The node did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.1)

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def pause(self) -> None:
        """From now on the node neither answers nor refuses, until `go_on`."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        assert self._process is not None
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def stop(self) -> None:
        if self.is_running:
            self.kill()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


def where() -> Path:
    """Return the folder of the program; skips the test where it cannot be made."""
    if shutil.which("java") is None:
        missing("there is no Java, in which OpenSearch runs")
    made = subprocess.run([ROOT / "tools" / "opensearch"], capture_output=True, text=True)
    if made.returncode:
        missing(f"OpenSearch cannot be fetched: {made.stderr.strip()[-200:]}")
    return Path(made.stdout.strip())


@contextmanager
def running_node(folder: Path, *settings: str, heap: int = 640, java: Sequence[str] = QUICK_TO_START) -> Iterator[Node]:
    node = Node(folder, *ONE_OF_MANY, *settings, heap=heap, java=java)
    try:
        yield node.start()
    finally:
        node.stop()
        shutil.rmtree(folder / "data", ignore_errors=True)


@contextmanager
def running_cluster(folder: Path, size: int = 3) -> Iterator[list[Node]]:
    """Nodes of one cluster, each with a folder and files of its own."""
    nodes = [Node(folder / str(number), heap=HEAP_OF_THREE) for number in range(size)]
    seeds = ",".join(f"127.0.0.1:{node.transport_port}" for node in nodes)
    names = ",".join(node.folder.name for node in nodes)
    for node in nodes:
        own = f"node.name={node.folder.name}"
        node.settings = (own, f"discovery.seed_hosts={seeds}", f"cluster.initial_cluster_manager_nodes={names}")
    try:
        for node in nodes:
            node.begin()
        for node in nodes:
            node.await_ready()
        yield nodes
    finally:
        for node in nodes:
            node.stop()
        shutil.rmtree(folder, ignore_errors=True)
