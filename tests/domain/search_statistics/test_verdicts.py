"""Verdicts of comparisons: false alarms in at most five of a hundred, and 55 to 45 found in four of five."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.ranking.interleaving import Side
from app.domain.search_statistics.verdicts import (
    ENOUGH,
    FALSE_ALARMS,
    FOUND_SHARE,
    POWER,
    Ending,
    Verdict,
    Wins,
    days_until_enough,
    ending_of,
    interval,
    is_overwhelming,
)

NEGLIGIBLE = 1e-15  # Of all ways in which a comparison can go.
COUNTS = st.integers(0, 900)


def likelihood_of_a_verdict(share: float, enough: int = ENOUGH) -> float:
    """How likely a comparison ends with a verdict where the candidate truly wins this share of clicks, looked at after
    each click: by going through all ways in which it can go."""
    ways, decided = {0: 1.0}, 0.0
    for clicks in range(1, enough + 1):
        after: dict[int, float] = {}
        for won, likely in ways.items():
            if likely > NEGLIGIBLE:
                after[won] = after.get(won, 0.0) + likely * (1 - share)
                after[won + 1] = after.get(won + 1, 0.0) + likely * share
        ended = [won for won in after if ending_of(Wins(clicks - won, won), False) is Ending.EARLY]
        decided += sum(after.pop(won) for won in ended)
        ways = after
    last = {won: interval(Wins(enough - won, won), True).verdict for won, likely in ways.items() if likely > 1e-6}
    return decided + sum(ways[won] for won, verdict in last.items() if verdict is not Verdict.UNDECIDED)


def test_rankings_that_are_equally_good_are_told_apart_in_five_of_a_hundred_comparisons_at_most() -> None:
    assert likelihood_of_a_verdict(0.5) <= FALSE_ALARMS


@pytest.mark.parametrize("share", [FOUND_SHARE, 1 - FOUND_SHARE])
def test_55_to_45_is_found_in_four_of_five_comparisons(share: float) -> None:
    assert likelihood_of_a_verdict(share) >= POWER


@pytest.mark.parametrize("clicks", [40, 150, 500])
def test_a_period_that_ends_before_there_are_enough_clicks_raises_no_more_false_alarms(clicks: int) -> None:
    assert likelihood_of_a_verdict(0.5, clicks) <= FALSE_ALARMS


@given(COUNTS, COUNTS, st.booleans())
def test_the_interval_holds_what_was_observed_and_favours_no_side(present: int, candidate: int, is_final: bool) -> None:
    found = interval(Wins(present, candidate), is_final)
    share = Wins(present, candidate).share
    assert 0 <= found.low <= found.high <= 1
    assert share is None or (found.low <= share + 1e-6 and share - 1e-6 <= found.high)
    swapped = interval(Wins(candidate, present), is_final)
    assert swapped.low == pytest.approx(1 - found.high, abs=1e-6)


@given(COUNTS, COUNTS)
def test_a_last_look_says_no_less_than_a_look_at_any_time(present: int, candidate: int) -> None:
    at_any_time, last = (interval(Wins(present, candidate), is_final) for is_final in (False, True))
    assert last.low >= at_any_time.low and last.high <= at_any_time.high


@given(COUNTS, COUNTS)
def test_evidence_that_ends_a_comparison_early_is_a_verdict(present: int, candidate: int) -> None:
    wins = Wins(present, candidate)
    decided = interval(wins, False).verdict is not Verdict.UNDECIDED
    assert decided == is_overwhelming(wins)


def test_ten_clicks_decide_nothing_although_all_are_of_one_side() -> None:
    assert interval(Wins(0, 10), False).verdict is Verdict.UNDECIDED
    assert interval(Wins(0, 0), True).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("wins", "verdict"),
    [
        (Wins(372, 429), Verdict.BETTER),
        (Wins(373, 428), Verdict.UNDECIDED),
        (Wins(429, 372), Verdict.WORSE),
        (Wins(400, 401, 5000), Verdict.UNDECIDED),
    ],
)
def test_the_verdict_at_the_end(wins: Wins, verdict: Verdict) -> None:
    assert interval(wins, True).verdict is verdict


def test_a_comparison_ends_by_clicks_by_evidence_or_by_its_period() -> None:
    assert ending_of(Wins(400, 400), False) is None
    assert ending_of(Wins(400, 401), False) is Ending.ENOUGH
    assert ending_of(Wins(60, 140), False) is Ending.EARLY
    assert ending_of(Wins(0, 0, 50), True) is Ending.PERIOD


def test_only_a_time_that_nobody_chose_by_what_was_counted_is_a_last_look() -> None:
    assert [ending for ending in Ending if ending.is_final_look] == [Ending.ENOUGH, Ending.PERIOD]


def test_wins_are_counted_for_the_side_that_placed_the_product() -> None:
    wins = sum((Wins.of(side) for side in (Side.PRESENT, Side.CANDIDATE, Side.CANDIDATE, None)), Wins())
    assert (wins, wins.decisive, wins.total) == (Wins(1, 2, 1), 3, 4)


def test_how_long_it_takes_follows_from_the_rate_of_clicks() -> None:
    assert days_until_enough(Wins(), 10) == 81
    assert days_until_enough(Wins(400, 400), 10) == 1
    assert days_until_enough(Wins(400, 401), 10) == 0
    assert days_until_enough(Wins(), 0) is None
