"""What the program counts about itself, for Prometheus; the processes share their counts through files.

Labels only take values that the program defines (endpoints, methods it serves), never what a client sent.
"""

from __future__ import annotations

import os

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

REQUESTS = Counter("shop_http_requests_total", "Requests answered.", ["method", "endpoint", "status"])
SECONDS = Histogram(
    "shop_http_request_seconds",
    "Seconds to answer a request.",
    ["endpoint"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
JOBS = Counter("shop_jobs_total", "Jobs run by the worker.", ["job", "outcome"])


def count_request(method: str, endpoint: str, status: int, seconds: float) -> None:
    REQUESTS.labels(method if method in METHODS else "other", endpoint, str(status)).inc()
    SECONDS.labels(endpoint).observe(seconds)


def exposition() -> bytes:
    """Prometheus text of all processes where the supervisor set PROMETHEUS_MULTIPROC_DIR, else of this one."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return generate_latest(REGISTRY)
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
