"""An HTTP client for untrusted servers: the whole answer, from the first look-up of the name to the last byte, comes
within one deadline and is no larger than a limit, whatever the server does in between.

The bounds are enforced where bytes come from the network, below HTTP: a server can hold a caller up with headers, with
the sizes of chunks and with compression as well as with the body.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2


class OutOfBounds(httpx2.TransportError):
    """The error that an answer is too slow, too large or compressed."""


class _Bounds:
    def __init__(self, seconds: float, size: int) -> None:
        self._end, self._bytes_left = monotonic() + seconds, size

    def left(self, wanted: float | None) -> float:
        """Return the seconds for which an operation with a timeout of `wanted` may wait. Raises OutOfBounds when none
        are left."""
        left = self._end - monotonic()
        if left <= 0:
            raise OutOfBounds("The answer took too long.")
        return left if wanted is None else min(left, wanted)

    def take(self, read: bytes) -> bytes:
        self._bytes_left -= len(read)
        if self._bytes_left < 0:
            raise OutOfBounds("The answer is too large.")
        return read


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, bounds: _Bounds) -> None:
        self._inner, self._bounds = inner, bounds

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._bounds.take(self._inner.read(max_bytes, self._bounds.left(timeout)))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._bounds.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, self._bounds.left(timeout))
        return _Stream(inner, self._bounds)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    def __init__(self, bounds: _Bounds) -> None:
        self._bounds = bounds

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._bounds.left(timeout)
        return _Stream(super().connect_tcp(host, port, left, local_address, socket_options), self._bounds)


class _Transport(httpx2.HTTPTransport):
    def __init__(self, proxy: str | None, bounds: _Bounds) -> None:
        super().__init__()
        # The transport has no parameter for the backend; a contract test shows that the bounds hold.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            proxy=httpcore2.Proxy(proxy) if proxy else None,
            network_backend=_Backend(bounds),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request that accepts no compression. Raises OutOfBounds for a compressed answer, which could expand
        to far more than was read."""
        request.headers["Accept-Encoding"] = "identity"
        response = super().handle_request(request)
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise OutOfBounds("The answer is compressed.")
        return response


def bounded_client(url: str, seconds: float, size: int) -> httpx2.Client:
    """Return a client for requests to the host of `url`, which together may take `seconds`, and whose answers may have
    `size` bytes in all. Follows no redirect."""
    return httpx2.Client(transport=_Transport(_proxy_for(url), _Bounds(seconds, size)), timeout=seconds)


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for a URL, None without one: a transport of our own gets none."""
    parts, proxies = urlsplit(url), getproxies()
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")
