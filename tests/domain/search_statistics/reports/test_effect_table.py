"""Before and after in figures; better or worse only where chance would hardly make the difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.domain.search_statistics.counting.aggregation import Sums
from app.domain.search_statistics.measures import EffectRow, effect_rows


def line(label: str, before: Sums, after: Sums) -> EffectRow:
    return next(line for line in effect_rows(before, after, "gbp") if line.label == label)


def test_shares_are_of_the_searches_made_while_clicks_were_recorded() -> None:
    measures = line(
        "Clicked", Sums(searches=300, followed=200, clicked=10), Sums(searches=200, followed=200, clicked=60)
    )
    assert (measures.before, measures.before_share, measures.after, measures.after_share) == (
        "10",
        "5.0%",
        "60",
        "30.0%",
    )
    assert measures.is_better is True


def test_more_that_finds_nothing_is_worse_and_less_is_better() -> None:
    many, few = Sums(searches=1000, found_nothing=900), Sums(searches=1000, found_nothing=100)
    assert line("Found nothing", many, few).is_better is True
    assert line("Found nothing", few, many).is_better is False


def test_small_differences_and_small_numbers_have_no_colour() -> None:
    before, after = Sums(searches=153, found_nothing=136), Sums(searches=149, found_nothing=134)
    assert line("Found nothing", before, after).is_better is None
    assert line("Ordered", Sums(followed=100, ordered=0), Sums(followed=100, ordered=1)).is_better is None


def test_without_searches_there_is_no_share_which_is_not_0() -> None:
    measures = effect_rows(Sums(), Sums(searches=5), "gbp")
    assert [(one.before, one.before_share, one.is_better) for one in measures[1:]] == [("–", None, None)] * 5
    assert [one.after for one in measures] == ["5", "0", "–", "–", "–", "–"]


counts = st.integers(0, 50)


@given(counts, counts, counts, counts, counts, counts)
def test_any_counts_can_be_told(a: int, b: int, c: int, d: int, e: int, f: int) -> None:
    before = Sums(searches=a + b, found_nothing=a, followed=b + c, clicked=b)
    after = Sums(searches=d + e, found_nothing=d, followed=e + f, clicked=e)
    there, back = effect_rows(before, after, "gbp"), effect_rows(after, before, "gbp")
    opposite = {True: False, False: True, None: None}
    assert [one.is_better for one in there] == [opposite[one.is_better] for one in back]
