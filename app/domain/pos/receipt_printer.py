"""Network printers for receipts: their addresses, the port to them, and where a server may connect to. Pure.

A server that connects to an address of a user's choice could be made to talk to what only it can reach: its own
services, and the metadata of a cloud's machines. `PrinterReach` is the rule against that; adapters apply it to the
address that they connect to, so that no name of a host gets around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Protocol

from app.domain.shared.ip_addresses import NEVER, read_ip
from app.domain.shared.problems import DomainError, Problem

RAW_PORT = 9100  # On which printers take the bytes to print.
HIGHEST_PORT = 65_535
LARGEST_JOB = 64 * 1024  # Bytes.
LONGEST_ADDRESS = 270
POINTER = "#/printerAddress"
_ADDRESS = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::([0-9]{1,5}))?", re.ASCII)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class PrinterAddress:
    """The address of a printer; an IPv6 `host` without brackets."""

    host: str
    port: int = RAW_PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(typed: str) -> PrinterAddress | None:
    """Return the address that a text names, on port 9100 where it names none; None for any other text."""
    match = _ADDRESS.fullmatch(typed.strip().lower())
    if match is None:
        return None
    host, port = match[1] or match[2].removesuffix("."), int(match[3] or RAW_PORT)
    is_sound = _is_ip(host) if match[1] or _looks_numeric(host) else _is_name(host)
    return PrinterAddress(host, port) if is_sound and 1 <= port <= HIGHEST_PORT else None


def address_problems(typed: str) -> list[Problem]:
    """Return the problems of a printer's address; an empty one is none."""
    if not typed.strip() or read_address(typed):
        return []
    message = (
        "Enter a host name or an IP address, and a port where it is not 9100: 192.168.1.50 or printer.example:9100."
    )
    return [Problem("invalid_printer_address", message, POINTER)]


def _looks_numeric(host: str) -> bool:
    """Whether the last part is a number, so that resolvers take the whole for an IPv4 address."""
    return host.rpartition(".")[2].isdigit()


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_name(host: str) -> bool:
    return len(host) <= 253 and all(_LABEL.fullmatch(label) for label in host.split("."))


@dataclass(frozen=True, slots=True)
class PrinterReach:
    """The addresses at which a server may reach printers: within `networks`, everywhere for None; never at link-local
    and other special addresses, and at those of the server itself only where `includes_server`."""

    networks: tuple[Network, ...] | None = None
    includes_server: bool = False

    def allows(self, ip: str) -> bool:
        """Whether the server may connect to an IP address, of IPv6 with or without its zone."""
        address = read_ip(ip)
        if address.is_loopback:
            return self.includes_server
        special = address.is_link_local or address.is_multicast or address.is_unspecified or address.is_reserved
        if special or any(address in network for network in NEVER):
            return False
        return self.networks is None or any(address in network for network in self.networks)


class PrinterUnavailable(DomainError):
    """The printer cannot be reached, or broke the connection off."""

    code = "printer_unavailable"


class PrinterTimedOut(DomainError):
    """The printer did not take all in time: a part may have been printed."""

    code = "printer_timeout"


class ReceiptPrinter(Protocol):
    def send(self, address: PrinterAddress, data: bytes) -> None:
        """Send bytes to a printer, within some ten seconds. Success means that the printer took them, which may be
        before they are on paper. Raises PrinterUnavailable and PrinterTimedOut."""
        ...


class NoPrinter:
    """The printer of a server that reaches none."""

    def send(self, address: PrinterAddress, data: bytes) -> None:
        raise PrinterUnavailable("This server prints nothing.")


def sample_page(shop_name: str, location_name: str) -> bytes:
    """Return a page in ESC/POS that shows that receipts of a location are printed here, cut off at its end."""
    lines = (shop_name, location_name, "", "Receipts are printed here.")
    text = "\n".join(lines).encode("cp437", "replace")  # The code page that printers begin with.
    return b"\x1b@\x1ba\x01" + text + b"\n" * 5 + b"\x1dVB\x00"
