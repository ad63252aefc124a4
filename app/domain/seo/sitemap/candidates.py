"""The pages of a shop that may stand in its sitemap, in the order of the specification ("Sitemap content")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.merchandising.shop import FOLDERS, Shop
from app.domain.merchandising.tree import ShopNode, ShopTree
from app.domain.seo.indexing_decision import PageKind, PageRequest
from app.domain.seo.landing.pages import LandingPages
from app.domain.seo.sitemap.entries import Candidate, CountOf, LeftOut, why_category_left_out
from app.extensions import db

CHUNK = 5_000  # Rows that are read at once.
LandingPagesOf = Callable[[ShopNode], LandingPages]
HOME = Candidate(PageRequest(PageKind.HOME, "/"))
STORED: dict[type[Any], tuple[PageKind, str]] = {
    Page: (PageKind.CONTENT, FOLDERS["page"]),
    Collection: (PageKind.COLLECTION, FOLDERS["collection"]),
    Product: (PageKind.PRODUCT, "p"),
}


def expected(shop: Shop) -> int:
    """Return about how many entries a shop's sitemap has, landing pages apart."""
    stored = (
        select(func.count()).select_from(model).where(model.site_id == shop.site_id, model.enabled) for model in STORED
    )
    return 1 + len(shop.tree.nodes) + sum(db.session.scalar(query) or 0 for query in stored)


def stored_candidates(model: type[Any], site_id: int) -> Iterator[list[Candidate]]:
    """Yield the enabled records of a kind in chunks, by their SEO names, which an index has in order, with the columns
    that a sitemap needs."""
    columns = model.seo_name, model.canonical_url, model.updated_at
    query = select(*columns).where(model.site_id == site_id, model.enabled).order_by(model.seo_name).limit(CHUNK)
    kind, folder = STORED[model]
    last = ""
    while rows := db.session.execute(query.where(model.seo_name > last)).all():
        yield [
            Candidate(PageRequest(kind, f"/{folder}/{name}", override=override), changed_at)
            for name, override, changed_at in rows
        ]
        last = rows[-1][0]


def category_candidates(
    tree: ShopTree, count_of: CountOf, pages_of: LandingPagesOf, parent_id: int | None = None
) -> Iterator[Candidate]:
    """Yield the categories depth first in display order, each followed by its landing pages."""
    for node in tree.children(parent_id):
        if why_category_left_out(node, True, count_of) is None:
            yield Candidate(PageRequest(PageKind.CATEGORY, f"/c/{node.path}"), node.updated_at)
            for page in pages_of(node).pages:
                yield Candidate(PageRequest(PageKind.LANDING, page.path))
        yield from category_candidates(tree, count_of, pages_of, node.id)


def categories_left_out(tree: ShopTree, count_of: CountOf) -> list[tuple[ShopNode, LeftOut]]:
    """Return the categories of the primary tree that are left out, by their labels, each with the reason."""
    own = [node for node in tree.nodes.values() if node.tree_id == tree.primary_tree_id]
    reasons = ((node, why_category_left_out(node, tree.is_shown(node), count_of)) for node in own)
    return sorted(
        [(node, reason) for node, reason in reasons if reason is not None], key=lambda pair: tree.label(pair[0].id)
    )
