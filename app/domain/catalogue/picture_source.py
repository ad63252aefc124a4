"""Pictures at addresses on the web: which addresses are taken, and the port that fetches them. Pure."""

from __future__ import annotations

from typing import Protocol
from urllib.parse import urlsplit

from app.domain.shared.problems import DomainError

LONGEST_ADDRESS = 2_000
SCHEMES = ("http", "https")


class PictureNotFetched(DomainError):
    """The error that a picture cannot be fetched. `is_silent`: its host did not answer, or not in time, so that
    its other pictures cannot be fetched either."""

    code = "picture_not_fetched"

    def __init__(self, reason: str, is_silent: bool = False) -> None:
        super().__init__(reason)
        self.is_silent = is_silent


class PictureSource(Protocol):
    def fetch(self, address: str) -> bytes:
        """Return what is at an address, which nobody has looked into yet, within some fifteen seconds. Only hosts on
        the internet are reached. Raises PictureNotFetched."""
        ...


class NoPictureSource:
    """The source of a server that fetches nothing."""

    def fetch(self, address: str) -> bytes:
        raise PictureNotFetched("This server fetches no pictures.")


def is_address(name: str) -> bool:
    """Whether a picture is named by an address, and not by the name of a file."""
    return "://" in name or name.startswith("//")


def host_of_address(address: str) -> str:
    """Return the host of an address that may be fetched. Raises PictureNotFetched for any other text."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise PictureNotFetched("This is no address.") from None
    if len(address) > LONGEST_ADDRESS or any(not character.isprintable() for character in address):
        raise PictureNotFetched(f"An address has at most {LONGEST_ADDRESS:,} characters, all of them visible.")
    if parts.scheme not in SCHEMES or not host:
        raise PictureNotFetched("An address begins with https:// or http:// and names a host.")
    if parts.username is not None or parts.password is not None:
        raise PictureNotFetched("An address with a name or a password of a user is not fetched.")
    return host if port is None else f"{host}:{port}"
