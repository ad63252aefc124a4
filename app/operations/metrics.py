"""The program's own metrics, for Prometheus; the processes share their counts through files.

The files are written and not mapped: a process that touches a mapped file which was cut short, or whose disk fails, is
killed (SIGBUS).

Labels only take values that the program defines (endpoints, methods it serves), never what a client sent.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, SupportsIndex

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, Metric, generate_latest, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # Set by the supervisor.
RESERVED = 1024 * 1024  # Bytes; every endpoint with every status it answers takes less.


class _WrittenBytes(bytearray):
    """The content of a file in memory. What is set is written to the file as well, and all of it to one that was cut
    short; a disk that takes nothing costs what others see of it."""

    def __init__(self, path: str, content: bytes) -> None:
        super().__init__(content)
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def __setitem__(self, part: SupportsIndex | slice, value: Any) -> None:
        super().__setitem__(part, value)
        assert isinstance(part, slice)
        with suppress(OSError):
            if os.fstat(self._file).st_size < len(self):
                os.pwrite(self._file, self, 0)
            else:
                os.pwrite(self._file, value, part.start)

    def close(self) -> None:
        os.close(self._file)


class _FileDict(MmapedDict):
    """The library's dictionary of numbers, without the mapping."""

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]
        mapped = self._m
        self._m = _WrittenBytes(filename, mapped[:])  # type: ignore[assignment]
        self._capacity = sys.maxsize  # It grows with what is set.
        mapped.close()


def write_metrics_unmapped() -> None:
    """Make the library count in files by writing. Call it before anything is counted."""
    values.MmapedDict = _FileDict  # type: ignore[misc]


write_metrics_unmapped()
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

REQUESTS = Counter("shop_http_requests_total", "Requests answered.", ["method", "endpoint", "status"])
SECONDS = Histogram(
    "shop_http_request_seconds",
    "Seconds to answer a request.",
    ["endpoint"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
CONNECTIONS_ENDED = Counter("shop_connections_ended_total", "Connections that the web server ended.", ["reason"])
JOBS = Counter("shop_jobs_total", "Jobs run by the worker.", ["job", "outcome"])


def reserve_room() -> None:
    """Allocate the disk space of this process's metrics, before anything is counted: on a full disk nobody would see
    what it counts."""
    if folder := os.environ.get(FOLDER):
        for kind in ("counter", "histogram"):
            with suppress(OSError), open(os.path.join(folder, f"{kind}_{os.getpid()}.db"), "ab") as file:
                os.posix_fallocate(file.fileno(), 0, RESERVED)


def count_request(method: str, endpoint: str, status: int, seconds: float) -> None:
    REQUESTS.labels(method if method in METHODS else "other", endpoint, str(status)).inc()
    SECONDS.labels(endpoint).observe(seconds)


def count_ended_connection(reason: str) -> None:
    CONNECTIONS_ENDED.labels(reason).inc()


class OpenAlerts:
    """The number of open alerts, by cause, as the caller counted them. A gauge of the library would be summed over the
    processes."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily("shop_alerts_open", "Open alerts.", labels=["cause"])
        for cause, count in self._counts.items():
            family.add_metric([cause], count)
        yield family


def exposition(open_alerts: Mapping[str, int]) -> bytes:
    """Return the metrics as Prometheus text: of all processes where they share a folder, else of this one."""
    alerts = CollectorRegistry()
    alerts.register(OpenAlerts(open_alerts))
    return _counted() + generate_latest(alerts)


def _counted() -> bytes:
    if FOLDER not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
