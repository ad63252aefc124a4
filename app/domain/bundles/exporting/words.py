"""A site's synonyms, search rules and golden searches as documents: complete but for what is only true of this site."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from app.domain.bundles.exporting.structure import in_order
from app.domain.relevance.golden import expectation_of, golden_searches
from app.domain.relevance.models import SearchRule, Synonym
from app.extensions import db


def synonyms(site_id: int) -> list[dict[str, Any]]:
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id).order_by(Synonym.id))
    return sorted(map(_synonym, rows), key=_place)


def _synonym(synonym: Synonym) -> dict[str, Any]:
    return synonym.record | {"evidence": in_order(synonym.evidence)}


def _place(synonym: dict[str, Any]) -> tuple[str, str, list[str]]:
    return synonym["type"], synonym["root"] or "", synonym["synonyms"]


def rules(site_id: int) -> list[dict[str, Any]]:
    rows = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id))
    return [rule.value.as_json() for rule in sorted(rows, key=lambda rule: rule.normalized_term)]


def goldens(site_id: int) -> list[dict[str, Any]]:
    """Return the golden searches whose product is there: a shop takes no others."""
    rows = (expectation_of(row.search) for row in golden_searches(site_id) if row.product_id is not None)
    return [golden.as_json() for golden in sorted(rows, key=lambda golden: (golden.query, golden.sku))]
