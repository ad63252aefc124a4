"""Describe the records of the history in the words of the pages that edit them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from app.domain.relevance.synonyms.evidence import describe_evidence
from app.domain.search.serving.synonyms import LABELS
from app.domain.search.settings import TITLES
from app.domain.shared.times import format_moment

TERMS = "search_terms"
SOURCES = {"MANUAL": "by hand", "AI": "suggested by AI", "MINED": "suggested by the shop"}
Fields = dict[str, Any]


def readable(kind: str, state: Mapping[str, Any] | None, time_zone: str) -> Fields | None:
    """Return the fields of a record of `kind` under the labels of its page, None for no record; times are in
    `time_zone`."""
    if state is None:
        return None
    if kind == "rule":
        return _rule(state, ZoneInfo(time_zone))
    return _BY_KIND[kind](state)


def _synonym(state: Mapping[str, Any]) -> Fields:
    return {
        "kind": LABELS.get(state.get("type", ""), state.get("type")),
        "shoppers search": state.get("root"),
        "words": state.get("synonyms"),
        "state": str(state.get("status") or "").lower(),
        "made": SOURCES.get(state.get("source", ""), state.get("source")),
        "what speaks for it": describe_evidence(state.get("evidence")),
    }


def _rule(state: Mapping[str, Any], zone: ZoneInfo) -> Fields:
    banner = state.get("banner") or {}
    return {
        "term": state.get("term"),
        "pins": [f"{pin['sku']} at {pin['position']}" for pin in state.get("pins") or ()],
        "boosted": state.get("boosts"),
        "buried": state.get("buries"),
        "leads to": state.get("redirectUrl"),
        "text": banner.get("text"),
        "link": banner.get("linkUrl"),
        "paused": "no" if state.get("enabled", True) else "yes",
        "begins": _moment(state.get("startsAt"), zone),
        "ends": _moment(state.get("endsAt"), zone),
        "note": state.get("note"),
    }


def _golden(state: Mapping[str, Any]) -> Fields:
    return {"search": state.get("query"), "product": state.get("sku"), "in the first": state.get("within")}


def _moment(written: str | None, zone: ZoneInfo) -> str:
    if not written:
        return ""
    return format_moment(datetime.fromisoformat(written), zone.key)


_BY_KIND: Mapping[str, Callable[[Mapping[str, Any]], Fields]] = {
    "synonym": _synonym,
    "golden_search": _golden,
    "learning": lambda state: {"forgotten through": state.get("through")},
    "product": lambda state: {"search terms": state.get(TERMS)},
    "settings": lambda state: {TITLES.get(key, key): value for key, value in state.items()},
}
