"""The connection to a cluster: its nodes, certificates and time limits, and the pause after it did not answer."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch, Transport
from opensearchpy.exceptions import ConnectionTimeout
from urllib3 import Timeout

from app.adapters.opensearch.addresses import Nodes, nodes_of
from app.config import OpenSearchSettings
from app.domain.search.engine import EngineFault, SearchUnavailable

CONNECT_SECONDS = 1.0
DEAD_SECONDS = 5.0  # For so long, and then for longer, a node is left out that did not answer while others can.
PAUSE_SECONDS = 1.0
SLOW_IN_A_ROW = 2
PROBE_SECONDS = 0.3
THREADS = 16


def time_limit(seconds: float) -> Timeout:
    """Return the time limits of one request: to connect, and for its answer."""
    return Timeout(connect=CONNECT_SECONDS, read=seconds)


class Client:
    """The client of this process: one that was made before a fork would share its sockets with the other process.
    Raises ConfigurationError for settings that cannot be used."""

    def __init__(self, settings: OpenSearchSettings) -> None:
        self._nodes = nodes_of(settings)
        self._ca_file = settings.ca_file
        self._made: tuple[int, OpenSearch] | None = None

    def get(self) -> OpenSearch:
        if self._made is None or self._made[0] != os.getpid():
            self._made = os.getpid(), _connect(self._nodes, self._ca_file)
        return self._made[1]


class _SparingTransport(Transport):
    """Leaves a node out for a while also where it accepts connections and then does not answer."""

    def perform_request(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().perform_request(*args, **kwargs)
        except ConnectionTimeout:
            self.mark_dead(self._last.connection)
            raise

    def get_connection(self) -> Any:
        self._last.connection = super().get_connection()
        return self._last.connection

    _last = threading.local()


def _connect(nodes: Nodes, ca_file: Path | None) -> OpenSearch:
    # Its warnings repeat, with a trace each, what the errors say that they come with.
    logging.getLogger("opensearch").setLevel(logging.ERROR)
    return OpenSearch(
        list(nodes.addresses),
        transport_class=_SparingTransport,
        http_auth=(nodes.user, nodes.password) if nodes.user else None,
        verify_certs=True,
        ca_certs=str(ca_file) if ca_file else None,
        # A node that refuses a connection does so at once, so the next is tried; none is tried again.
        max_retries=len(nodes.addresses) - 1,
        retry_on_status=(),
        dead_timeout=DEAD_SECONDS,
        pool_maxsize=THREADS,
    )


class Breaker:
    """Spares callers the wait for a cluster that did not answer a moment ago: they get the same error at once. After
    PAUSE_SECONDS one of them tries again."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._error: SearchUnavailable | None = None
        self._paused_until = 0.0
        self._slow = 0

    def check(self) -> None:
        """Raise the error of the last call while the pause after it lasts."""
        with self._lock:
            if self._error is None:
                return
            if self._monotonic() < self._paused_until:
                raise SearchUnavailable(self._error.message, self._error.fault)
            self._paused_until = self._monotonic() + PAUSE_SECONDS  # The others wait for the outcome of this try.

    @property
    def is_in_doubt(self) -> bool:
        """Whether the last answer did not come in time: it may have been a hard question, or the cluster is away."""
        return self._slow > 0

    def note_answer(self) -> None:
        with self._lock:
            self._error, self._slow = None, 0

    def note_silence(self, error: SearchUnavailable) -> None:
        """Note that the cluster was not reached, or did not answer in time. One slow answer may be that of a hard
        question; SLOW_IN_A_ROW are the cluster's."""
        with self._lock:
            self._slow = self._slow + 1 if error.fault is EngineFault.SLOW else SLOW_IN_A_ROW
            if self._slow >= SLOW_IN_A_ROW:
                self._error, self._paused_until = error, self._monotonic() + PAUSE_SECONDS
