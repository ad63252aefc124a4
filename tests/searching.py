"""Shops small enough to index in a test."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from app.domain.catalogue.models import Page, Product, Variant
from app.domain.search.engine import IndexName, SearchContext, SearchRequest
from app.domain.search.index import runs
from app.domain.shared.author import Author
from app.domain.sites.models import Domain, Site
from app.extensions import db
from app.transaction import transaction

WHEN = datetime(2026, 11, 1, tzinfo=UTC)


def add_site(host: str = "shop.test") -> Site:
    site = Site(name=host, capabilities=["TAXONOMY_ENGINE"], created_at=WHEN, domains=[Domain(host=host, primary=True)])
    db.session.add(site)
    db.session.flush()
    return site


def add_product(site_id: int, sku: str, name: str | None = None, variants: Sequence[str] = ()) -> Product:
    product = Product(
        site_id=site_id, sku=sku, seo_name=sku, name=name or sku, price=1000, created_at=WHEN, updated_at=WHEN
    )
    product.variants = [Variant(site_id=site_id, sku=variant, options={}) for variant in variants]
    db.session.add(product)
    db.session.flush()
    return product


def add_page(site_id: int, seo_name: str, body: str = "") -> Page:
    page = Page(site_id=site_id, seo_name=seo_name, title=seo_name, body=body, updated_at=WHEN)
    db.session.add(page)
    db.session.flush()
    return page


def request(indexing: SearchContext, site_id: int, scope: str = "ALL") -> str:
    with transaction():
        run, _ = runs.request_rebuild(Author(site_id, "tests", indexing.clock), indexing.engine, indexing.locks, scope)
    return run.id


def found(indexing: SearchContext, site_id: int, index: IndexName = IndexName.PRODUCTS, words: str = "") -> set[str]:
    """The SKUs, or the names of pages and collections, that a search finds."""
    result = indexing.engine.search(site_id, index, SearchRequest(words=words, per_page=1000))
    return {str(hit.card.get("sku") or hit.card["name"]) for hit in result.hits}
