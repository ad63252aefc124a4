"""Which host a request asked for."""

from __future__ import annotations

from flask import request


def asked_host() -> str:
    """The host in the form in which domains are kept: lower case, without port and final dot."""
    host, _, port = request.host.rpartition(":")
    return (host if port.isdigit() else request.host).lower().removesuffix(".")
