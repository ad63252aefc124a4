"""The list of a location's payments, a page at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask

from app.domain.pos.transactions import PaymentFilter, payments_of_location
from app.domain.shared.paging import Paged
from tests.domain.pos.payments.conftest import Payment, Shop
from tests.factories import WHEN
from tests.statements import statements

MINUTES = (0, 0, 0, 1, 2, 2, 3, 4, 4, 4, 4)  # Some moments have several payments.


@pytest.fixture
def history(payment: Payment) -> list[str]:
    """Eleven payments, the newest first."""
    for number, minutes in enumerate(MINUTES):
        created = WHEN + timedelta(minutes=minutes)
        payment("SUCCEEDED", id=f"t{number:02}", processor_intent_id=f"pi_{number}", created_at=created)
    return [f"t{number:02}" for number in reversed(range(len(MINUTES)))]


def page_of(shop: Shop, number: int, size: int) -> Paged[str]:
    found = payments_of_location(shop.author.site_id, shop.location_id, PaymentFilter(), number, size)
    return Paged([row.id for row in found.items], number, size, found.total_items)


@pytest.mark.parametrize("size", range(1, 13))
def test_pages_of_any_size_are_the_whole_list_cut_into_parts(shop: Shop, history: list[str], size: int) -> None:
    for number in range(1, len(history) // size + 3):
        page = page_of(shop, number, size)
        assert page.items == history[(number - 1) * size : number * size]
        assert page.total_items == len(history)


def test_a_list_without_payments_has_empty_pages(shop: Shop) -> None:
    assert [page_of(shop, number, 20).items for number in (1, 2)] == [[], []]


@pytest.mark.parametrize(("number", "is_newest_first"), [(1, True), (2, True), (3, False), (4, False)])
def test_a_page_is_counted_from_the_nearer_end(
    app: Flask, shop: Shop, history: list[str], number: int, is_newest_first: bool
) -> None:
    with statements(app) as seen:
        page_of(shop, number, 3)
    assert (" DESC" in seen[-1]) is is_newest_first
