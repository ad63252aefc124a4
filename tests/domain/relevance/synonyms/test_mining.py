"""What the shop's own words suggest for searches that found nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.relevance.synonym_mining import Candidate, CatalogueWords, FoundNothing, mine_catalogue
from app.domain.search.serving.synonyms import SynonymType
from app.domain.search.text import words

CATALOGUE = CatalogueWords(
    frequencies={"keyboard": 40, "smartwatch": 12, "rain": 5, "coat": 9, "shelf": 3, "roof": 2, "laptop": 90, "hp": 50},
    pairs=frozenset({("rain", "coat")}),
    brands=("HP", "SanDisk", "Western Digital"),
    values=("Space grey", "Bluetooth", "AA"),
)


def candidates(word: str, searches: int = 7) -> list[Candidate]:
    return list(mine_catalogue([FoundNothing(word, searches)], CATALOGUE))


@pytest.mark.parametrize(
    ("searched", "kind", "root", "found", "reason"),
    [
        ("smart watch", "EQUIVALENT", None, ("smart watch", "smartwatch"), "joined"),
        ("raincoat", "EQUIVALENT", None, ("raincoat", "rain coat"), "joined"),
        ("rooves", "EQUIVALENT", None, ("rooves", "roof"), "plural"),
        ("hewlett packard", "ONE_WAY", "hewlett packard", ("HP",), "brand"),
        ("wd", "ONE_WAY", "wd", ("Western Digital",), "brand"),
        ("sandisc", "ONE_WAY", "sandisc", ("SanDisk",), "brand"),
        ("space gray", "ONE_WAY", "space gray", ("Space grey",), "attribute"),
        ("keybaord", "ONE_WAY", "keybaord", ("keyboard",), "spelling"),
    ],
)
def test_each_rule_names_what_it_saw(
    searched: str, kind: str, root: str | None, found: tuple[str, ...], reason: str
) -> None:
    suggestions = [(c.type, c.root, c.words, c.evidence["reason"]) for c in candidates(searched)]
    assert (SynonymType(kind), root, found, reason) in suggestions


def test_the_evidence_says_what_was_searched_and_how_often() -> None:
    assert candidates("smart watch", 43)[0].evidence == {"reason": "joined", "word": "smart watch", "searches": 43}


def test_what_the_catalogue_says_already_needs_no_synonym() -> None:
    assert candidates("laptop") == candidates("rain coat") == candidates("keyboards") == candidates("shelves") == []


def test_a_word_of_the_language_is_no_slip_of_another() -> None:
    seats = CatalogueWords({"coach": 9, "monitor": 9})
    assert list(mine_catalogue([FoundNothing("couch", 7)], seats)) == []
    assert [c.words for c in mine_catalogue([FoundNothing("moniter", 7)], seats)] == [("monitor",)]


def test_initials_of_two_brands_mean_neither() -> None:
    ambiguous = CatalogueWords({}, brands=("Western Digital", "Wacky Devices"))
    assert list(mine_catalogue([FoundNothing("wd", 1)], ambiguous)) == []


def test_initials_of_a_value_mean_nothing() -> None:
    assert candidates("amazon alexa") == []


@given(st.text(max_size=60))
def test_whatever_was_searched_no_candidate_says_the_same_twice(searched: str) -> None:
    for candidate in candidates(searched):
        both = [candidate.root] if candidate.root else []
        assert all(word.strip() for word in candidate.words)
        assert len({tuple(words(text)) for text in (*both, *candidate.words)}) == len(both) + len(candidate.words)
