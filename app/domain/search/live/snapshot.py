"""Synonyms and rules between their records, their values and the snapshot that is served."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from app.domain.search.live.models import SearchRule, Synonym
from app.domain.search.live.served import Banner, PinnedSku, Rule, SynonymGroup, SynonymType


def group_of(record: Synonym) -> SynonymGroup:
    return SynonymGroup(SynonymType(record.type), record.root, tuple(record.words), record.id)


def rule_of(record: SearchRule) -> Rule:
    return Rule(
        term=record.term,
        pins=tuple(PinnedSku(pin["sku"], pin["position"]) for pin in record.pins),
        boosts=tuple(record.boosts),
        buries=tuple(record.buries),
        redirect_url=record.redirect_url,
        banner=Banner(record.banner_text, record.banner_link_url) if record.banner_text else None,
        enabled=record.enabled,
        starts_at=record.starts_at,
        ends_at=record.ends_at,
        id=record.id,
    )


def stored_group(group: SynonymGroup) -> dict[str, Any]:
    return {"id": group.id, "type": group.type.value, "root": group.root, "words": list(group.words)}


def read_group(stored: Mapping[str, Any]) -> SynonymGroup:
    return SynonymGroup(SynonymType(stored["type"]), stored["root"], tuple(stored["words"]), stored["id"])


def stored_rule(rule: Rule) -> dict[str, Any]:
    """Times are written with their zone."""
    return {
        "id": rule.id,
        "term": rule.term,
        "pins": [{"sku": pin.sku, "position": pin.position} for pin in rule.pins],
        "boosts": list(rule.boosts),
        "buries": list(rule.buries),
        "redirectUrl": rule.redirect_url,
        "banner": {"text": rule.banner.text, "linkUrl": rule.banner.link_url} if rule.banner else None,
        "enabled": rule.enabled,
        "startsAt": rule.starts_at.isoformat() if rule.starts_at else None,
        "endsAt": rule.ends_at.isoformat() if rule.ends_at else None,
    }


def read_rule(stored: Mapping[str, Any]) -> Rule:
    banner = stored["banner"]
    return Rule(
        term=stored["term"],
        pins=tuple(PinnedSku(pin["sku"], pin["position"]) for pin in stored["pins"]),
        boosts=tuple(stored["boosts"]),
        buries=tuple(stored["buries"]),
        redirect_url=stored["redirectUrl"],
        banner=Banner(banner["text"], banner["linkUrl"]) if banner else None,
        enabled=stored["enabled"],
        starts_at=_time(stored["startsAt"]),
        ends_at=_time(stored["endsAt"]),
        id=stored["id"],
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
