"""F49: clients that send or read a byte a second, and what everybody else sees meanwhile. Before, sixteen of them were
enough to stop every answer."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles

import pytest

from tests.faults.browser import HOST
from tests.faults.shops import Shop
from tests.faults.web_process import PAGES, WebProcess, web_process
from tests.injected_faults import injected
from tests.surroundings import ROOT

LONGEST_ANSWER = 5.0  # Seconds; before, no answer came for as long as the attack went on.


@pytest.fixture(scope="module")
def web(model_shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebProcess]:
    folder = tmp_path_factory.mktemp("slow") / "shop"
    shutil.copytree(model_shop, folder, symlinks=True)
    with web_process(Shop(folder)) as running:
        yield running


@contextmanager
def attack(port: int, count: int, *more: str) -> Iterator[None]:
    command = [sys.executable, "-m", "bench.slow_attack", str(port), HOST, str(count), *more]
    clients = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=os.environ)
    try:
        assert clients.stdout is not None
        assert clients.stdout.readline() == b"at work\n"
        injected(count)
        yield
    finally:
        clients.kill()
        clients.communicate()


pytestmark = pytest.mark.fault("F49")


@pytest.mark.parametrize(
    ("count", "kind"),
    [(16, "bodies"), (1_300, "headers"), (200, "bodies"), (200, "readers")],
)
def test_slow_clients_keep_no_shopper_waiting(web: WebProcess, count: int, kind: str) -> None:
    with attack(web.port, count, kind):
        web.visits(4)  # Until the requests that came at once with the attack are answered.
        assert max(web.visits(20)) < LONGEST_ANSWER


def test_shoppers_wait_hardly_longer_while_all_kinds_are_at_work(web: WebProcess) -> None:
    """The benchmark `slow_clients` has the true limit, twice as long; here other tests run beside."""
    web.visits(8)
    quiet = quantiles(web.visits(60), n=20)[-1]
    with attack(web.port, 200):
        web.visits(8)
        assert quantiles(web.visits(60), n=20)[-1] < 4 * quiet + 0.2


def test_slow_clients_behind_the_same_address_cost_no_shopper_a_connection(web: WebProcess) -> None:
    """Kept connections, which wait longer between two pages than the attackers take to come again."""
    shoppers = [http.client.HTTPConnection("127.0.0.1", web.port, timeout=30) for _ in range(10)]
    with ExitStack() as ending:
        for shopper in shoppers:
            ending.callback(shopper.close)
        ending.enter_context(attack(web.port, 100, "--from-one-address"))
        for page in range(4):
            for shopper in shoppers:
                shopper.request("GET", PAGES[page], headers={"Host": HOST})
            for shopper in shoppers:
                answer = shopper.getresponse()
                answer.read()
                assert answer.status == 200
            web.seconds_for("/")
            time.sleep(0.3)  # What a shopper reads a page for.
