"""What an address asks of the list of transactions."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos.transaction_list import StatusFilter, TenderFilter, TransactionList, TypeFilter


def test_an_address_is_read() -> None:
    days = {"from": "2026-11-01", "to": "2026-11-20"}
    of_till = {"status": "unknown", "agent": "3", "location": "4", "type": "order_payment"}
    assert TransactionList.read({"q": " 1001 ", "p": "2", "tender": "cash"} | days | of_till) == TransactionList(
        words="1001",
        first=date(2026, 11, 1),
        last=date(2026, 11, 20),
        status=StatusFilter.UNKNOWN,
        agent_id=3,
        location_id=4,
        type=TypeFilter.ORDER_PAYMENT,
        tender=TenderFilter.CASH,
        page=2,
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"from": "yesterday"},
        {"from": "2026-02-30"},
        {"to": "٢٠٢٦-١١-٠١"},
        {"status": "paid"},
        {"agent": "-1"},
        {"agent": "0"},
        {"location": "99999999999"},
        {"agent": "4294967296"},
        {"type": "gift"},
        {"tender": "cheque"},
        {"p": "zero"},
    ],
)
def test_what_is_no_filter_filters_nothing_and_is_named(bad: dict[str, str]) -> None:
    read = TransactionList.read(bad)
    assert replace(read, problems=()) == TransactionList()
    assert [problem.pointer for problem in read.problems] == [f"#/{name}" for name in bad if name != "p"]


def test_a_changed_filter_begins_at_the_first_page_again() -> None:
    filters = TransactionList(page=7, words="9")
    assert filters.query(status=StatusFilter.FAILED) == "q=9&status=failed"
    assert filters.query(page=8) == "q=9&p=8"


def test_the_number_of_a_card_is_not_looked_for_and_not_kept() -> None:
    filters = TransactionList.read({"q": "4242 4242 4242 4242", "status": "failed"})
    assert filters.names_card and filters.words == "" and filters.query() == "status=failed"


@given(
    st.builds(
        TransactionList,
        words=st.sampled_from(["", "1001", "pi_123", "a&b=c"]),
        first=st.none() | st.dates(),
        last=st.none() | st.dates(),
        status=st.sampled_from(StatusFilter),
        agent_id=st.none() | st.integers(1, 2**31 - 1),
        location_id=st.none() | st.integers(1, 2**31 - 1),
        type=st.sampled_from(TypeFilter),
        tender=st.sampled_from(TenderFilter),
        page=st.integers(1, 100),
    )
)
def test_the_address_of_a_list_is_read_as_that_list(filters: TransactionList) -> None:
    read = TransactionList.read(dict(parse_qsl(filters.query(page=filters.page))))
    assert replace(read, problems=()) == filters
    is_reversed = filters.first is not None and filters.last is not None and filters.first > filters.last
    assert bool(read.problems) is is_reversed


@given(st.dictionaries(st.sampled_from(["q", "from", "to", "status", "agent", "location", "type", "p"]), st.text()))
def test_no_address_breaks_it(parameters: dict[str, str]) -> None:
    read = TransactionList.read(parameters).query()
    assert TransactionList.read(dict(parse_qsl(read))).query() == read, "what was understood of it is an address, too"
