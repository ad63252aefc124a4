"""What a stale form and the stored record differ in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    label: str
    stored: str
    typed: str
