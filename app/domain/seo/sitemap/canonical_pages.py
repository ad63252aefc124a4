"""Canonicals of pages that lead to other pages of the shop."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import select

from app.domain.merchandising.shop import Shop
from app.domain.merchandising.tree import ShopNode
from app.domain.seo.landing.addresses import landing_at
from app.domain.seo.landing.pages import LandingPages
from app.domain.seo.sitemap.candidates import STORED
from app.extensions import db

REPEATED_SLASHES = re.compile("//+")
OTHER_PAGES = frozenset(("/", "/search", "/basket", "/checkout"))


def pages_among(shop: Shop, pages_of: Callable[[ShopNode], LandingPages], addresses: Collection[str]) -> set[str]:
    """Return those of the addresses on the shop's host that lead to a page of the shop, shown or not: whether the
    sitemap lists it is decided for that page itself. What else answers on the host is unknown."""
    found: set[str] = set()
    if not addresses:
        return found
    categories = {f"/c/{node.path}" for node in shop.tree.nodes.values() if node.tree_id == shop.tree.primary_tree_id}
    names: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for address in addresses:
        path = _own_path(address)
        _, folder, name = f"{path}//".split("/", 2)
        if path in OTHER_PAGES or path in categories or landing_at(shop.tree, path.removeprefix("/c/"), pages_of):
            found.add(address)
        names[folder][name.rstrip("/")].append(address)
    for model, (_, folder) in STORED.items():
        for name in _known_names(model, shop.site_id, names[folder]):
            found.update(names[folder][name])
    return found


def _own_path(address: str) -> str:
    """Return the path of the page that an address leads to: trailing and repeated slashes are redirected there."""
    return REPEATED_SLASHES.sub("/", unquote(urlsplit(address).path)).rstrip("/") or "/"


def _known_names(model: type[Any], site_id: int, names: Collection[str]) -> Iterable[str]:
    if not names:
        return ()
    query = select(model.seo_name).where(model.site_id == site_id, model.seo_name.in_(names))
    return db.session.scalars(query).all()
