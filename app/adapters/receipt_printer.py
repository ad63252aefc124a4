"""Receipt printers that take bytes over TCP, as on port 9100: raw, without a protocol above it."""

from __future__ import annotations

import socket
from contextlib import suppress
from time import monotonic
from typing import Any

from app.domain.pos.receipt_printer import PrinterAddress, PrinterReach, PrinterTimedOut, PrinterUnavailable

TIMEOUT = 5.0  # Seconds to connect, and again to send; resolving a name has no limit.
FAREWELL = 1.0  # Seconds for a printer to close the connection.
MOST_ADDRESSES = 4  # Of one host that are tried.
# Bytes that wait in this machine. With room for all, a printer that takes nothing would look like one that prints.
SEND_BUFFER = 4096


class NetworkPrinter:
    """Prints where `reach` allows it."""

    def __init__(self, reach: PrinterReach, timeout: float = TIMEOUT) -> None:
        self._reach, self._timeout = reach, timeout

    def send(self, address: PrinterAddress, data: bytes) -> None:
        try:
            with self._connect(address) as printer:
                printer.settimeout(self._timeout)
                printer.sendall(data)
                self._await_end(printer)
        except TimeoutError as error:
            message = "The printer did not take all in time. A part may have been printed: look at it first."
            raise PrinterTimedOut(message) from error
        except OSError as error:
            raise PrinterUnavailable(f"The printer broke the connection off: {_reason(error)}.") from error

    def _connect(self, address: PrinterAddress) -> socket.socket:
        """Return the connection to the first address of the host that answers. Raises PrinterUnavailable."""
        allowed = [found for found in _resolve(address) if self._reach.allows(str(found[1][0]))]
        if not allowed:
            raise PrinterUnavailable("The server may not print at this address.")
        end, reason = monotonic() + self._timeout, ""
        for family, target in allowed[:MOST_ADDRESSES]:
            printer = socket.socket(family, socket.SOCK_STREAM)
            try:
                printer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
                printer.settimeout(max(0.01, end - monotonic()))
                printer.connect(target)
            except OSError as error:
                printer.close()
                reason = _reason(error)
                continue
            if self._is_server_itself(printer):
                printer.close()
                raise PrinterUnavailable("The server may not print at this address.")
            return printer
        raise PrinterUnavailable(f"The printer does not answer: {reason}.")

    def _is_server_itself(self, printer: socket.socket) -> bool:
        """Whether a connection that may not lead to the server's own services does, by one of its other addresses."""
        return not self._reach.includes_server and printer.getsockname()[0] == printer.getpeername()[0]

    @staticmethod
    def _await_end(printer: socket.socket) -> None:
        """Wait for a moment until the printer closes the connection: what it may still say must not be lost on a closed
        one, which would undo the rest of the job. Raises OSError where it breaks the connection off."""
        printer.shutdown(socket.SHUT_WR)
        end = monotonic() + FAREWELL
        with suppress(TimeoutError):
            while (left := end - monotonic()) > 0:
                printer.settimeout(left)
                if not printer.recv(1024):
                    return


def _resolve(address: PrinterAddress) -> list[tuple[int, Any]]:
    """Return the family and the address of each socket of a host. Raises PrinterUnavailable."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise PrinterUnavailable("The printer’s host is not known.") from error
    return [(family, target) for family, _, _, _, target in found]


def _reason(error: OSError) -> str:
    return "it took too long" if isinstance(error, TimeoutError) else (error.strerror or type(error).__name__).lower()
