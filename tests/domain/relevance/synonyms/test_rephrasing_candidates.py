"""Which second tries of shoppers speak for a synonym."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.domain.relevance.synonym_mining import is_evidence, mine_rephrasings
from app.domain.search_statistics.counting.aggregation import Rephrased

PAIR = Rephrased("cooktop", "hob", visits=20, weeks=3, followed=60, popularity=0.02)


def test_visits_of_several_weeks_make_a_one_way_synonym_with_their_counts() -> None:
    (found,) = mine_rephrasings([PAIR])
    assert (found.type, found.root, found.words) == ("ONE_WAY", "cooktop", ("hob",))
    assert found.evidence == {
        "reason": "visits",
        "word": "cooktop",
        "visits": 20,
        "visitWeeks": 3,
        "nextWord": "hob",
    }


def test_words_that_are_rephrased_either_way_find_each_other() -> None:
    back = replace(PAIR, word="hob", next_word="cooktop", visits=16, weeks=2)
    for pairs in ([PAIR, back], [back, PAIR]):
        (found,) = mine_rephrasings(pairs)
        assert (found.type, found.root, found.words) == ("EQUIVALENT", None, ("cooktop", "hob"))
        assert found.evidence["visits"] == 20


@pytest.mark.parametrize(
    "weak",
    [
        {"visits": 10, "weeks": 2},
        {"visits": 500, "weeks": 1},
        {"visits": 14, "weeks": 2},
        {"visits": 20, "followed": 250},
        {"visits": 20, "popularity": 0.2},
        {"visits": 20, "followed": 0},
    ],
    ids=["few visits", "a burst", "one network each day", "seldom", "searched anyway", "not searched"],
)
def test_one_person_a_program_or_chance_is_no_evidence(weak: dict[str, Any]) -> None:
    assert is_evidence(PAIR) and not is_evidence(replace(PAIR, **weak))


def test_a_word_that_half_of_all_searches_have_is_evidence_where_half_go_on_to_it() -> None:
    assert is_evidence(replace(PAIR, visits=30, popularity=0.5))
    assert not is_evidence(replace(PAIR, visits=29, popularity=0.5))


@pytest.mark.parametrize(
    ("word", "next_word", "reason"),
    [
        ("blendr", "blender", "spelling"),
        ("belnder", "blender", "spelling"),
        ("smart watch", "smartwatch", "joined"),
        ("cooktop", "hob", "visits"),
    ],
)
def test_one_slip_is_a_spelling_and_a_space_is_a_word_that_is_joined(word: str, next_word: str, reason: str) -> None:
    (found,) = mine_rephrasings([replace(PAIR, word=word, next_word=next_word)])
    assert found.evidence["reason"] == reason
