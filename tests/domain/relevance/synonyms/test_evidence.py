"""What speaks for a suggestion, in words."""

from __future__ import annotations

from typing import Any

import pytest

from app.domain.relevance.synonym_mining import describe_evidence, evidence_strength


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (None, ""),
        ({"wouldFind": 12, "searches": 43, "days": 30}, "Would find 12 products, searched 43 times in 30 days."),
        ({"wouldFind": 1, "searches": 1, "days": 1}, "Would find 1 product, searched 1 time in 1 day."),
        ({"searches": 1_200}, "Searched 1,200 times."),
        ({"wouldFind": "<b>", "searches": -3, "reason": "whim"}, ""),
        ({"reason": "spelling"}, "It is spelled nearly like words of the catalogue."),
        (
            {"visits": 14, "visitWeeks": 9, "word": "cooktop", "nextWord": "hob", "wouldFind": 12, "reason": "visits"},
            "14 visits in 9 weeks searched “cooktop” and then opened something from “hob”. Would find 12 products.",
        ),
        (
            {"visits": 1, "word": "cooktop", "nextWord": "hob", "wouldFind": 12, "finds": 2},
            "1 visit searched “cooktop” and then opened something from “hob”. Would find 12 products instead of 2.",
        ),
        ({"visits": 14, "word": "cooktop", "nextWord": None}, ""),
    ],
)
def test_evidence_is_told_in_sentences(evidence: dict[str, Any] | None, words: str) -> None:
    assert describe_evidence(evidence) == words


def test_what_is_searched_most_comes_first() -> None:
    assert (
        evidence_strength({"visits": 4})
        > evidence_strength({"searches": 3, "wouldFind": 1})
        > evidence_strength({"searches": 2, "wouldFind": 90})
        > evidence_strength(None)
    )
