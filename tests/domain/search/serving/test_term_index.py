"""Terms are found by the words of a search as a look at each of them would find them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.serving.rules import normalized_term
from app.domain.search.serving.term_index import Match, TermIndex, rest_of, run_of

WORDS = st.lists(st.sampled_from(("tent", "Tents", "bag", "for", "2", "rain-coat", "!")), max_size=5).map(" ".join)
MATCHES = st.sampled_from((Match.EXACT, Match.STARTS_WITH, Match.CONTAINS))
Entry = tuple[Match, str, int]


def looked_through(entries: Sequence[Entry], search: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for match, term, number in entries:
        if match is Match.EXACT:
            if normalized_term(term) == normalized_term(search):
                yield number, ()
            continue
        rest = rest_of(run_of(search), run_of(term), match)
        if rest is not None:
            yield number, rest


@given(st.lists(st.tuples(MATCHES, WORDS), max_size=12), WORDS)
def test_an_index_finds_what_a_look_at_each_term_finds(drawn: list[tuple[Match, str]], search: str) -> None:
    entries = [(match, term, number) for number, (match, term) in enumerate(drawn)]
    found = [(each.matched, each.rest) for each in TermIndex(entries, normalized_term).find(search)]
    assert Counter(found) == Counter(looked_through(entries, search))


@pytest.mark.parametrize(
    ("match", "term", "search", "is_met"),
    [
        (Match.EXACT, "Rain Coat", "rain  coat", True),
        (Match.EXACT, "rain coat", "rain coats", False),
        (Match.STARTS_WITH, "rain coat", "Rain coats red", True),
        (Match.STARTS_WITH, "rain", "raincoat", False),
        (Match.STARTS_WITH, "coat", "rain coat", False),
        (Match.CONTAINS, "rain coat", "red rain-coats for men", True),
        (Match.CONTAINS, "rain coat", "coat rain", False),
        (Match.CONTAINS, "rain coat", "rain red coat", False),
    ],
)
def test_a_term_is_met_as_its_match_says(match: Match, term: str, search: str, is_met: bool) -> None:
    assert bool(list(TermIndex([(match, term, 1)], normalized_term).find(search))) is is_met


def test_the_rest_of_a_search_is_what_stands_beside_the_term() -> None:
    assert rest_of(run_of("cheap red tents"), run_of("red"), Match.CONTAINS) == ("cheap", "tent")
    assert rest_of(run_of("red tents"), run_of("red"), Match.STARTS_WITH) == ("tent",)
    assert rest_of(run_of("tents"), run_of("red"), Match.CONTAINS) is None
