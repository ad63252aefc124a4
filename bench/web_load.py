"""A web server like the one that `make run` starts, and ten browsers that ask it as fast as they can (wrk)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.shop import SECRET_KEY

WORKERS = 2
CONNECTIONS = 10
SECONDS = 4
ROOT = Path(__file__).resolve().parent.parent
# Each connection walks through all paths from a place of its own; the last line printed is the summary.
SCRIPT = """
local paths = {}
for line in io.lines(os.getenv("BENCH_PATHS")) do paths[#paths + 1] = line end
local at = 0
local started = 0
function setup(thread) thread:set("start", started * 997) started = started + 1 end
function init() at = start end
function request()
  at = at + 1
  return wrk.format("GET", paths[at % #paths + 1], {Host = os.getenv("BENCH_HOST")})
end
function done(summary, latency, requests)
  local failed = summary.errors.status + summary.errors.timeout + summary.errors.read + summary.errors.connect
  io.write(string.format('{"requests": %d, "microseconds": %d, "bytes": %d, "failed": %d, "p50": %f, "p95": %f}\\n',
    summary.requests, summary.duration, summary.bytes, failed, latency:percentile(50), latency:percentile(95)))
end
"""


@dataclass(frozen=True, slots=True)
class Load:
    """What came of asking for some seconds. Times in milliseconds."""

    requests: int
    per_second: float
    p50: float
    p95: float
    page_bytes: int
    failed: int


def is_measurable() -> bool:
    return shutil.which("wrk") is not None


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def server(application: str, environment: Mapping[str, str]) -> Iterator[int]:
    """The port of a running web server with two processes."""
    port = free_port()
    named = {**os.environ, "SECRET_KEY": SECRET_KEY, **environment, "PORT": str(port)}
    command = [sys.executable, "-m", "app.web.server", application]
    processes = [subprocess.Popen(command, cwd=ROOT, env=named) for _ in range(WORKERS)]
    try:
        yield port
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(20)


def wait_for(port: int, host: str, path: str) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": host})
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except urllib.error.HTTPError:
            raise
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def load(port: int, host: str, paths: Sequence[str], directory: Path) -> Load:
    """Ask for the paths in turn, over and over."""
    script, list_of_paths = directory / "load.lua", directory / "paths.txt"
    script.write_text(SCRIPT)
    list_of_paths.write_text("\n".join(paths))
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", "-s", script, f"http://127.0.0.1:{port}"]
    named = {**os.environ, "BENCH_HOST": host, "BENCH_PATHS": str(list_of_paths)}
    printed = subprocess.run(command, env=named, check=True, capture_output=True, text=True).stdout
    result = json.loads(printed.strip().splitlines()[-1])
    return Load(
        requests=result["requests"],
        per_second=result["requests"] / result["microseconds"] * 1e6,
        p50=result["p50"] / 1000,
        p95=result["p95"] / 1000,
        page_bytes=result["bytes"] // max(1, result["requests"]),
        failed=result["failed"],
    )
