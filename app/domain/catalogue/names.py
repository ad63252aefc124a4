"""Which SKUs and SEO names of a site are taken."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.models import Collection as ProductCollection
from app.domain.catalogue.models import Page, Product, Variant
from app.domain.catalogue.rules import ProductDraft
from app.domain.shared.addresses import free_slug
from app.domain.shared.problems import Problem
from app.extensions import db

Named = type[Product] | type[Page] | type[ProductCollection]


def free_seo_name(site_id: int, wanted: str, kind: Named = Product) -> str:
    """`wanted`, or with the first number behind it that is free among records of this kind on the site."""
    query = select(kind.seo_name).where(
        kind.site_id == site_id,
        (kind.seo_name == wanted) | kind.seo_name.startswith(f"{wanted}-", autoescape=True),
    )
    return free_slug(wanted, set(db.session.scalars(query)))


def seo_name_problems(site_id: int, seo_name: str, own_id: int | None, kind: Named) -> list[Problem]:
    """One problem when another record of this kind on the site has the name."""
    query = select(kind.id).where(kind.site_id == site_id, kind.seo_name == seo_name)
    return [_taken("SEO name", seo_name, "#/seoName")] if _other(query, own_id) else []


def taken_problems(site_id: int, draft: ProductDraft, own_id: int | None) -> list[Problem]:
    """The SKUs and the SEO name of a tidied draft that other products of the site have."""
    problems = seo_name_problems(site_id, draft.seo_name, own_id, Product)
    if _other(select(Product.id).where(Product.site_id == site_id, Product.sku == draft.sku), own_id):
        problems.append(_taken("SKU", draft.sku, "#/sku"))
    foreign = _foreign_variant_skus(site_id, [variant.sku for variant in draft.variants], own_id)
    for index, variant in enumerate(draft.variants):
        if variant.sku in foreign:
            problems.append(_taken("SKU", variant.sku, f"#/variants/{index}/sku"))
    return problems


def _other(query: Any, own_id: int | None) -> bool:
    found = db.session.scalar(query)
    return found is not None and found != own_id


def _foreign_variant_skus(site_id: int, skus: Collection[str], own_id: int | None) -> set[str]:
    if not skus:
        return set()
    query = select(Variant.sku).where(Variant.site_id == site_id, Variant.sku.in_(skus))
    if own_id is not None:
        query = query.where(Variant.product_id != own_id)
    return set(db.session.scalars(query))


def _taken(label: str, text: str, pointer: str) -> Problem:
    return Problem("taken", f"The {label} “{text[:80]}” belongs to another record of this site.", pointer)
