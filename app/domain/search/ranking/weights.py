"""The weight of a word in a document: BM25 by field, times the weight of the field. The functions take a number or an
array of numbers alike, so that an engine may compute all documents at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from types import MappingProxyType
from typing import Any

Amount = Any  # A number, or an array of numbers.


@dataclass(frozen=True, slots=True)
class TextField:
    """`weight` is the field's share in what a document is about; `b` how much a long field counts less than a short
    one (the b of BM25)."""

    weight: float
    b: float


TEXT_FIELDS: Mapping[str, TextField] = MappingProxyType(
    {
        "name": TextField(6.0, 0.5),
        "terms": TextField(6.0, 0.5),
        "manufacturer": TextField(2.0, 0.3),
        "kind": TextField(3.0, 0.5),
        "description": TextField(0.5, 0.3),
        "attributes": TextField(0.5, 0.9),
    }
)
# Fields of exact words, scored by how rare a word is alone: whole codes, neighbours written as one, parts of codes.
EXACT_FIELDS: Mapping[str, float] = MappingProxyType({"codes": 8.0, "pairs": 4.0, "parts": 1.0})
FIELDS = (*TEXT_FIELDS, *EXACT_FIELDS)

K1 = 1.6  # Of BM25: how soon more of the same word in a field adds little.

PREFIX_WORTH = 0.4  # A longer word in place of its beginning.
ALTERNATIVE_WORTH = 0.8  # An alternative in place of the words that it stands for.
COMPOUND_WORTH = 0.5  # Two words written as one, in place of each of the two.
PHRASE_WEIGHT = 3.0  # Two words of the search side by side in the name, on top.
CODE_WEIGHT = 100.0  # All words of the search together are a code, on top.
DEMOTION = 0.99  # The best of what has less of the words, beside the last of what has more.


def field_weight(field: str) -> float:
    text = TEXT_FIELDS.get(field)
    return text.weight if text else EXACT_FIELDS[field]


def inverse_document_frequency(documents: int, holders: int) -> float:
    """Return the inverse document frequency of a word that `holders` of all documents have in a field."""
    return log(documents / (holders + 1)) + 1


def length_norm(field: str, length: Amount, average: float) -> Amount:
    """Return the length norm of a text field of that many words, beside the average: what it takes from the frequency
    of a word."""
    b = TEXT_FIELDS[field].b
    return K1 * ((1 - b) + b * length / average)


def saturated(frequency: Amount, norm: Amount) -> Amount:
    """The share of BM25 that grows with the frequency of a word in a field."""
    return frequency * (K1 + 1) / (frequency + norm)


def demotion(best_of_lower: float, last_of_higher: float) -> float:
    """Return the factor for the scores of documents with less of the words, by which they follow those with more.
    Brought down together they keep the order among them."""
    limit = DEMOTION * last_of_higher
    return limit / best_of_lower if best_of_lower > limit else 1.0
