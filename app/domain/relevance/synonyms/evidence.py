"""The evidence for a suggestion, in words: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.shared.counts import numbered

REASONS = {
    "spelling": "It is spelled nearly like words of the catalogue.",
    "joined": "The same is written together here and apart there.",
    "plural": "It is another form of the same word.",
    "brand": "It is close to a brand of the catalogue.",
    "attribute": "It is close to a value in the catalogue.",
    "ai": "The language model thinks that they mean the same.",
}


def describe_evidence(evidence: Mapping[str, Any] | None) -> str:
    """Return sentences such as “Would find 12 products, searched 43 times in 30 days.” Empty where nothing is known."""
    if not evidence:
        return ""
    sentences = (_visits(evidence), _counts(evidence), REASONS.get(str(evidence.get("reason")), ""))
    return " ".join(sentence for sentence in sentences if sentence)


def strength(evidence: Mapping[str, Any] | None) -> tuple[int, int]:
    """Return the sort key of evidence: what is searched most and would find most is read first."""
    known = evidence or {}
    times = [_number(known.get(name)) or 0 for name in ("searches", "visits")]
    return max(times), _number(known.get("wouldFind")) or 0


def _visits(evidence: Mapping[str, Any]) -> str:
    visits, weeks = (_number(evidence.get(name)) for name in ("visits", "visitWeeks"))
    words = evidence.get("word"), evidence.get("nextWord")
    if not visits or not all(isinstance(word, str) and word for word in words):
        return ""
    searched = f"searched “{words[0]}” and then opened something from “{words[1]}”"
    in_weeks = f" in {numbered(weeks, 'week')}" if weeks else ""
    return f"{numbered(visits, 'visit')}{in_weeks} {searched}."


def _counts(evidence: Mapping[str, Any]) -> str:
    would_find, finds, searches, days = (_number(evidence.get(n)) for n in ("wouldFind", "finds", "searches", "days"))
    instead = f" instead of {finds:,}" if finds else ""
    found = f"would find {numbered(would_find, 'product')}{instead}" if would_find else ""
    period = f" in {numbered(days, 'day')}" if days else ""
    searched = f"searched {numbered(searches, 'time')}{period}" if searches else ""
    said = ", ".join(part for part in (found, searched) if part)
    return f"{said[0].upper()}{said[1:]}." if said else ""


def _number(value: Any) -> int | None:
    """Return the value as a count, None for what is none. Evidence comes from programs of several kinds; what is no
    count is left out."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
