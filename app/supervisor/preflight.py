"""What must be so before anything starts; each failure is one sentence that says what to do."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import tempfile
from pathlib import Path
from typing import IO


class CannotStart(Exception):
    """The message is the one sentence that the operator reads."""


def claim_folder(instance: Path) -> IO[str]:
    """Hold the instance folder for this supervisor as long as the returned file stays open."""
    try:
        instance.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=instance):
            pass
        claim = (instance / "supervisor.lock").open("a+")
    except OSError as error:
        raise CannotStart(
            f"The folder {instance} cannot be written to ({error.strerror}): make it writable for this user."
        ) from error
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        claim.seek(0)
        process = claim.read().strip() or "unknown"
        claim.close()
        raise CannotStart(f"The shop in {instance} runs already, as process {process}: stop that one first.") from None
    claim.truncate(0)
    claim.write(f"{os.getpid()}\n")
    claim.flush()
    return claim


def check_port(host: str, port: int) -> None:
    claim_port(host, port).close()


def claim_port(host: str, port: int, settings: str = "") -> socket.socket:
    """A socket that has the port and does not listen yet. `settings` is what the names of its settings begin with.
    Raises CannotStart."""
    claimed = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    claimed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        claimed.bind((host, port))
    except OSError as error:
        claimed.close()
        raise CannotStart(_port_trouble(host, port, settings, error)) from error
    return claimed


def _port_trouble(host: str, port: int, settings: str, error: OSError) -> str:
    name = f"{settings}PORT"
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
