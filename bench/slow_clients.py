"""Twenty shoppers browse a shop, first alone, then while 200 clients of each kind send or read a byte a second.

`python -m bench.slow_clients 'COMMAND with {port}'` measures another web server with the shop's application, to
compare; it needs to serve `wsgi:app`."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import median, quantiles

from app import ports
from app.demo.shop import HOST, create_demo
from app.domain.merchandising.shop import load_tree
from app.domain.search.index.documents import product_documents
from app.domain.sites.sites import site_at
from app.transaction import transaction
from bench.measuring import ROUNDS, Yardstick, at_most, build, heading, run, workspace
from bench.shop import empty_shop, settings
from bench.web_load import ROOT, free_port, server, wait_for

SHOPPERS = 20
SLOW = 200  # Of each kind.
SECONDS = 8
PAUSE = 0.4  # Of a shopper between two pages, on average half of it to three halves.
PAGES_PER_CONNECTION = 5
LONGEST = 30.0  # Seconds that a shopper waits for a page.
SLOWEST = 2  # Times as slow as in quiet.


def main() -> None:
    heading(f"{SHOPPERS} shoppers while {SLOW} slow clients of each kind are at work")
    with workspace() as directory:
        environment = settings(directory)
        paths = _shop(environment)
        with _server(environment) as port:
            wait_for(port, HOST, "/healthz")
            asyncio.run(_browse(port, paths))  # What is seen for the first time takes longer.
            _print([_round(port, paths) for _ in range(ROUNDS)])


def _shop(environment: dict[str, str]) -> list[str]:
    """Make the demo shop; the paths that shoppers visit."""
    app = empty_shop(environment)
    with app.app_context():
        create_demo(ports.clock(), ports.images(), transaction, "bench", 8, production=False)
        site_id = site_at(HOST).id
        build(ports.search_engine(), product_documents(site_id), site_id)
        categories = [f"/c/{node.path}" for node in load_tree(site_id).nodes.values()]
    shopper = app.test_client()
    categories = [path for path in categories if shopper.get(path, base_url=f"http://{HOST}").status_code == 200]
    return [path for category in categories for path in (category, f"/search?q={category[-5:]}", "/")]


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[int]:
    if len(sys.argv) < 2:
        with server("wsgi:app", environment) as port:
            yield port
        return
    port = free_port()
    command = shlex.split(sys.argv[1].format(port=port))
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, start_new_session=True)
    try:
        yield port
    finally:
        os.killpg(process.pid, 9)
        process.wait()


Round = tuple[list[float], list[float]]  # Milliseconds of pages in quiet and under attack.


def _round(port: int, paths: Sequence[str]) -> Round:
    quiet = asyncio.run(_browse(port, paths))
    command = [sys.executable, "-m", "bench.slow_attack", str(port), HOST, str(SLOW)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as attack:
        assert attack.stdout is not None
        attack.stdout.readline()
        for path in paths[:8]:  # Until what came at once with the attack is answered.
            wait_for(port, HOST, path)
        attacked = asyncio.run(_browse(port, paths))
        attack.kill()
    return quiet, attacked


async def _browse(port: int, paths: Sequence[str]) -> list[float]:
    """Milliseconds for each page that all shoppers together see within SECONDS."""
    end = time.monotonic() + SECONDS
    visits = await asyncio.gather(*(_shopper(port, paths, number, end) for number in range(SHOPPERS)))
    return [milliseconds for visit in visits for milliseconds in visit]


async def _shopper(port: int, paths: Sequence[str], number: int, end: float) -> list[float]:
    seen: list[float] = []
    at = number * 17
    while time.monotonic() < end:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(PAGES_PER_CONNECTION):
            before = time.perf_counter()
            try:
                await asyncio.wait_for(_page(reader, writer, paths[at % len(paths)]), LONGEST)
            except (OSError, TimeoutError, EOFError):
                seen.append(1000 * LONGEST)
                break
            seen.append(1000 * (time.perf_counter() - before))
            at += 1
            await asyncio.sleep(PAUSE * (0.5 + at * 7 % 10 / 10))
        writer.close()
    return seen


async def _page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    """Raises EOFError where the connection ends before the page does, and for any answer but a page."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    if " 200 " not in head.split("\r\n", 1)[0]:
        raise EOFError
    length = next(line for line in head.split("\r\n") if line.startswith("content-length:"))
    await reader.readexactly(int(length.partition(":")[2]))


def _print(rounds: Sequence[Round]) -> None:
    quiet, attacked = (median(_p95(pages[kind]) for pages in rounds) for kind in (0, 1))
    failed = sum(page >= 1000 * LONGEST for pages in rounds for page in pages[1])
    seen = sum(len(pages[1]) for pages in rounds)
    print(f"     {seen} pages under attack, not answered: {failed}")
    at_most("a shopper's page: p95 under attack", attacked, SLOWEST * Yardstick("in quiet", quiet, "ms"))


def _p95(pages: Sequence[float]) -> float:
    return quantiles(pages, n=20)[-1]


if __name__ == "__main__":
    run(main)
