"""Requests that arrive at a constant rate, whether or not earlier ones were answered: an open model.

A time is counted from the moment at which the request was due, so that a server that keeps requests waiting cannot hide
it."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

LONGEST = 60.0  # Seconds that anybody waits for an answer.
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def sent(self) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers.items())]
        if self.method != "GET":
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join((*lines, "", "")).encode() + self.body


@dataclass(frozen=True, slots=True)
class Answer:
    """`status` is 0 where there was none."""

    status: int
    milliseconds: float
    content: bytes = b""


def arrive(port: int, requests: Iterable[Request], rate: float, seconds: float) -> list[Answer]:
    """So many requests a second for so long; the answers in the order of the requests."""
    return asyncio.run(_Arrivals(port).all(itertools.islice(requests, round(rate * seconds)), 1 / rate))


def crowd(port: int, requests: Iterable[Request], clients: int) -> list[Answer]:
    """As fast as so many clients come, each with one request at a time; in the order of the answers."""
    return asyncio.run(_Arrivals(port).by_clients(iter(requests), clients))


def send_request(port: int, request: Request) -> Answer:
    return arrive(port, [request], 1, 1)[0]


class _Arrivals:
    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[Streams] = []

    async def all(self, requests: Iterable[Request], pause: float) -> list[Answer]:
        begin, tasks = time.perf_counter(), []
        for number, request in enumerate(requests):
            due = begin + number * pause
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(self._answer(request, due)))
        answers = await asyncio.gather(*tasks)
        self._close()
        return answers

    async def by_clients(self, requests: Iterator[Request], clients: int) -> list[Answer]:
        answers: list[Answer] = []

        async def client() -> None:
            for request in requests:
                answers.append(await self._answer(request, time.perf_counter()))

        await asyncio.gather(*(client() for _ in range(clients)))
        self._close()
        return answers

    def _close(self) -> None:
        for _, writer in self._idle:
            writer.close()

    async def _answer(self, request: Request, due: float) -> Answer:
        try:
            status, content = await asyncio.wait_for(self._exchange(request), LONGEST)
        except (OSError, TimeoutError, EOFError):
            status, content = 0, b""
        return Answer(status, 1000 * (time.perf_counter() - due), content)

    async def _exchange(self, request: Request) -> tuple[int, bytes]:
        """On a connection that is free, or a new one. One that the server has closed meanwhile is left."""
        while self._idle:
            streams = self._idle.pop()
            if not streams[0].at_eof() and not streams[1].is_closing():
                break
        else:
            streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = streams
        writer.write(request.sent)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            writer.close()
        else:
            self._idle.append(streams)
        return int(head[0].split()[1]), content
