"""Checks before anything starts; each failure is one sentence that says what to do."""

from __future__ import annotations

import errno
import socket

from app.operations.instance import CannotStart


def claim_port(host: str, port: int, settings: str = "") -> socket.socket:
    """A socket that has the port and does not listen yet. `settings` is what the names of its settings begin with.
    Raises CannotStart."""
    claimed = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    claimed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        claimed.bind((host, port))
    except (OSError, OverflowError) as error:
        claimed.close()
        raise CannotStart(_port_trouble(host, port, settings, error)) from error
    return claimed


def _port_trouble(host: str, port: int, settings: str, error: OSError | OverflowError) -> str:
    name = f"{settings}PORT"
    if isinstance(error, OverflowError):
        return f"Port {port} does not exist: choose one below 65536, for example {name}=8000 make run."
    if isinstance(error, PermissionError):
        return (
            f"Port {port} needs rights that this user lacks: choose one above 1023, for example {name}=8000 make run."
        )
    if error.errno == errno.EADDRINUSE:
        return (
            f"Port {port} on {host} is taken by another program: stop it or choose another, {name}={port + 1} make run."
        )
    return (
        f"The address {host}:{port} cannot be used ({error.strerror}): set {settings}HOST and {name} to one of this "
        "machine."
    )
