"""A chain that was written is whole; whatever is done to it is found, and named by its place."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.domain.pos.journal_chain import FIRST_PREVIOUS_HASH, Break, ChainedEntry, Fault, Link, hash_of
from tests.domain.pos.journal.chains import SALE, chained, first_break, head_of, sealed

IDS = st.none() | st.text(max_size=36)
ENTRIES = st.builds(
    ChainedEntry,
    sequence=st.just(0),
    type=st.sampled_from(["SALE", "REFUND", "VOID", "PAY_IN", "PAY_OUT", "DROP", "Z_REPORT"]),
    at=st.datetimes().map(lambda at: f"{at:%Y-%m-%dT%H:%M:%SZ}"),
    session_id=IDS,
    transaction_id=IDS,
    order_number=st.none() | st.text("0123456789", max_size=8),
    amount=st.none() | st.integers(-99_999_999, 99_999_999),
    tender_type=st.sampled_from([None, "CARD", "CASH"]),
    late=st.booleans(),
    previous_hash=st.just(""),
)
CHAINS = st.lists(ENTRIES, min_size=2, max_size=12).map(chained)
THREE = chained([SALE, replace(SALE, amount=-300), replace(SALE, amount=80)])


def test_the_hash_is_that_of_the_contract() -> None:
    """Written out by hand: the previous hash, then the names of the JSON in order of their letters, without spaces."""
    written = FIRST_PREVIOUS_HASH + (
        '{"amountInPence":1250,"at":"2026-11-20T21:04:05Z","late":false,"orderNumber":"1007",'
        f'"previousHash":"{FIRST_PREVIOUS_HASH}","sequence":1,"sessionId":"s-1","tenderType":"CASH",'
        '"transactionId":"t-1","type":"SALE"}'
    )
    assert hash_of(SALE) == hashlib.sha256(written.encode()).hexdigest()


@given(CHAINS)
def test_what_was_written_is_whole(chain: list) -> None:
    assert first_break(chain, head_of(chain)) is None


def test_an_empty_chain_is_whole() -> None:
    assert first_break([], Link()) is None


@given(CHAINS, ENTRIES, st.data())
def test_a_changed_entry_is_named(chain: list, other: ChainedEntry, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(chain) - 1))
    mine = chain[place].entry
    name = data.draw(st.sampled_from(["type", "at", "session_id", "transaction_id", "amount", "tender_type", "late"]))
    changed = replace(mine, **{name: getattr(other, name)})
    mutated = [*chain[:place], replace(chain[place], entry=changed), *chain[place + 1 :]]
    expected = None if changed == mine else Break(place + 1, Fault.CHANGED)
    assert first_break(mutated, head_of(chain)) == expected


@given(CHAINS, st.data())
def test_a_removed_entry_is_named(chain: list, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(chain) - 1))
    fault = Fault.TAIL_REMOVED if place == len(chain) - 1 else Fault.MISSING
    assert first_break(chain[:place] + chain[place + 1 :], head_of(chain)) == Break(place + 1, fault)


@given(CHAINS, st.data())
def test_a_removed_tail_is_named_by_its_first_entry(chain: list, data: st.DataObject) -> None:
    length = data.draw(st.integers(0, len(chain) - 1))
    assert first_break(chain[:length], head_of(chain)) == Break(length + 1, Fault.TAIL_REMOVED)


@given(CHAINS, ENTRIES, st.data())
def test_an_entry_that_is_hashed_anew_breaks_the_next(chain: list, other: ChainedEntry, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(chain) - 2))
    mine = chain[place].entry
    forged = sealed(replace(other, sequence=mine.sequence, previous_hash=mine.previous_hash))
    mutated = [*chain[:place], forged, *chain[place + 1 :]]
    expected = None if forged == chain[place] else Break(place + 2, Fault.UNLINKED)
    assert first_break(mutated, head_of(chain)) == expected


def test_a_last_entry_that_is_hashed_anew_differs_from_the_head() -> None:
    forged = sealed(replace(THREE[2].entry, amount=1))
    assert first_break([*THREE[:2], forged], head_of(THREE)) == Break(3, Fault.HEAD_DIFFERS)


def test_an_entry_after_the_head_is_named() -> None:
    assert first_break(THREE, head_of(THREE[:2])) == Break(3, Fault.TAIL_ADDED)


def test_an_entry_in_the_place_of_another_is_named() -> None:
    first, second, third = THREE
    swapped = [
        first,
        replace(third, entry=replace(third.entry, sequence=2)),
        replace(second, entry=replace(second.entry, sequence=3)),
    ]
    assert first_break(swapped, head_of(THREE)) == Break(2, Fault.SWAPPED)


def test_entries_that_were_moved_are_named() -> None:
    first, second, third = THREE
    assert first_break([first, third, second], head_of(THREE)) == Break(2, Fault.MISSING)
    assert first_break([first, second, second, third], head_of(THREE)) == Break(2, Fault.SURPLUS)


def test_an_entry_before_the_first_is_named() -> None:
    assert first_break([sealed(replace(SALE, sequence=0)), *THREE], head_of(THREE)) == Break(0, Fault.SURPLUS)


def test_a_value_that_no_entry_has_is_a_change() -> None:
    huge = replace(THREE[0], entry=replace(THREE[0].entry, amount=2**60))
    assert first_break([huge, *THREE[1:]], head_of(THREE)) == Break(1, Fault.CHANGED)
