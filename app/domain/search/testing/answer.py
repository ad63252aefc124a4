"""A tested search as JSON (contracts: Test a search)."""

from __future__ import annotations

from typing import Any

from app.domain.search.live.served import AppliedSynonym, Rule, SynonymGroup
from app.domain.search.testing.findings import Findings, ProductFindings, ScoredHit, Suggestion, Why
from app.domain.shared.times import rfc3339


def as_json(findings: Findings) -> dict[str, Any]:
    """Everything but the advice, whose links the surfaces know. `found` is null where the engine does not answer."""
    return {
        "query": findings.words,
        "asOf": rfc3339(findings.question.at) if findings.question.at else None,
        "engine": {"state": findings.engine.state.value, "error": findings.engine.error},
        "tokens": list(findings.tokens),
        "synonymsApplied": [_applied(one) for one in findings.applied],
        "synonymsSuggested": [_suggested(one) for one in findings.suggested],
        "rule": _rule(findings.rule) if findings.rule else None,
        "redirect": findings.redirect,
        "found": findings.found,
        "correctedTo": findings.corrected,
        "products": [_hit(hit) for hit in findings.hits],
        "product": _product(findings),
    }


def _applied(one: AppliedSynonym) -> dict[str, Any]:
    return _group(one.group) | {"typed": one.typed, "finds": list(one.others)}


def _suggested(one: Suggestion) -> dict[str, Any]:
    return _group(one.group) | {"typed": one.typed, "finds": list(one.others), "foundOnceAccepted": one.finds}


def _group(group: SynonymGroup) -> dict[str, Any]:
    return {"id": str(group.id), "type": group.type.value, "root": group.root, "synonyms": list(group.words)}


def _rule(rule: Rule) -> dict[str, Any]:
    banner = {"text": rule.banner.text, "linkUrl": rule.banner.link_url} if rule.banner else None
    return {
        "id": str(rule.id),
        "term": rule.term,
        "normalizedTerm": rule.normalized_term,
        "pins": [{"sku": pin.sku, "position": pin.position} for pin in rule.pins],
        "boosts": list(rule.boosts),
        "buries": list(rule.buries),
        "redirectUrl": rule.redirect_url,
        "banner": banner,
        "enabled": rule.enabled,
        "startsAt": rfc3339(rule.starts_at) if rule.starts_at else None,
        "endsAt": rfc3339(rule.ends_at) if rule.ends_at else None,
    }


def _hit(hit: ScoredHit) -> dict[str, Any]:
    shown = {"position": hit.position, "id": str(hit.id), "sku": hit.sku, "name": hit.name, "seoName": hit.seo_name}
    return shown | {"price": hit.price} | _why(hit.why)


def _product(findings: Findings) -> dict[str, Any] | None:
    """Null where no product was asked about; one that is not there is told by its reference."""
    product = findings.product
    if product is not None:
        return _known(product) | _why(product.why)
    if not findings.question.reference:
        return None
    absent = {"sku": findings.question.reference, "inCatalogue": False, "enabled": False, "indexed": False}
    return absent | {"rank": None, "matches": [], "missingWords": []}


def _known(product: ProductFindings) -> dict[str, Any]:
    return {
        "id": str(product.id),
        "sku": product.sku,
        "name": product.name,
        "seoName": product.seo_name,
        "inCatalogue": True,
        "enabled": product.enabled,
        "indexed": product.indexed,
        "rank": product.rank,
    }


def _why(why: Why) -> dict[str, Any]:
    parts = [
        {"kind": part.kind, "field": part.field, "words": list(part.words), "worth": round(part.worth, 4)}
        for part in why.parts
    ]
    return {
        "score": None if why.score is None else round(why.score, 4),
        "parts": parts,
        "placed": why.placed,
        "matches": [{"field": match.field, "words": list(match.words)} for match in why.matches],
        "missingWords": list(why.missing),
    }
