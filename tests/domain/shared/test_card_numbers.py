from __future__ import annotations

from time import process_time

import pytest

from app.domain.shared.card_numbers import names_card

CARD = "4242424242424242"


@pytest.mark.parametrize("gap", ["", " ", "-", " - ", "_", " _ ", "   _   ", "      "])
def test_a_card_number_is_recognised_however_its_groups_are_written(gap: str) -> None:
    assert names_card(f"Card {gap.join(CARD[start : start + 4] for start in range(0, 16, 4))}, please")
    assert names_card(gap.join(CARD))


@pytest.mark.parametrize("gap", ["\n", "a", "__", "       "])
def test_digits_that_do_not_belong_together_are_no_card_number(gap: str) -> None:
    assert not names_card(gap.join(CARD))


@pytest.mark.parametrize("gap", ["   ", "----", " _ "])
def test_groups_of_digits_that_end_short_of_a_card_take_no_time(gap: str) -> None:
    """Anybody can send such a text, as the note of an order; each group of twelve digits took a second."""
    began = process_time()
    assert not names_card(f"{gap.join('1' * 12)}x " * 10)
    assert process_time() - began < 1
