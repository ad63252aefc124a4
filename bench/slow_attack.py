"""Clients that keep a web server waiting: `python -m bench.slow_attack PORT HOST COUNT [KIND …]`, COUNT of each kind.

Each sends or reads a byte a second and begins anew when it is disconnected. They come from many addresses of this
machine, or with `--from-one-address` all from 127.0.0.1, as others do. A line tells when all are at work."""

from __future__ import annotations

import argparse
import asyncio
import socket
from collections.abc import Awaitable, Callable

PAUSE = 1.0  # Seconds between two bytes, and before a client that was disconnected comes again.
ADDRESSES = 200
READABLE = 2_048  # Bytes that the system takes in for a client that does not read.
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _send_headers(host: str, streams: Streams) -> None:
    await _drip(f"GET / HTTP/1.1\r\nHost: {host}\r\nX-Half: ".encode(), streams)


async def _send_body(host: str, streams: Streams) -> None:
    headers = f"Host: {host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000"
    await _drip(f"POST /basket HTTP/1.1\r\n{headers}\r\n\r\n".encode(), streams)


async def _drip(beginning: bytes, streams: Streams) -> None:
    """Until the server closes."""
    reader, writer = streams
    writer.write(beginning)
    while True:
        writer.write(b"q")
        await writer.drain()
        try:
            if not await asyncio.wait_for(reader.read(1_000), PAUSE):
                return
        except TimeoutError:
            continue


async def _read_answer(host: str, streams: Streams) -> None:
    reader, writer = streams
    writer.write(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    while await reader.read(1):
        await asyncio.sleep(PAUSE)


KINDS: dict[str, Callable[[str, Streams], Awaitable[None]]] = {
    "headers": _send_headers,
    "bodies": _send_body,
    "readers": _read_answer,
}


async def _client(kind: str, source: str, port: int, host: str, at_work: asyncio.Semaphore) -> None:
    begun = False
    while True:
        try:
            streams = await asyncio.open_connection(sock=await _connected(port, source), limit=1)
            if not begun:
                begun = True
                at_work.release()
            try:
                await KINDS[kind](host, streams)
            finally:
                streams[1].transport.abort()
        except OSError:
            pass
        await asyncio.sleep(PAUSE)


async def _connected(port: int, source: str) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, READABLE)
    connection.setblocking(False)
    try:
        connection.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    except OSError:
        connection.close()
        raise
    return connection


async def main(given: argparse.Namespace) -> None:
    at_work = asyncio.Semaphore(0)
    sources = ["127.0.0.1"] if given.from_one_address else [f"127.0.2.{1 + number}" for number in range(ADDRESSES)]
    clients = [
        asyncio.create_task(_client(kind, sources[number % len(sources)], given.port, given.host, at_work))
        for kind in given.kinds or KINDS
        for number in range(given.count)
    ]
    for _ in clients:
        await at_work.acquire()
    print("at work", flush=True)
    await asyncio.gather(*clients)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.slow_attack", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("host")
    parser.add_argument("count", type=int)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--from-one-address", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    asyncio.run(main(_arguments()))
