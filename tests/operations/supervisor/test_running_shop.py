"""The whole shop as `make run` starts it: it comes up, stays up and goes down in time."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.processes import RunningShop, plain_environment
from tests.surroundings import ROOT
from tests.waiting import until

PARTS = ("app.web.server", "worker.py default", "worker.py builds", "scheduler", "valkey-server")


def descendants(pid: int) -> dict[int, str]:
    """Every live process below `pid`, with its command line."""
    parents, found = _parents(), {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: _command(child) for child in found - {pid}}


def children(pid: int) -> set[int]:
    return {child for child, parent in _parents().items() if parent == pid}


def _parents() -> dict[int, int]:
    """The parent of every live process."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    return parents


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


class Stall:
    """The till of the demo shop at the address, at which its agent signed in."""

    def __init__(self, address: str) -> None:
        self._v1, self._token = f"{address}/v1", ""
        agent = {"email": "agent@demo.test", "password": "demo-password-1", "audience": "pos"}
        self._token = self._send("/auth/login", agent)["token"]

    def call(self, path: str, body: object = None) -> dict[str, Any]:
        return self._send(f"/pos/tml_demo_market{path}", body)

    def present(self, intent: dict[str, Any], card: str) -> None:
        body = {"clientSecret": intent["clientSecret"], "card": card}
        token = self.call("/paymentToken")["token"]
        assert self._send(f"/pos/simulator/paymentIntents/{intent['id']}/present", body, token)["status"] == "succeeded"

    def _send(self, path: str, body: object = None, token: str | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token or self._token}"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self._v1 + path, data, headers), timeout=20) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@pytest.fixture(scope="module")
def one_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningShop]:
    made = RunningShop(tmp_path_factory.mktemp("shop"), METRICS_TOKEN="figures")
    yield made
    if made.is_running:
        made.stop()


@pytest.fixture
def shop(one_shop: RunningShop) -> RunningShop:
    """It runs. Starting it takes as long as all these tests, so the one that ends it stands last."""
    return one_shop if one_shop.is_running else one_shop.start()


def seconds_to_load() -> float:
    """What one process takes to load the application, on this machine with all that it does meanwhile."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import app.factory"], env=plain_environment(), check=True)
    return time.monotonic() - began


def process_of(shop: RunningShop, words: str) -> int | None:
    return next((pid for pid, command in sorted(descendants(shop.pid).items()) if words in command), None)


def test_as_soon_as_it_is_ready_everything_can_be_searched(shop: RunningShop) -> None:
    assert shop.status_of("/readyz") == 200
    with urllib.request.urlopen(f"{shop.address}/search?q=tent", timeout=20) as page:
        assert "No results" not in (text := page.read().decode()) and 'class="card"' in text


def test_nobody_else_of_the_machine_can_read_what_it_stores(shop: RunningShop) -> None:
    stored = [shop.folder / "instance", *(shop.folder / "instance").rglob("*")]
    assert [path for path in stored if not path.is_socket() and path.lstat().st_mode & 0o077 and path.is_file()] == []
    assert stored[0].stat().st_mode & 0o777 == 0o700


def test_it_prints_where_to_go_and_how_to_sign_in(shop: RunningShop) -> None:
    output = shop.log.read_text()
    for words in (f"http://localhost:{shop.port}/admin/login", "merch@demo.test", "demo-password-1"):
        assert words in output


def test_every_part_works(shop: RunningShop) -> None:
    until(lambda: shop.status_of("/readyz") == 200, 60)
    for words in PARTS:
        assert process_of(shop, words), words


def test_a_sale_of_the_demo_shop_is_settled_by_its_event(shop: RunningShop) -> None:
    """The reader took the money and the till hears nothing more: a worker delivers the event of the simulator."""
    at_the_stall = Stall(shop.address)
    intent = at_the_stall.call("/paymentIntents", {"amountInPence": 1_250, "currency": "gbp"})
    at_the_stall.present(intent, "visa")
    until(lambda: "payment_intent.succeeded" in shop.log.read_text(), 60)
    assert at_the_stall.call("/transactions")["items"][0]["status"] == "SUCCEEDED"


def test_the_sale_that_the_documentation_shows_works(shop: RunningShop, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("there is no curl")
    commands = "".join(re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "payments.md").read_text(), re.DOTALL)[:2])
    here = commands.replace("http://localhost:8000", shop.address)
    assert here != commands
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", here], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.count('"status":"succeeded"') == 2
    assert '"status":"SUCCEEDED"' in done.stdout
    assert '"code":"payment_required"' in done.stdout.splitlines()[-1], "nobody held a card for the basket"


@pytest.mark.parametrize("words", PARTS)
def test_a_part_that_is_killed_comes_back(shop: RunningShop, words: str) -> None:
    killed = process_of(shop, words)
    assert killed
    os.kill(killed, signal.SIGKILL)
    until(lambda: process_of(shop, words) not in (None, killed), 20)
    until(lambda: _answers(shop, "/readyz"), 20)


def _answers(shop: RunningShop, path: str) -> bool:
    try:
        return shop.status_of(path) == 200
    except OSError:
        return False


def test_commands_find_the_queue(shop: RunningShop) -> None:
    assert (shop.folder / "instance" / "redis.url").read_text().startswith("unix://")


def test_the_folder_and_the_port_are_taken(shop: RunningShop, tmp_path: Path) -> None:
    environment = plain_environment() | {"PORT": str(shop.port)}
    for folder, words in ((shop.folder, "runs already"), (tmp_path, f"Port {shop.port} on 127.0.0.1 is taken")):
        result = subprocess.run(
            [sys.executable, "-m", "app.operations.supervisor"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 1
        assert words in result.stderr
        assert result.stderr.count("\n") == 1


def test_it_stops_in_time_and_starts_again_quickly(shop: RunningShop) -> None:
    below = descendants(shop.pid)
    assert shop.stop() == 0
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]
    assert not (shop.folder / "instance" / "redis.url").exists()
    loading = seconds_to_load()
    shop.start()
    again = shop.log.read_text().rsplit("The shop is ready after ", 1)[1]
    assert float(again.split(" ")[0]) < 8 * loading, "it loads the application in three processes and waits for nothing"


def test_no_part_outlives_a_supervisor_that_was_killed(shop: RunningShop) -> None:
    below = descendants(shop.pid)
    shop.kill()
    until(lambda: not [pid for pid in below if Path(f"/proc/{pid}").exists() and _command(pid)], 20)
