"""The landing page to which an address below /c/ leads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.seo.landing.pages import LandingPage, LandingPages


@dataclass(frozen=True, slots=True)
class FoundLanding:
    """A landing page, its category, and all landing pages of that."""

    node: ShopNode
    page: LandingPage
    pages: LandingPages


def landing_at(tree: ShopTree, path: str, pages_of: Callable[[ShopNode], LandingPages]) -> FoundLanding | None:
    """Return the landing page at `<category path>/<segment>/<slug>`, None where none is. Look for a category at the
    path first: a real category always wins."""
    parts = path.rsplit("/", 2)
    node = tree.at(parts[0]) if len(parts) == 3 else None
    if node is None:
        return None
    pages = pages_of(node)
    page = pages.by_address.get((parts[1], parts[2]))
    return FoundLanding(node, page, pages) if page else None
