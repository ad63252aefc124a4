"""So many requests in a window, whatever the clock does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.shared.rate_limit import Rate, Window, admit

THREE = Rate(3)


def _admitted(times: list[float], rate: Rate) -> list[float]:
    window, admitted = Window(), []
    for now in times:
        window, wait = admit(window, rate, now)
        if not wait:
            admitted.append(now)
    return admitted


def test_a_window_takes_so_many_and_the_next_one_as_many() -> None:
    assert _admitted([100.0, 101.0, 102.0, 103.0, 159.0, 160.0], THREE) == [100.0, 101.0, 102.0, 160.0]


def test_whoever_waits_as_long_as_was_said_is_admitted() -> None:
    window, _ = admit(Window(), Rate(1), 100.25)
    for now in (100.25, 130.0, 160.2):
        window, wait = admit(window, Rate(1), now)
        assert 1 <= wait <= 60
        assert admit(window, Rate(1), now + wait)[1] == 0


def test_who_only_looks_takes_nothing_and_is_refused_like_everybody_else() -> None:
    window = Window()
    for _ in range(5):
        window, wait = admit(window, Rate(1), 100.0, counted=0)
        assert wait == 0
    window, _ = admit(window, Rate(1), 100.0)
    assert admit(window, Rate(1), 130.0, counted=0) == (window, 30)


def test_a_clock_that_is_turned_back_gives_nothing_away_and_keeps_nobody_out_for_long() -> None:
    window, _ = admit(Window(), Rate(1), 10_000.0)
    window, wait = admit(window, Rate(1), 6_400.0)
    assert wait == 60
    assert admit(window, Rate(1), 6_460.0)[1] == 0


@given(st.lists(st.floats(1e9, 1e9 + 600), max_size=60).map(sorted), st.integers(1, 5), st.integers(1, 90))
def test_no_stretch_of_time_takes_more_than_two_windows_full(times: list[float], most: int, seconds: int) -> None:
    admitted = _admitted(times, Rate(most, seconds))
    for first in admitted:
        assert sum(first <= one < first + seconds for one in admitted) <= 2 * most
