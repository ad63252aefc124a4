"""The categories in the bar at the top of every page, and those that it has no room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.merchandising.tree import ShopNode

ROOM = 100  # Characters of names in one line of a wide screen, in the widest letters of our themes.
BETWEEN = 4  # Characters that fit between two names.


@dataclass(frozen=True, slots=True)
class Menu:
    """`shown` stand in the bar, `more` behind its last entry, both in the order of the tree."""

    shown: Sequence[ShopNode]
    more: Sequence[ShopNode]


def menu(roots: Sequence[ShopNode], room: int = ROOM) -> Menu:
    """Return the menu of a tree: as many of its first categories as there is room for, one at least."""
    used = 0
    for place, root in enumerate(roots):
        used += len(root.name) + BETWEEN
        if used > room and place:
            return Menu(roots[:place], roots[place:])
    return Menu(roots, ())
