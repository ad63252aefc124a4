"""Counts over a period, and the shares that follow from them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sums:
    """Fields as of counting/models.py `Counts`. Shares are of the searches made while clicks were recorded, None where
    there were none; `revenue` is in minor units."""

    searches: int = 0
    found_nothing: int = 0
    followed: int = 0
    clicked: int = 0
    added_to_basket: int = 0
    ordered: int = 0
    revenue: int = 0
    ruled: int = 0

    @property
    def nothing_share(self) -> float | None:
        return self.found_nothing / self.searches if self.searches else None

    @property
    def clicked_share(self) -> float | None:
        return self._share(self.clicked)

    @property
    def added_share(self) -> float | None:
        return self._share(self.added_to_basket)

    @property
    def ordered_share(self) -> float | None:
        return self._share(self.ordered)

    def _share(self, count: int) -> float | None:
        return count / self.followed if self.followed else None
