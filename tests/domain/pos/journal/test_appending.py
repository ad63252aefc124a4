"""Events are appended to the journal of their site, in one chain without gaps."""

from __future__ import annotations

from datetime import timedelta

from app.domain.pos import journal
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.journal_models import PosJournalEntry
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import Staff
from tests.factories import make_site


def sale(staff: Staff, amount: int = 500, ago: timedelta = timedelta(0)) -> MoneyEvent:
    at = staff.author.clock.now() - ago
    return MoneyEvent(EntryType.SALE, at, "session-1", "transaction-1", "1007", amount, "CASH")


def appended(staff: Staff, event: MoneyEvent) -> PosJournalEntry:
    with transaction():
        return journal.append(staff.author.clock, staff.site_id, event)


def test_an_empty_journal_has_a_head_of_zeros(staff: Staff) -> None:
    assert journal.head_of(staff.site_id) == "0" * 64


def test_each_entry_carries_the_hash_of_the_one_before(staff: Staff) -> None:
    first, second = appended(staff, sale(staff)), appended(staff, sale(staff, -200))
    assert (first.sequence, second.sequence) == (1, 2)
    assert first.previous_hash == "0" * 64
    assert second.previous_hash == first.hash
    assert journal.head_of(staff.site_id) == second.hash


def test_a_transaction_that_fails_leaves_no_gap(staff: Staff) -> None:
    appended(staff, sale(staff))
    journal.append(staff.author.clock, staff.site_id, sale(staff))
    db.session.rollback()
    assert appended(staff, sale(staff)).sequence == 2


def test_each_site_has_its_own_journal(staff: Staff) -> None:
    appended(staff, sale(staff))
    with transaction():
        other = make_site("other.test").id
        assert journal.append(staff.author.clock, other, sale(staff, 700)).sequence == 1
    assert journal.head_of(other) != journal.head_of(staff.site_id)


def test_an_event_is_late_from_five_minutes_on(staff: Staff) -> None:
    assert not appended(staff, sale(staff, ago=timedelta(seconds=299))).late
    assert appended(staff, sale(staff, ago=timedelta(minutes=5))).late


def test_the_time_is_cut_to_the_second(staff: Staff) -> None:
    at = staff.author.clock.now().replace(microsecond=999_999)
    assert appended(staff, MoneyEvent(EntryType.Z_REPORT, at)).at == at.strftime("%Y-%m-%dT%H:%M:%SZ")
