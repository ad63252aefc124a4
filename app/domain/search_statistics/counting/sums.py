"""Counts over a period."""

from __future__ import annotations

from dataclasses import dataclass

SUMMED = ("searches", "found_nothing", "followed", "clicked", "added_to_basket", "ordered", "revenue", "ruled")


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of counts, whose fields are those of `CountColumns` (counting/models.py); `revenue` is in minor units."""

    searches: int = 0
    found_nothing: int = 0
    followed: int = 0
    clicked: int = 0
    added_to_basket: int = 0
    ordered: int = 0
    revenue: int = 0
    ruled: int = 0
