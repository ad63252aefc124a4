"""A journal in the database is verified against its head, whatever was done to its rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from flask import Flask
from sqlalchemy import text

from app.domain.personal_data.classification import COLUMNS, searched_columns
from app.domain.pos import journal, sessions
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.journal_chain import Break, Fault, Link
from app.domain.pos.journal_models import PosJournalEntry
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import SignIn, Staff
from tests.surroundings import ROOT

ENTRIES = 6
AT_ONCE = 40


@pytest.fixture
def hashes(staff: Staff) -> list[str]:
    """Those of a journal of six entries."""
    return [sell(staff, amount) for amount in range(100, 100 + ENTRIES)]


def sell(staff: Staff, amount: int) -> str:
    with transaction():
        event = MoneyEvent(EntryType.SALE, staff.author.clock.now(), "s-1", f"t-{amount}", None, amount, "CASH")
        return journal.append(staff.author.clock, staff.site_id, event).hash


def tamper(*statements: str) -> None:
    with transaction():
        for statement in statements:
            db.session.execute(text(statement))


def removed_tail(hashes: list[str]) -> None:
    """The last two entries are gone, and the head says so."""
    tamper(
        "delete from pos_journal_entries where sequence > 4",
        f"update pos_journal_heads set sequence = 4, hash = '{hashes[3]}'",
    )


@pytest.mark.parametrize("part", [1, 2, 4, 6, 100])
def test_an_untouched_journal_is_whole_in_parts_of_any_size(staff: Staff, hashes: list[str], part: int) -> None:
    place, parts = Link(), 0
    while True:
        found = journal.verify_part(staff.site_id, place, part)
        place, parts = found.last, parts + 1
        if found.is_finished:
            break
    assert found.is_whole and found.head == hashes[-1]
    assert parts == -(-ENTRIES // part)


def test_an_empty_journal_is_whole(staff: Staff) -> None:
    assert journal.verify(staff.site_id).is_whole


TAMPERED = [
    ("update pos_journal_entries set amount = 1 where sequence = 3", 3, Fault.CHANGED),
    ("update pos_journal_entries set at = 'yesterday' where sequence = 2", 2, Fault.CHANGED),
    ("update pos_journal_entries set late = not late where sequence = 6", 6, Fault.CHANGED),
    ("delete from pos_journal_entries where sequence = 1", 1, Fault.MISSING),
    ("delete from pos_journal_entries where sequence = 4", 4, Fault.MISSING),
    ("delete from pos_journal_entries where sequence > 4", 5, Fault.TAIL_REMOVED),
    ("delete from pos_journal_entries", 1, Fault.TAIL_REMOVED),
    ("update pos_journal_heads set sequence = 5", 6, Fault.TAIL_ADDED),
    (f"update pos_journal_heads set hash = '{'0' * 64}'", 6, Fault.HEAD_DIFFERS),
    ("delete from pos_journal_heads", 1, Fault.TAIL_ADDED),
    ("update pos_journal_entries set sequence = 0 where sequence = 5", 0, Fault.SURPLUS),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "sequence", "fault"), TAMPERED)
@pytest.mark.parametrize("part", [1, 3, 100])
def test_what_was_done_to_the_rows_is_named(
    staff: Staff, hashes: list[str], statement: str, sequence: int, fault: Fault, part: int
) -> None:
    tamper(statement)
    found = journal.verify(staff.site_id)
    assert found.broken == Break(sequence, fault) and not found.is_whole
    place = Link()
    while not (found := journal.verify_part(staff.site_id, place, part)).is_finished:
        place = found.last
    assert found.broken == Break(sequence, fault)


def test_entries_that_changed_places_are_named(staff: Staff, hashes: list[str]) -> None:
    tamper(*(f"update pos_journal_entries set sequence = {new} where sequence = {old}"
             for old, new in ((2, 99), (4, 2), (99, 4))))  # fmt: skip
    assert journal.verify(staff.site_id).broken == Break(2, Fault.SWAPPED)


def test_a_known_hash_shows_a_tail_that_was_removed_with_its_head(staff: Staff, hashes: list[str]) -> None:
    removed_tail(hashes)
    assert journal.verify(staff.site_id).is_whole
    found = journal.verify(staff.site_id, hashes[5])
    assert not found.is_whole and not found.has_expected_head and found.broken is None


def test_an_entry_that_a_z_report_names_is_missed_although_the_whole_journal_was_removed(
    staff: Staff, sign_in: SignIn
) -> None:
    session_id = sign_in(staff.tilly).id
    with transaction():
        sessions.close(staff.author, sessions.session_of(staff.site_id, session_id, to_change=True), 0, "")
    assert journal.verify(staff.site_id).is_whole
    tamper("delete from pos_journal_entries", "delete from pos_journal_heads")
    assert journal.verify(staff.site_id).broken == Break(1, Fault.Z_REPORT_REMOVED)


@pytest.mark.parametrize("known", [lambda hashes: hashes[0], lambda hashes: hashes[-1], lambda _hashes: "0" * 64])
def test_a_hash_of_an_earlier_report_is_found(
    staff: Staff, hashes: list[str], known: Callable[[list[str]], str]
) -> None:
    assert journal.verify(staff.site_id, known(hashes)).is_whole


def test_the_export_shows_the_hashes_to_anyone(staff: Staff, hashes: list[str]) -> None:
    """With a few lines of another program: names in order, no spaces, the hash left out."""
    lines = list(journal.export_lines(staff.site_id))
    assert [json.loads(line)["sequence"] for line in lines] == list(range(1, ENTRIES + 1))
    previous = "0" * 64
    for line in lines:
        entry = json.loads(line)
        stored = entry.pop("hash")
        canonical = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert entry["previousHash"] == previous
        assert sha256((previous + canonical).encode()).hexdigest() == stored
        previous = stored
    assert previous == journal.head_of(staff.site_id)


def test_the_program_of_the_documentation_verifies_an_export(staff: Staff, hashes: list[str]) -> None:
    program = (ROOT / "docs" / "journal.md").read_text().partition("```python\n")[2].partition("```")[0]

    def run(lines: list[str]) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program], input="".join(lines), capture_output=True, text=True, timeout=60
        )
        return (done.stdout + done.stderr).strip()

    lines = list(journal.export_lines(staff.site_id))
    assert run(lines) == f"{ENTRIES} entries, whole; the head is {hashes[-1]}"
    assert run([*lines[:2], *lines[3:]]) == "broken at entry 3"


def test_the_journal_holds_nothing_that_an_erasure_changes() -> None:
    assert COLUMNS["pos_journal_entries"].cleared == frozenset()
    assert "pos_journal_entries" not in {table for table, *_ in searched_columns()}


def test_the_export_has_the_names_of_the_contract(staff: Staff, hashes: list[str]) -> None:
    assert list(json.loads(next(journal.export_lines(staff.site_id)))) == [
        "sequence", "type", "at", "sessionId", "transactionId", "orderNumber", "amountInPence", "tenderType", "late",
        "previousHash", "hash",
    ]  # fmt: skip


@pytest.mark.concurrent
def test_events_at_the_same_moment_take_turns(app: Flask, staff: Staff) -> None:
    clock, site_id = staff.author.clock, staff.site_id

    def append(amount: int) -> int:
        with app.app_context():
            with transaction():
                event = MoneyEvent(EntryType.SALE, clock.now(), amount=amount)
                sequence = journal.append(clock, site_id, event).sequence
            db.session.remove()
            return sequence

    db.session.remove()
    with ThreadPoolExecutor(8) as pool:
        sequences = list(pool.map(append, range(AT_ONCE)))
    assert sorted(sequences) == list(range(1, AT_ONCE + 1))
    assert db.session.query(PosJournalEntry).count() == AT_ONCE
    assert journal.verify(site_id).is_whole
