"""Which addresses have a page now: shoppers see it, so no redirect is for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.shop import FOLDERS, Shop
from app.domain.merchandising.tree import ShopTree
from app.domain.seo.landing.pages import LandingPagesOf, landing_at
from app.domain.shared.paging import batched
from app.extensions import db

MODELS: Mapping[str, type[Any]] = {"p": Product, FOLDERS["collection"]: Collection, FOLDERS["page"]: Page}


def live_among(shop: Shop, pages_of: LandingPagesOf, paths: Iterable[str]) -> set[str]:
    """Return those of the paths at which shoppers see a product, a category, a landing page, a collection, a page of
    text or the front page; one statement for each kind, up to 500 of it."""
    found: set[str] = set()
    named: dict[str, list[str]] = {folder: [] for folder in MODELS}
    for path in paths:
        folder, _, name = path.removeprefix("/").partition("/")
        if folder in named and name:
            named[folder].append(name)
        elif path == "/" or (folder == "c" and _is_category(shop, pages_of, name)):
            found.add(path)
    for folder, names in named.items():
        model = MODELS[folder]
        for batch in batched(dict.fromkeys(names)):
            enabled = select(model.seo_name).where(model.site_id == shop.site_id, model.seo_name.in_(batch))
            found.update(f"/{folder}/{name}" for name in db.session.scalars(enabled.where(model.enabled)))
    return found


def is_landing_folder(tree: ShopTree, path: str) -> bool:
    """Whether the pages of a landing rule are below a path."""
    above, _, segment = path.removeprefix("/c/").rpartition("/")
    node = tree.at(above)
    return node is not None and segment in tree.landing_segments(node)


def _is_category(shop: Shop, pages_of: LandingPagesOf, path: str) -> bool:
    return shop.tree.at(path) is not None or landing_at(shop.tree, path, pages_of) is not None
