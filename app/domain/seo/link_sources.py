"""The pages of the shop that link to a page, as its lists and menus are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import select

from app.domain.catalogue.models import Collection, CollectionEntry, Product
from app.domain.merchandising.membership import placed_in
from app.domain.merchandising.shop import Shop, content_link
from app.domain.seo.landing.pages import LandingPagesOf, landing_at
from app.extensions import db

MOST = 50


@dataclass(frozen=True, slots=True)
class LinkSource:
    """A page, or with an empty path all pages, and the part of it where the link stands."""

    name: str
    place: str
    path: str = ""


def link_sources(shop: Shop, pages_of: LandingPagesOf, path: str, query: str = "") -> list[LinkSource]:
    """Return the links to a page that the shop itself makes in menus, lists, breadcrumb trails and the footer."""
    if query:
        return [LinkSource("The same page without parameters", "Filters, order, variants and page numbers", path)]
    first, _, rest = path.removeprefix("/").partition("/")
    if path == "/":
        return [LinkSource("Every page", "Shop name")]
    if first == "c":
        return list(_to_category(shop, pages_of, rest))
    if first == "p":
        return list(_to_product(shop, rest))
    if first in ("pages", "collections"):
        return list(_to_content(shop, path))
    return []


def _to_category(shop: Shop, pages_of: LandingPagesOf, path: str) -> Iterator[LinkSource]:
    node = shop.tree.at(path)
    if node is None:
        yield from _to_landing_page(shop, pages_of, path)
        return
    above = shop.tree.ancestors(node.id)
    if len(above) <= 1:
        yield LinkSource("Every page", "Menu of categories")
    if above:
        yield LinkSource(above[-1].name, "Sub-categories", f"/c/{above[-1].path}")
    for child in shop.tree.children(node.id)[:MOST]:
        yield LinkSource(child.name, "Breadcrumb trail", f"/c/{child.path}")


def _to_landing_page(shop: Shop, pages_of: LandingPagesOf, path: str) -> Iterator[LinkSource]:
    found = landing_at(shop.tree, path, pages_of)
    if found is None:
        return
    place = "Links under the products, and the filter"
    yield LinkSource(found.node.name, place, f"/c/{found.node.path}")
    others = [page for page in found.pages.pages if page is not found.page]
    for page in others[:MOST]:
        yield LinkSource(page.heading, "Links under the products", page.path)


def _to_product(shop: Shop, seo_name: str) -> Iterator[LinkSource]:
    columns = Product.id, Product.taxonomy_level_id, Product.manufacturer
    query = select(*columns).where(Product.site_id == shop.site_id, Product.seo_name == seo_name, Product.enabled)
    row = db.session.execute(query).one_or_none()
    if row is None:
        return
    level_path = shop.taxonomy.path_ids(row.taxonomy_level_id or "")
    shown_in = shop.tree.categories_of(level_path, row.manufacturer, placed_in(shop.site_id, row.id))
    own = [node for node in shop.tree.nodes.values() if node.id in shown_in and shop.tree.at(node.path) is node]
    yield from (LinkSource(shop.tree.label(node.id), "Products", f"/c/{node.path}") for node in own[:MOST])
    holding = select(Collection.name, Collection.seo_name).join(CollectionEntry)
    of_product = (Collection.site_id == shop.site_id, Collection.enabled, CollectionEntry.product_id == row.id)
    for name, collection in db.session.execute(holding.where(*of_product).order_by(Collection.name).limit(MOST)):
        yield LinkSource(name, "Products", content_link("collection", name, collection).path)


def _to_content(shop: Shop, path: str) -> Iterator[LinkSource]:
    if any(link.path == path for link in (*shop.pages, *shop.collections)):
        yield LinkSource("Every page", "Footer")
