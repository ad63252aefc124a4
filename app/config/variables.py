"""Readers of single environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from croniter import croniter

Environment = Mapping[str, str]
HIGHEST_PORT = 65_535
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class ConfigurationError(Exception):
    """The environment does not allow a start; the message says what to set."""


def read_choice(env: Environment, name: str, default: str, allowed: tuple[str, ...]) -> str:
    value = env.get(name) or default
    if value not in allowed:
        raise ConfigurationError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}.")
    return value


def read_number(env: Environment, name: str, default: int) -> int:
    value = env.get(name) or str(default)
    if not (value.isascii() and value.isdigit()) or len(value) > 6:
        raise ConfigurationError(f"{name} is {value!r}; it must be a whole number.")
    return int(value)


def read_port(env: Environment, name: str, default: int) -> int:
    """Return the port in a variable. The system would take the rest of a larger number for one."""
    value = read_number(env, name, default)
    if value > HIGHEST_PORT:
        raise ConfigurationError(f"{name} is '{value}'; it must be a port, at most {HIGHEST_PORT}.")
    return value


def read_schedule(env: Environment, name: str, default: str) -> str:
    """A cron expression of five fields, in UTC."""
    value = env.get(name) or default
    if len(value.split()) != 5 or not croniter.is_valid(value):
        raise ConfigurationError(f"{name} is {value!r}; it must be a cron expression such as 0 */3 * * *.")
    return value


def read_path(env: Environment, name: str) -> Path | None:
    """Return the file or folder that a variable names; None without one."""
    return Path(env[name]) if env.get(name) else None


def read_addresses(env: Environment, name: str) -> tuple[str, ...]:
    """Return the email addresses of a variable, separated by commas. Raises ConfigurationError."""
    named = tuple(address.strip() for address in (env.get(name) or "").split(",") if address.strip())
    for address in named:
        if not re.fullmatch(r"[^@\s<>,]+@[^@\s<>,]+", address) or not address.isascii():
            raise ConfigurationError(f"{name} holds {address!r}; it must be an address such as owner@shop.example.")
    return named


def read_url(env: Environment, name: str) -> str | None:
    """Return the URL in a variable, None without one. It must be https, or http to a local host: what is sent there
    travels in the open only within the machine."""
    address = env.get(name) or None
    if address is None:
        return None
    try:
        parts = urlsplit(address)
        secure, host, _ = parts.scheme == "https", parts.hostname, parts.port
    except ValueError:
        secure, host = False, None
    if not host or not (secure or (parts.scheme == "http" and host in LOCAL_HOSTS)):
        raise ConfigurationError(f"{name} must begin with https://, or with http:// and a local host.")
    return address


def read_host_and_port(env: Environment, name: str) -> tuple[str, int] | None:
    """Return the host and port of `host` or `host:port`; without one, the port of https."""
    value = env.get(name)
    if not value:
        return None
    try:
        parts = urlsplit(f"//{value}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or parts.netloc != value or "@" in value or re.search(r"\s", value):
        raise ConfigurationError(f"{name} is {value!r}; it must be a host such as shop.example or shop.example:8443.")
    return host, port or 443
