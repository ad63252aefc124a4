"""The differences between a stale form and the stored record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    label: str
    stored: str
    typed: str
