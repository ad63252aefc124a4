"""Drafts of two orders: whole, in order, and fair to both sides."""

from __future__ import annotations

from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.search.ranking.interleaving import (
    SEEDS,
    DraftKey,
    Pick,
    Side,
    draft,
    is_included,
    may_hold_code,
)

ORDERS = st.lists(st.sampled_from([f"p{number}" for number in range(12)]), unique=True)
SEED = st.integers(0, SEEDS - 1)


def drafted(present: list[str], candidate: list[str], depth: int, seed: int) -> tuple[Pick, ...]:
    return draft(present, candidate, depth, DraftKey(7, seed).coins("red tent"))


def ids_of(picks: tuple[Pick, ...], side: Side) -> list[str]:
    return [pick.id for pick in picks if pick.side is side]


def is_in_order(ids: list[str], order: list[str]) -> bool:
    return [id for id in order if id in ids] == ids


@given(ORDERS, ORDERS, st.integers(0, 14), SEED)
def test_no_product_is_drafted_twice_and_each_side_keeps_its_order(
    present: list[str], candidate: list[str], depth: int, seed: int
) -> None:
    picks = drafted(present, candidate, depth, seed)
    ids = [pick.id for pick in picks]
    assert len(set(ids)) == len(ids)
    assert is_in_order(ids_of(picks, Side.PRESENT), present)
    assert is_in_order(ids_of(picks, Side.CANDIDATE), candidate)


@given(ORDERS, ORDERS, st.integers(0, 14), SEED)
def test_a_draft_has_all_that_either_order_has_to_half_its_depth(
    present: list[str], candidate: list[str], depth: int, seed: int
) -> None:
    picks = drafted(present, candidate, depth, seed)
    ids = {pick.id for pick in picks}
    assert len(picks) == min(depth, len({*present, *candidate}))
    assert ids >= {*present[: depth // 2], *candidate[: depth // 2]}
    assert drafted(present, candidate, 24, seed)[:depth] == picks, "a longer draft continues a shorter one"


@given(ORDERS, ORDERS, st.integers(0, 499))
def test_seeds_come_in_pairs_in_which_each_pick_has_either_side(
    present: list[str], candidate: list[str], half: int
) -> None:
    even, odd = (drafted(present, candidate, 24, seed) for seed in (2 * half, 2 * half + 1))
    swapped = {Side.PRESENT: Side.CANDIDATE, Side.CANDIDATE: Side.PRESENT, None: None}
    assert [swapped[pick.side] for pick in even] == [pick.side for pick in odd]
    assert {pick.id: pick.side for pick in even} == {pick.id: pick.side for pick in odd}


@given(ORDERS, ORDERS)
def test_over_all_seeds_each_place_is_as_often_of_either_side(present: list[str], candidate: list[str]) -> None:
    drafts = [drafted(present, candidate, 5, seed) for seed in range(0, SEEDS, 10)]
    drafts += [drafted(present, candidate, 5, seed) for seed in range(1, SEEDS, 10)]
    for place in range(len(drafts[0])):
        sides = [one[place].side for one in drafts]
        assert sides.count(Side.PRESENT) == sides.count(Side.CANDIDATE)


@given(ORDERS, SEED)
def test_equal_orders_are_drafted_as_they_are_and_belong_to_neither_side(order: list[str], seed: int) -> None:
    assert drafted(order, order, 24, seed) == tuple(Pick(id, None) for id in order)


def test_what_only_one_order_has_left_belongs_to_neither_side() -> None:
    picks = draft(["a", "b", "c"], ["a"], 24, iter([]))
    assert picks == (Pick("a", None), Pick("b", None), Pick("c", None))


def test_rivals_stand_side_by_side_and_a_coin_says_who_is_first() -> None:
    ours, theirs = Pick("a", Side.PRESENT), Pick("b", Side.CANDIDATE)
    assert draft(["a", "b"], ["b", "a"], 2, iter([False])) == (ours, theirs)
    assert draft(["a", "b"], ["b", "a"], 2, iter([True])) == (theirs, ours)
    assert draft(["a", "b"], ["b", "a"], 1, iter([True])) == (theirs,)


def test_coins_differ_by_seed_comparison_and_words_and_are_the_same_each_time() -> None:
    def first(comparison_id: int, seed: int, words: str) -> list[bool]:
        return list(islice(DraftKey(comparison_id, seed).coins(words), 64))

    assert first(1, 4, "tent") == first(1, 4, "tent")
    assert len({tuple(first(*one)) for one in product((1, 2), (4, 6), ("tent", "mug"))}) == 8
    assert [not coin for coin in first(1, 4, "tent")] == first(1, 5, "tent")


@given(st.integers(1, 999_999_999), SEED)
def test_a_key_is_read_from_its_text(comparison_id: int, seed: int) -> None:
    key = DraftKey(comparison_id, seed)
    assert DraftKey.read(str(key)) == key


@pytest.mark.parametrize("text", ["", "words", "both", "both-1", "both-0-1", "both-1-1000", "both-1-2-3", "both-١-2"])
def test_any_other_text_is_no_key(text: str) -> None:
    assert DraftKey.read(text) is None


@pytest.mark.parametrize("share", [10, 25, 50, 100])
def test_a_share_of_visits_takes_part_as_many_with_one_coin_as_with_the_other(share: int) -> None:
    included = [seed for seed in range(SEEDS) if is_included(seed, share)]
    assert len(included) == share * SEEDS // 100
    assert sum(seed % 2 for seed in included) == len(included) // 2


@pytest.mark.parametrize("words", ["rx45 cable", "17-AB", "4712345678901", "bag 12345", "mz-v7s500bw"])
def test_words_with_a_code_take_no_part(words: str) -> None:
    assert may_hold_code(words)


@pytest.mark.parametrize("words", ["red tent", "27 inch screen", "size 9", "four-season tent", "2 person"])
def test_words_and_small_numbers_are_no_code(words: str) -> None:
    assert not may_hold_code(words)
