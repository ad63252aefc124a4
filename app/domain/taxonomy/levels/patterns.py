"""Patterns that merchandisers write for values, run by an engine that no pattern can hang."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

LONGEST_PATTERN = 200
MEMORY = 1 << 17  # Bytes that one compiled pattern may take, which also bounds the time to compile it: 2 ms.
TOO_LARGE = "pattern too large"


def pattern_problem(pattern: str) -> str | None:
    """Return the reason why a pattern cannot be used, or None."""
    if len(pattern) > LONGEST_PATTERN:
        return f"The pattern has {len(pattern)} characters; at most {LONGEST_PATTERN} fit."
    try:
        _compiled(pattern)
    except UnicodeEncodeError:
        return "The pattern holds characters that no text has."
    except re2.error as error:
        reason = error.args[0] if error.args else "it does not compile"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        if text.startswith(TOO_LARGE):
            return "The pattern is too large. Leave how long a value may be to minLength and maxLength."
        return f"The pattern cannot be used: {text}."
    return None


def matches_whole(pattern: str, value: str) -> bool:
    """Whether a pattern matches the whole value; True for a pattern that was stored under wider limits and cannot be
    compiled any more."""
    try:
        return _compiled(pattern).fullmatch(value) is not None
    except re2.error:
        return True


@lru_cache(maxsize=128)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = MEMORY
    options.log_errors = False
    return re2.compile(pattern, options)
