"""Explanation of a search as JSON (contracts: Test a search). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from app.domain.merchandising.shop import ContentLink
from app.domain.relevance.explain.explanation import (
    PendingSuggestion,
    ProductExplanation,
    ScoredHit,
    ScoreExplanation,
    SearchExplanation,
)
from app.domain.search.engine import ScorePart
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import AppliedSynonym, SynonymGroup
from app.domain.shared.times import rfc3339


def as_json(explanation: SearchExplanation) -> dict[str, Any]:
    """Return the JSON of an explanation without its advice, whose links only the pages and tools know. `found` is null
    where the engine does not answer."""
    return {
        "query": explanation.words,
        "asOf": rfc3339(explanation.request.at) if explanation.request.at else None,
        "engine": {"state": explanation.engine.state.value, "error": explanation.engine.error},
        "tokens": list(explanation.tokens),
        "synonymsApplied": [_applied(one) for one in explanation.applied],
        "synonymsSuggested": [_suggested(one) for one in explanation.suggested],
        "rule": _rule(explanation.rule) if explanation.rule else None,
        "redirect": explanation.redirect,
        "found": explanation.found,
        "correctedTo": explanation.corrected,
        "products": [_hit(hit) for hit in explanation.hits],
        "content": [*_content(explanation.content.titled, True), *_content(explanation.content.others, False)],
        "similar": [_similar(hit) for hit in explanation.similar],
        "product": _product(explanation),
    }


def _content(links: Iterable[ContentLink], answers: bool) -> Iterator[dict[str, Any]]:
    return ({"name": link.name, "path": link.path, "answers": answers} for link in links)


def _applied(one: AppliedSynonym) -> dict[str, Any]:
    return _group(one.group) | {"typed": one.typed, "finds": list(one.others)}


def _suggested(one: PendingSuggestion) -> dict[str, Any]:
    return _group(one.group) | {"typed": one.typed, "finds": list(one.others), "foundOnceAccepted": one.finds}


def _group(group: SynonymGroup) -> dict[str, Any]:
    return {"id": str(group.id)} | group.as_json()


def _rule(rule: Rule) -> dict[str, Any]:
    served = {name: value for name, value in rule.as_json().items() if name != "note"}
    return {"id": str(rule.id), "normalizedTerm": rule.normalized_term} | served


def _hit(hit: ScoredHit) -> dict[str, Any]:
    shown = {"position": hit.position, "id": str(hit.id), "sku": hit.sku, "name": hit.name, "seoName": hit.seo_name}
    return shown | {"price": hit.price} | _why(hit.why)


def _similar(hit: ScoredHit) -> dict[str, Any]:
    nearness = None if hit.why.score is None else round(hit.why.score, 4)
    return {"id": str(hit.id), "sku": hit.sku, "name": hit.name, "seoName": hit.seo_name, "similarity": nearness}


def _product(explanation: SearchExplanation) -> dict[str, Any] | None:
    """Return the JSON of the requested product, None where none was requested; an unknown one has its reference as
    SKU."""
    product = explanation.product
    if product is not None:
        return _known(product) | _why(product.why)
    if not explanation.request.reference:
        return None
    absent = {"sku": explanation.request.reference, "inCatalogue": False, "enabled": False, "indexed": False}
    return absent | {"rank": None, "matches": [], "missingWords": []}


def _known(product: ProductExplanation) -> dict[str, Any]:
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


def _why(why: ScoreExplanation) -> dict[str, Any]:
    return {
        "score": None if why.score is None else round(why.score, 4),
        "parts": [_part(part) for part in why.parts],
        "placed": why.placed,
        "matches": [{"field": match.field, "words": list(match.words)} for match in why.matches],
        "missingWords": list(why.missing),
        "wouldRank": why.would_rank,
        "wouldAdd": [_part(part) for part in why.would],
    }


def _part(part: ScorePart) -> dict[str, Any]:
    return {
        "kind": part.kind,
        "field": part.field,
        "words": list(part.words),
        "worth": round(part.worth, 4),
        "opens": part.opens,
    }
