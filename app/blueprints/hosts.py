"""The host of a request."""

from __future__ import annotations

from flask import request


def request_host() -> str:
    """Return the host in the form in which domains are stored: lower case, without port and final dot."""
    host, _, port = request.host.rpartition(":")
    return (host if port.isdigit() else request.host).lower().removesuffix(".")
