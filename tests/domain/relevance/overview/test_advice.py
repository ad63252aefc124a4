"""A rebuild is advised when it helps, and not otherwise."""

from __future__ import annotations

import pytest

from app.domain.relevance.advice import Signs, advise_on_index


def test_all_well_needs_no_advice() -> None:
    assert advise_on_index(Signs()) == ()


def test_a_shop_without_an_index_hears_of_nothing_else() -> None:
    assert len(advise_on_index(Signs(products_built=False, content_built=False, waiting=9_000, set_aside=3))) == 1


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        (Signs(content_built=False), "Rebuild the content"),
        (Signs(rebuild_needed=True), "rebuilds the products by itself"),
        (Signs(rebuild_needed=True, last_failed=True), "last rebuild failed"),
        (Signs(last_failed=True), "last rebuild failed"),
        (Signs(waiting=5_000), "5,000 changes wait"),
        (Signs(set_aside=1), "1 record could not"),
        (Signs(set_aside=2), "2 records could not"),
        (Signs(drift=100), "100 differences"),
    ],
)
def test_each_sign_has_its_sentence(signs: Signs, words: str) -> None:
    (sentence,) = advise_on_index(signs)
    assert words in sentence


@pytest.mark.parametrize("signs", [Signs(waiting=4_999), Signs(drift=99)])
def test_what_mends_itself_needs_no_advice(signs: Signs) -> None:
    assert advise_on_index(signs) == ()
