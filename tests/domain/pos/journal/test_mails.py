"""After a Z report its hash is mailed to the address that the site has for it."""

from __future__ import annotations

import pytest

from app.domain.pos import journal, journal_mails
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.journal_models import PosJournalMail
from app.domain.shared.problems import Invalid
from app.domain.sites.models import AuditEntry
from app.domain.work.context import WorkContext
from app.domain.work.mailing import Mail
from app.extensions import db
from app.transaction import transaction
from tests.domain.pos.conftest import Staff

ADDRESS = "ada@books.test"


class Post:
    """A mail server that takes every mail."""

    def __init__(self) -> None:
        self.sent: list[Mail] = []

    def send(self, mail: Mail) -> None:
        self.sent.append(mail)

    def forget(self, address: str) -> int:
        return 0


def append(staff: Staff, kind: EntryType) -> str:
    with transaction():
        return journal.append(staff.author.clock, staff.site_id, MoneyEvent(kind, staff.author.now())).hash


def mails() -> list[PosJournalMail]:
    db.session.rollback()
    return db.session.query(PosJournalMail).all()


@pytest.fixture
def address(staff: Staff) -> str:
    with transaction():
        journal_mails.change_address(staff.author, ADDRESS)
    return ADDRESS


def test_without_an_address_nothing_is_mailed(staff: Staff) -> None:
    append(staff, EntryType.Z_REPORT)
    assert mails() == []


def test_a_z_report_is_mailed_with_its_hash_and_the_address_forgotten(staff: Staff, address: str) -> None:
    append(staff, EntryType.SALE)
    head = append(staff, EntryType.Z_REPORT)
    [waiting] = mails()
    assert (waiting.sequence, waiting.hash, waiting.email) == (2, head, ADDRESS)
    post, work = Post(), WorkContext(staff.author.clock, transaction)
    assert journal_mails.send(work, post, waiting.id) and not journal_mails.send(work, post, waiting.id)
    [mail] = post.sent
    assert mail.to == ADDRESS
    assert f"--site localhost --head {head}" in mail.text and head in mail.html
    assert [(mail.state, mail.email) for mail in mails()] == [("done", None)]


def test_a_mail_whose_address_was_erased_is_not_sent(staff: Staff, address: str) -> None:
    append(staff, EntryType.Z_REPORT)
    with transaction():
        db.session.query(PosJournalMail).update({"email": None})
    post = Post()
    journal_mails.send(WorkContext(staff.author.clock, transaction), post, mails()[0].id)
    assert post.sent == [] and mails()[0].state == "failed"


@pytest.mark.parametrize("typed", ["ada", "ada@books.test\nbob@books.test", "ä@books.test", "x" * 250 + "@books.test"])
def test_what_is_no_address_is_refused(staff: Staff, typed: str) -> None:
    with pytest.raises(Invalid), transaction():
        journal_mails.change_address(staff.author, typed)


def test_the_log_says_that_the_address_changed_but_not_to_what(staff: Staff, address: str) -> None:
    [entry] = db.session.query(AuditEntry).all()
    assert ADDRESS not in f"{entry.summary}{entry.before}{entry.after}"
