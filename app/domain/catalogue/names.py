"""The SKUs and SEO names of a site that are taken."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.catalogue.models import Product, Variant
from app.domain.catalogue.rules import ProductDraft
from app.domain.shared.addresses import free_slug
from app.domain.shared.problems import Problem
from app.extensions import db


def free_seo_name(site_id: int, wanted: str, title: InstrumentedAttribute[str] = Product.name) -> str:
    """Return `wanted`, with the first free number behind it where one of the site's records of the title's model has
    it."""
    kind = title.class_
    query = select(kind.seo_name).where(
        kind.site_id == site_id,
        (kind.seo_name == wanted) | kind.seo_name.startswith(f"{wanted}-", autoescape=True),
    )
    return free_slug(wanted, set(db.session.scalars(query)))


def seo_name_problems(
    site_id: int, seo_name: str, own_id: int | None, title: InstrumentedAttribute[str]
) -> list[Problem]:
    """Return a problem where another of the site's records of the title's model has the name, else none."""
    kind = title.class_
    query = select(kind.id, title).where(kind.site_id == site_id, kind.seo_name == seo_name)
    return [
        _taken("SEO name", seo_name, owner, "#/seoName")
        for owner_id, owner in db.session.execute(query)
        if owner_id != own_id
    ]


def taken_problems(site_id: int, draft: ProductDraft, own_id: int | None) -> list[Problem]:
    """The SKUs and the SEO name of a tidied draft that other products of the site have."""
    query = select(Product.id, Product.name).where(Product.site_id == site_id, Product.sku == draft.sku)
    others = (owner for owner_id, owner in db.session.execute(query) if owner_id != own_id)
    owners = _owners_of_variants(site_id, [variant.sku for variant in draft.variants], own_id)
    return [
        *seo_name_problems(site_id, draft.seo_name, own_id, Product.name),
        *(_taken("SKU", draft.sku, owner, "#/sku") for owner in others),
        *(
            _taken("SKU", variant.sku, owners[variant.sku], f"#/variants/{index}/sku")
            for index, variant in enumerate(draft.variants)
            if variant.sku in owners
        ),
    ]


def _owners_of_variants(site_id: int, skus: Collection[str], own_id: int | None) -> dict[str, str]:
    """Return the names of other products, by those of their variants' SKUs that are among `skus`."""
    if not skus:
        return {}
    query = select(Variant.sku, Product.name).join(Product, Product.id == Variant.product_id)
    query = query.where(Variant.site_id == site_id, Variant.sku.in_(skus), Variant.product_id != (own_id or 0))
    return {sku: owner for sku, owner in db.session.execute(query)}


def _taken(label: str, text: str, owner: str, pointer: str) -> Problem:
    return Problem("taken", f"The {label} “{text[:80]}” belongs to “{owner[:80]}”.", pointer)
