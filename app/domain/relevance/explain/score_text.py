"""Describe an engine's explanation of a score. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from app.domain.search.engine import FieldMatch, ScorePart
from app.domain.search.ranking.learning import WINDOW
from app.domain.search.ranking.scoring import rank_by_meaning

FIELDS = {
    "name": "name",
    "terms": "search terms",
    "manufacturer": "manufacturer",
    "kind": "kind of product",
    "description": "description",
    "attributes": "attributes",
    "codes": "SKU or barcode",
    "pairs": "words written as one",
    "parts": "part of a code",
}
LEARNED = {
    "learned": "shoppers who searched this open it often",
    "learned_level": "shoppers who searched this open products of its level often",
}
PLACED = {
    "pinned": "Pinned here by a rule",
    "boosted": "Moved up by a rule",
    "buried": "Put last by a rule",
    "sold_out": "Put last because it is sold out",
}


def field_name(field: str | None) -> str:
    return FIELDS.get(field or "", field or "text")


def describe_matches(matches: Iterable[FieldMatch]) -> list[tuple[str, tuple[str, ...]]]:
    """Return (label of the field, words) of each match."""
    return [(field_name(match.field), match.words) for match in matches]


LIFTS = {
    "level": "the best results are mostly of its kind of product",
    "level_name": "the words name its kind of product",
    "sales": "sold well in the last 90 days",
    "newness": "new in the shop",
    "stock": "in stock",
}


def describe_part(part: ScorePart) -> str:
    """Return a description such as "“rain” in the name"."""
    if part.kind == "meaning":
        return f"its meaning is near: rank {rank_by_meaning(part.worth) + 1}"
    if part.kind in LEARNED:
        return _learned(part)
    if not part.words:
        return LIFTS.get(part.kind, "all of the words together")
    words = f"“{' '.join(part.words)}”"
    where = field_name(part.field)
    sentences = {
        "word": f"{words} in the {where}",
        "alternative": f"{words} in the {where}, by a synonym",
        "beginning": f"{words} in the {where}, as a longer word",
        "side_by_side": f"{words} side by side in the {where}",
        "code": f"{words} is its code",
    }
    return sentences.get(part.kind, f"{words} in the {where}")


def _learned(part: ScorePart) -> str:
    opens = f": {part.opens:,} open{'' if part.opens == 1 else 's'} in {WINDOW} weeks" if part.opens else ""
    return f"{LEARNED[part.kind]}{opens}"


def describe_placing(placed: str | None) -> str | None:
    return PLACED.get(placed or "")
