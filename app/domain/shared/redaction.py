"""The redaction of log lines: of secrets, addresses of people, and the values that a database names in its errors."""

from __future__ import annotations

import re
import sqlite3
import traceback
from collections.abc import Iterator, MutableMapping
from operator import itemgetter
from typing import Any

from sqlalchemy.exc import DBAPIError
from structlog.typing import ExcInfo

REDACTED = "[redacted]"
SECRET_NAMES = re.compile(r"password|secret|token|authorization|cookie|api_?key|signature", re.IGNORECASE)
# What may come before the sign that makes a text a secret is bounded: no secret is longer there, and a long text
# without the sign is not read anew from each place.
SECRET_VALUES = re.compile(
    r"(?:sk|rk|pk)_(?:live|test)_\w+|whsec_\w+|pst_\w+|shop_pat_\w+|(?:pi|seti)_\w{1,200}?_secret_\w+"
    r"|(?i:bearer\s+)\S+|eyJ[\w-]{1,1000}\.[\w-]+\.[\w-]+"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
    r"|\$?argon2\w{1,5}\$[^\s'\"]+"
)
# Each run of the characters that an address of email may begin with, and the rest of the address where it is one. Runs
# are found once, so that a long one without an address takes no longer than its length.
ADDRESS_RUNS = re.compile(r"[\w.+-]++(@[\w-]+(?:\.[\w-]+)+)?")


def redact(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Redact secrets: values under the names of secrets, and values that look like secrets anywhere."""
    for name, value in event.items():
        event[name] = REDACTED if SECRET_NAMES.search(name) else _without_secrets(value)
    return event


def redacted(text: str) -> str:
    """Return the text without what looks like a secret or an address."""
    parts: list[str] = []
    end = 0
    for start, stop in _secrets(text):
        parts += [text[end:start], REDACTED]
        end = stop
    return "".join(parts) + text[end:]


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets and addresses stand, from left to right; of two that begin at one place, the secret."""
    secret, address = SECRET_VALUES.search(text), _address(text, 0)
    while secret or address:
        start, end = min((one.span() for one in (secret, address) if one), key=itemgetter(0))
        yield start, end
        if secret and secret.start() < end:
            secret = SECRET_VALUES.search(text, end)
        if address and address.start() < end:
            address = _address(text, end)


def _address(text: str, at: int) -> re.Match[str] | None:
    if "@" not in text:
        return None
    return next((run for run in ADDRESS_RUNS.finditer(text, at) if run[1]), None)


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return dict(redact(None, "", dict(value)))
    if isinstance(value, list | tuple):
        return [_without_secrets(item) for item in value]
    return value


def error_summary(error: BaseException) -> str:
    """Return the error in a line. Of a database's error its type and code alone: the message may quote what was to be
    stored."""
    return _database_error(error) or f"{type(error).__name__}: {error}"


def traceback_text(exc_info: ExcInfo) -> str:
    """Return the traceback, with the message of each error of a database replaced by its summary."""
    text = "".join(traceback.format_exception(*exc_info))
    for error in _chain(exc_info[1]):
        if (summary := _database_error(error)) and str(error):
            text = text.replace(str(error), summary)
    return text.rstrip("\n")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what led to it, outermost first, since errors of a database quote those further in."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _database_error(error: BaseException) -> str | None:
    """Return the code of a database error; None for what is no error of a database."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorname", "")
    elif cause is not None and hasattr(cause, "sqlstate"):
        code = f"SQLSTATE {cause.sqlstate}"
    elif isinstance(error, DBAPIError):
        code = ""
    else:
        return None
    return f"{type(cause).__name__} {code}".rstrip()
