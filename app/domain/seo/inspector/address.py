"""Read the address of a page of the shop from pasted text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.domain.seo.fetching import address_on
from app.domain.shared.problems import Invalid, Problem

LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class InspectedAddress:
    """An address to inspect. `address` is path and parameters on one of the shop's hosts."""

    host: str
    address: str

    @property
    def path(self) -> str:
        return self.address.partition("?")[0]

    @property
    def query(self) -> str:
        return self.address.partition("?")[2]

    @property
    def url(self) -> str:
        return f"https://{self.host}{self.address}"


def inspected_address(text: str, hosts: Sequence[str]) -> InspectedAddress:
    """Read a path, or an address with or without https:// in front, on one of the shop's hosts, the first of which is
    the primary one. Raises Invalid, which names the problem."""
    text = text.strip()
    if len(text) > LONGEST:
        raise _invalid("address_too_long", f"The address is longer than {LONGEST:,} characters.")
    if any(character.isspace() or not character.isprintable() for character in text):
        raise _invalid("not_an_address", "This is not an address: it contains spaces or unprintable characters.")
    host, address = _split(text, hosts)
    if host not in hosts:
        known = ", ".join(hosts)
        raise _invalid("foreign_host", f"{host} is not an address of this shop. Its pages are at {known}.")
    found = address_on(host, address)
    if found is None:
        raise _invalid("not_an_address", "This is not the address of a page.")
    return InspectedAddress(host, found)


def _split(text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Return the host and the path with its parameters. Raises Invalid."""
    if text.startswith("/") and not text.startswith("//"):
        return hosts[0], text
    bare = text.partition("/")[0].partition("?")[0].partition(":")[0].lower()
    try:
        parts = urlsplit(f"https://{text}" if bare in hosts else text)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https", ""):
        raise _invalid("not_an_address", "Enter the address of a page, or its path, starting with a slash.")
    return host.removesuffix("."), f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"


def _invalid(code: str, message: str) -> Invalid:
    return Invalid([Problem(code, message, "#/url")])
