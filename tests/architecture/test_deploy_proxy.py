"""The proxy before several machines answers for the shop when none of them does."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from app.web.surfaces import SURFACES, Surface
from tests.architecture.test_deploy_machines import DEPLOY, runs
from tests.processes import free_port
from tests.waiting import until


@pytest.fixture(scope="module")
def proxy_without_machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a proxy whose machines take no connection."""
    if not runs(["caddy"]):
        pytest.skip("Caddy is not installed")
    folder = tmp_path_factory.mktemp("proxy")
    port, closed = free_port(), free_port()
    settings = {
        "SHOP_HOST": f"http://127.0.0.1:{port}",
        "SHOP_WEB": f"127.0.0.1:{closed}",
        "SHOP_MCP": f"127.0.0.1:{closed}",
        "CADDY_ADMIN": f"unix/{folder}/admin",
        "XDG_CONFIG_HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
    }
    impatient = (DEPLOY / "Caddyfile.machines").read_text().replace("lb_try_duration 5s", "lb_try_duration 0s")
    (folder / "Caddyfile").write_text(impatient)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, env=os.environ | settings, stderr=log) as proxy:
        try:
            until(lambda: answers(port))
            yield settings["SHOP_HOST"]
        finally:
            proxy.terminate()


def answers(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_without_a_machine_the_proxy_itself_says_so_to_people_and_to_programs(proxy_without_machines: str) -> None:
    page = httpx.get(proxy_without_machines + "/c/shoes")
    assert page.status_code == 503 and "<h1>Temporarily unavailable</h1>" in page.text
    assert page.headers["Retry-After"] and page.headers["Cache-Control"] == "no-store"
    assert not re.search("src=|href=|url[(]", page.text), "nothing else could be loaded"
    for path in ("/v1/category", "/mcp"):
        answer = httpx.get(proxy_without_machines + path)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json()["code"] == "unavailable" and answer.json()["status"] == answer.status_code >= 502
    saved = httpx.post(proxy_without_machines + "/admin/products", headers={"HX-Request": "true"})
    assert saved.headers["HX-Retarget"] == f"#{surface_of('/admin').news_id}"
    assert saved.text.startswith("<p") and 'role="alert"' in saved.text
    read = httpx.get(proxy_without_machines + "/admin/products", headers={"HX-Request": "true"})
    assert "HX-Retarget" not in read.headers and 'role="alert"' in read.text


def surface_of(prefix: str) -> Surface:
    return next(surface for surface in SURFACES if surface.prefix == prefix)


def test_the_proxy_has_an_answer_for_each_failure_of_its_own() -> None:
    (failures,) = re.findall(r"handle_errors \{(.*)^\t\}$", (DEPLOY / "Caddyfile.machines").read_text(), re.S | re.M)
    assert "[502, 503, 504]" in failures
    assert failures.count("respond `") == failures.count("` {err.status_code}") == 3
