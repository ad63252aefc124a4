"""Amounts above the limit: a slip of the finger ends nothing, trying it out does, and nobody is signed out unwarned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos.over_limit import MOST_COUNTED, AmountExceedsLimit, RefusedAmount, count_tries

LIMIT = 50_000
refused_amounts = st.builds(RefusedAmount, st.integers(LIMIT + 1, 4 * LIMIT), st.just(LIMIT))


def _attempts_left(*amounts: int) -> list[int | None]:
    """After each of the amounts."""
    tried = [RefusedAmount(amount, LIMIT) for amount in amounts]
    return [count_tries(tried[: number + 1]).attempts_left for number in range(len(tried))]


@pytest.mark.parametrize(
    ("amounts", "left"),
    [
        ((50_001,), [None]),
        ((50_001, 50_001, 50_001, 50_001), [None] * 4),
        ((50_001, 50_002), [None, 3]),
        ((50_001, 50_002, 50_003, 50_003, 50_004, 50_005), [None, 3, 2, 2, 1, 0]),
        ((100_001, 100_002, 100_003), [None, 1, 0]),
        ((100_001, 50_001, 50_002, 50_003), [None, 2, 1, 0]),
        ((100_000, 99_999), [None, 3]),
    ],
)
def test_the_second_amount_brings_a_warning_and_what_comes_after_it_counts(
    amounts: tuple[int, ...], left: list[int | None]
) -> None:
    assert _attempts_left(*amounts) == left


@given(st.lists(refused_amounts, max_size=8))
def test_no_session_ends_without_a_warning_before(refused: list[RefusedAmount]) -> None:
    tries = [count_tries(refused[:number]) for number in range(len(refused) + 1)]
    ended = next((number for number, each in enumerate(tries) if each.ends_session), None)
    if ended is not None:
        assert any(each.attempts_left for each in tries[:ended])
        assert tries[ended].attempts_left == 0


@given(st.lists(refused_amounts, max_size=8), refused_amounts)
def test_one_more_amount_costs_one_attempt_at_most(refused: list[RefusedAmount], another: RefusedAmount) -> None:
    before, after = count_tries(refused), count_tries([*refused, another])
    assert after.counted - before.counted in (0, 1)
    assert after.amounts >= before.amounts


@given(st.lists(refused_amounts, min_size=1, max_size=8), st.data())
def test_an_amount_that_was_tried_before_costs_nothing(refused: list[RefusedAmount], data: st.DataObject) -> None:
    again = data.draw(st.sampled_from(refused))
    assert count_tries([*refused, again]) == count_tries(refused)


@given(st.lists(refused_amounts, max_size=8))
def test_five_different_amounts_end_every_session(refused: list[RefusedAmount]) -> None:
    tries = count_tries(refused)
    assert tries.ends_session or tries.amounts < MOST_COUNTED + 2
    assert not tries.ends_session or tries.amounts >= MOST_COUNTED


def test_the_refusal_says_how_many_attempts_are_left() -> None:
    refusal = AmountExceedsLimit("At most £500.00.", RefusedAmount(50_001, LIMIT), "SITE")
    tried = [RefusedAmount(amount, LIMIT) for amount in range(50_001, 50_006)]
    warned = [refusal.with_warning(count_tries(tried[:number])) for number in range(1, 6)]
    assert warned[0] is refusal
    assert warned[1].details == {"maxAmountInPence": LIMIT, "limitSource": "SITE", "attemptsLeft": 3}
    assert [each.message.partition(". ")[2] for each in warned[1:]] == [
        "After 3 more amounts above it within ten minutes this session ends.",
        "After 2 more amounts above it within ten minutes this session ends.",
        "Another amount above it within ten minutes ends this session.",
        "So many different amounts above it were tried that this session was ended. Sign in again.",
    ]
