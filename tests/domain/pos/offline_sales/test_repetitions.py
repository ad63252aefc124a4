"""A sale is booked once, however often, by whom and in which order it is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.orders.models import Order
from app.domain.pos.models import PosTransaction
from app.domain.pos.offline_sales import book_sales
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.offline_sales.conftest import Stall, journal
from tests.examples import examples

PRICES = {"MUG": 500, "KETTLE": 2_500, "SHIRT-S": 1_500}
LINE = st.tuples(st.sampled_from(sorted(PRICES)), st.integers(1, 4), st.integers(1, 3_000))
LINES = st.lists(LINE, min_size=1, max_size=3)


def test_a_sale_that_is_sent_again_is_a_duplicate_with_the_same_answer(stall: Stall) -> None:
    sale = stall.sale(("MUG", 11, 450))
    [first], [second] = stall.send(sale), stall.send(sale)
    assert second == replace(first, result="DUPLICATE")
    assert len(first.notes) == 2
    assert (stall.stock("MUG"), len(journal()), db.session.query(Order).count()) == (0, 1, 1)


def test_of_two_of_one_id_in_a_request_the_second_is_a_duplicate(stall: Stall) -> None:
    sale = stall.sale()
    first, second = stall.send(sale, sale | {"clientSaleId": sale["clientSaleId"].upper()})
    assert (first.result, second.result) == ("ACCEPTED", "DUPLICATE")
    assert (second.order_id, second.client_sale_id) == (first.order_id, sale["clientSaleId"].upper())


def test_a_sale_stays_a_duplicate_when_it_could_not_be_booked_any_more(stall: Stall) -> None:
    sale = stall.sale()
    [first] = stall.send(sale)
    stall.set_mug(sku="MUG-OLD")
    stall.clock.move(days=30)
    [again] = stall.send(sale)
    assert (again.result, again.transaction_id) == ("DUPLICATE", first.transaction_id)
    assert [outcome.result for outcome in stall.send(stall.sale())] == ["REFUSED"]


def test_a_refused_sale_is_booked_once_it_can_be(stall: Stall) -> None:
    sale = stall.sale(("NEW-MUG", 1, 500))
    [refused] = stall.send(sale)
    stall.set_mug(sku="NEW-MUG")
    [accepted] = stall.send(sale)
    assert (refused.result, accepted.result) == ("REFUSED", "ACCEPTED")


def test_a_process_that_dies_among_the_sales_loses_and_doubles_none(stall: Stall) -> None:
    sales, begun = [stall.sale() for _ in range(5)], []

    @contextmanager
    def dying() -> Iterator[None]:
        with transaction():
            yield
            begun.append(1)
            if len(begun) == 4:  # The first checks the caller, so two sales are booked.
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        book_sales(WorkContext(stall.clock, dying), stall.cashier, "tml_stall", sales)
    results = [outcome.result.value for outcome in stall.send(*sales)]
    assert results == ["DUPLICATE"] * 2 + ["ACCEPTED"] * 3
    assert stall.stock("MUG") == 5
    assert [entry.sequence for entry in journal()] == [1, 2, 3, 4, 5]


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_order_and_repetition_of_sends_books_each_sale_once(stall: Stall, data: st.DataObject) -> None:
    entries_before = len(journal())
    sales = [stall.sale(*lines) for lines in data.draw(st.lists(LINES, min_size=1, max_size=4))]
    sends = data.draw(st.lists(st.lists(st.sampled_from(sales), max_size=4), max_size=4))
    for sent in [*sends, data.draw(st.permutations(sales))]:
        stall.send(*sent)
    ids = [sale["clientSaleId"] for sale in sales]
    db.session.rollback()
    booked = db.session.query(PosTransaction).filter(PosTransaction.client_sale_id.in_(ids)).all()
    totals = {sale["clientSaleId"]: _total(sale) for sale in sales}
    assert {payment.client_sale_id: payment.amount_in_pence for payment in booked} == totals
    assert len(booked) == len(sales)
    new_entries = journal()[entries_before:]
    assert sum(entry.amount or 0 for entry in new_entries) == sum(totals.values()), "the drawer has what was sold"
    assert (stall.stock("MUG") or 0) >= 0


def _total(sale: dict) -> int:
    return sum(line["quantity"] * line["unitPriceInPence"] for line in sale["lines"])


@pytest.mark.concurrent
def test_of_sends_at_once_one_books_each_sale(app: Flask, stall: Stall) -> None:
    sales = [stall.sale(("MUG", 1, 500), ("KETTLE", 1, 2_500)) for _ in range(6)]
    context, cashier = stall.context, stall.cashier

    def send(index: int) -> list[str]:
        with app.app_context():
            ordered = sales if index % 2 else sales[::-1]
            return [outcome.result.value for outcome in book_sales(context, cashier, "tml_stall", ordered)]

    db.session.remove()
    with ThreadPoolExecutor(8) as pool:
        answers = Counter(result for results in pool.map(send, range(8)) for result in results)
    assert answers == {"ACCEPTED": 6, "DUPLICATE": 42}
    assert stall.stock("MUG") == 4
    entries = journal()
    assert [entry.sequence for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert sum(entry.amount or 0 for entry in entries) == 18_000
    assert sorted(order.number for order in db.session.query(Order)) == [1, 2, 3, 4, 5, 6]
