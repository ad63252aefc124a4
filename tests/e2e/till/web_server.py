"""A web server of a running shop, beside that of its supervisor. It dies when told, and is started again at once."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal

from tests.e2e.till.unreliable_network import Network, network_before
from tests.processes import RunningShop, free_port
from tests.waiting import until

Moment = Literal["before", "amid", "after"]


class WebServer:
    """`deaths` counts how often it was killed."""

    def __init__(self, shop: RunningShop) -> None:
        self.port, self.deaths = free_port(), 0
        self._folder, self._environment = shop.folder, shop.environment | {"PORT": str(self.port)}
        self._start()
        until(self._answers)

    def _start(self) -> None:
        command = [sys.executable, "-m", "app.web.server"]
        self._process = subprocess.Popen(command, cwd=self._folder, env=self._environment)

    def die(self) -> None:
        """The process is gone at once, and the next is on its way up."""
        self.end()
        self.deaths += 1
        self._start()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        with suppress(OSError), urllib.request.urlopen(f"http://localhost:{self.port}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
        return False


@dataclass
class MortalShop:
    """The network before a shop whose web server dies."""

    network: Network
    server: WebServer

    def dies(self, moment: Moment, request: re.Pattern[str]) -> None:
        """Kill the server at the next such request: before it arrives, while the server works on it, or when all is
        done but the answer."""
        network, deaths = self.network, self.server.deaths

        def hits(given: str) -> bool:
            is_hit = self.server.deaths == deaths and bool(request.search(given))
            if is_hit:
                self.server.die()
            return is_hit

        network.is_good()
        if moment == "after":
            network.loses_answer = hits
        else:
            setattr(network, {"before": "before", "amid": "between"}[moment], hits)

    def has_died(self, times: int) -> None:
        until(lambda: self.server.deaths == times)


@contextmanager
def mortal_shop(shop: RunningShop) -> Iterator[MortalShop]:
    server = WebServer(shop)
    try:
        with network_before(server.port) as network:
            yield MortalShop(network, server)
    finally:
        server.end()
