"""Stripe's table of idempotency keys: of one account, for 24 hours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.stripe_refusal import Refusal

DAY = 24 * 3600


@dataclass(slots=True)
class Entry:
    """`answer` is None while the first request with the key is under way."""

    request: tuple[str, str]
    since: int
    answer: tuple[int, dict[str, Any]] | None = None


class KeyTable:
    def __init__(self, seconds: Callable[[], int]) -> None:
        self._seconds = seconds
        self._entries: dict[str, Entry] = {}

    def begin(self, key: str, request: tuple[str, str]) -> tuple[int, dict[str, Any]] | None:
        """Return the answer that the key got before, or None for a key that begins now."""
        entry = self._entries.get(key)
        if entry is None or self._seconds() - entry.since >= DAY:
            self._entries[key] = Entry(request, self._seconds())
            return None
        if entry.request != request:
            raise Refusal(
                400, "Keys for idempotent requests can only be used with the same parameters.", type="idempotency_error"
            )
        if entry.answer is None:
            raise Refusal(
                409, "There is currently another in-progress request using this key.", "idempotency_key_in_use"
            )
        return entry.answer

    def keep(self, key: str, answer: tuple[int, dict[str, Any]]) -> None:
        self._entries[key].answer = answer

    def forget(self, key: str) -> None:
        del self._entries[key]
