"""An HTTP client for untrusted servers: the whole answer, from the connection to the last byte, comes within one
deadline and is no larger than a limit, whatever the server does in between.

The look-up of the host’s name is not cut off: the system has limits of its own for that, often some ten seconds for
each server of names. Its time counts afterwards, so that little or nothing is left after a long one.

The bounds are enforced where bytes come from the network, below HTTP: a server can hold a caller up with headers, with
the sizes of chunks and with compression as well as with the body.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

MOST_ADDRESSES = 4  # Of one host that are tried.


class OutOfBounds(httpx2.TransportError):
    """The error that an answer is too slow, too large or compressed, or that its host may not be connected to."""


class OutOfTime(OutOfBounds):
    """The error that an answer is too slow."""


class _Bounds:
    def __init__(self, seconds: float, size: int) -> None:
        self._end, self._bytes_left = monotonic() + seconds, size

    def left(self, wanted: float | None) -> float:
        """Return the seconds for which an operation with a timeout of `wanted` may wait. Raises OutOfTime when none are
        left."""
        left = self._end - monotonic()
        if left <= 0:
            raise OutOfTime("The answer took too long.")
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


class _GuardedBackend(_Backend):
    """Connects only to IP addresses that `allows`. The name of a host is resolved here, once, and what is connected to
    is what was checked."""

    def __init__(self, bounds: _Bounds, allows: Callable[[str], bool]) -> None:
        super().__init__(bounds)
        self._allows = allows

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("The host is not known.") from error
        allowed = [str(target[0]) for *_, target in found if self._allows(str(target[0]))]
        if not allowed:
            raise OutOfBounds("The server may not connect to this address.")
        stream = self._connect_to_first(allowed[:MOST_ADDRESSES], port, timeout, local_address, socket_options)
        try:
            ours, theirs = ends_of(stream)
        except httpcore2.ConnectError:
            stream.close()
            raise
        if ours == theirs and not self._allows("127.0.0.1"):  # By another address than that of the loopback.
            stream.close()
            raise OutOfBounds("The server may not connect to this address.")
        return stream

    def _connect_to_first(self, addresses: list[str], *arguments: Any) -> httpcore2.NetworkStream:
        """Return the connection to the first address that answers. Raises what the last one did."""
        *others, last = addresses
        for address in others:
            try:
                return super().connect_tcp(address, *arguments)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return super().connect_tcp(last, *arguments)


def ends_of(stream: httpcore2.NetworkStream) -> tuple[str, str]:
    """Return the IP addresses of a connection, ours and that of the server. Raises ConnectError where the server has
    reset it."""
    try:
        ours, theirs = (stream.get_extra_info(name) for name in ("client_addr", "server_addr"))
    except OSError as error:
        raise httpcore2.ConnectError("The server closed the connection at once.") from error
    return str(ours[0]), str(theirs[0])


class _Transport(httpx2.HTTPTransport):
    def __init__(self, proxy: str | None, backend: _Backend) -> None:
        super().__init__()
        # The transport has no parameter for the backend; a contract test shows that the bounds hold.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(),
            proxy=httpcore2.Proxy(proxy) if proxy else None,
            network_backend=backend,
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


def bounded_client(url: str, seconds: float, size: int, allows: Callable[[str], bool] | None = None) -> httpx2.Client:
    """Return a client for requests to the host of `url`, which together may take `seconds`, and whose answers may have
    `size` bytes in all. Follows no redirect. With `allows` it connects only to IP addresses of which that is true, and
    never by way of a proxy, which would resolve the names of hosts by itself."""
    bounds = _Bounds(seconds, size)
    if allows is not None:
        return httpx2.Client(transport=_Transport(None, _GuardedBackend(bounds, allows)), timeout=seconds)
    return httpx2.Client(transport=_Transport(_proxy_for(url), _Backend(bounds)), timeout=seconds)


def _proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for a URL, None without one: a transport of our own gets none."""
    parts, proxies = urlsplit(url), getproxies()
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return proxies.get(parts.scheme) or proxies.get("all")
