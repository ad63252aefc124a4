"""The web server of a shop as `make run` starts it, and one who asks it for pages."""

from __future__ import annotations

import http.client
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.faults.browser import HOST
from tests.faults.shops import Shop
from tests.processes import free_port
from tests.waiting import until

PAGES = ("/", "/search?q=name-7", "/healthz", "/static/admin/base.css")


class WebProcess:
    def __init__(self, port: int) -> None:
        self.port = port

    def seconds_for(self, path: str) -> float:
        """To connect, ask and read; the answer must be a page."""
        before = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers={"Host": HOST})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, path
        finally:
            connection.close()
        return time.monotonic() - before

    def visits(self, count: int) -> list[float]:
        return [self.seconds_for(PAGES[number % len(PAGES)]) for number in range(count)]

    def answers(self) -> bool:
        try:
            return self.seconds_for("/healthz") >= 0
        except OSError:
            return False


@contextmanager
def web_process(shop: Shop, **settings: str) -> Iterator[WebProcess]:
    """It ends cleanly when it is asked to."""
    running = WebProcess(free_port())
    environment = shop.environment(PORT=str(running.port), **settings)
    process = subprocess.Popen([sys.executable, "-m", "app.web.server"], cwd=shop.folder, env=environment)
    try:
        until(running.answers, 60)
        yield running
    finally:
        process.terminate()
        assert process.wait(10) == 0
