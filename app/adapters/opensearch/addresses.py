"""The addresses of a cluster's nodes, read from the settings and checked at the start."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from app.config import LOCAL_HOSTS, ConfigurationError, OpenSearchSettings

PORT = 9200
_NO_ADDRESS = (
    "SEARCH_ENGINE is 'opensearch'; OPENSEARCH_URL must be the address of a node, such as https://search.example:9200, "
    "or those of several, separated by commas."
)
_IN_THE_OPEN = (
    "OPENSEARCH_URL must begin with https://. With http:// it may name a local host or, without a user, a name without "
    "a dot, as containers of one network have."
)


@dataclass(frozen=True, slots=True)
class Nodes:
    """The addresses of nodes, without the user and the password for them."""

    addresses: tuple[str, ...]
    user: str
    password: str = field(repr=False)


def nodes_of(settings: OpenSearchSettings) -> Nodes:
    """Return the nodes that the settings name, and check what names and files they name. Raises ConfigurationError,
    whose message repeats no address: it may hold a password."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", settings.prefix):
        raise ConfigurationError(
            f"OPENSEARCH_PREFIX is {settings.prefix!r}; it must be at most 64 of a-z, 0-9, - and _, and begin with a "
            "letter or digit."
        )
    if settings.ca_file is not None and not settings.ca_file.is_file():
        raise ConfigurationError(
            f"OPENSEARCH_CA is {str(settings.ca_file)!r}; it must be a file of certificates (PEM)."
        )
    read = [_read_address(address.strip()) for address in settings.url.split(",")]
    user = settings.user or next((user for _, user, _ in read if user), "")
    password = settings.password or next((password for _, _, password in read if password), "")
    if bool(user) != bool(password):
        raise ConfigurationError("OPENSEARCH_USER and OPENSEARCH_PASSWORD must be set both or neither.")
    if any(_is_in_the_open(address, user) for address, _, _ in read):
        raise ConfigurationError(_IN_THE_OPEN)
    return Nodes(tuple(address for address, _, _ in read), user, password)


def _read_address(text: str) -> tuple[str, str, str]:
    """Return the address of a node, and the user and the password in it."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise ConfigurationError(_NO_ADDRESS) from None
    if not host or parts.scheme not in ("https", "http") or parts.path.strip("/") or parts.query:
        raise ConfigurationError(_NO_ADDRESS)
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}:{port}", unquote(parts.username or ""), unquote(parts.password or "")


def _is_in_the_open(address: str, user: str) -> bool:
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme == "https" or host in LOCAL_HOSTS:
        return False
    return bool(user) or "." in host or ":" in host
