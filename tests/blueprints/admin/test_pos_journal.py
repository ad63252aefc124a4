"""The journal of the till in the admin: its entries, whether it is whole, and the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import text

from app.domain.pos import journal, journal_mails
from app.domain.pos.journal import PART, EntryType, MoneyEvent
from app.domain.sites import activity
from app.domain.sites.accounts import Role
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.conftest import SignedIn
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient

PAGE = "/admin/pos/journal"
VERIFICATION = f"{PAGE}/verification"
HTMX = {"HX-Request": "true"}
Append = Callable[..., str]


@pytest.fixture
def ada(signed_in: SignedIn) -> PageClient:
    return signed_in(Role.ADMIN)


@pytest.fixture
def sale(clock: StoppedClock) -> MoneyEvent:
    return MoneyEvent(EntryType.SALE, clock.now(), "12345678-session", None, "1007", 1_250, "CASH")


@pytest.fixture
def append(app: Flask, site_id: int, clock: StoppedClock) -> Append:
    """Appends events, and returns the hash of the last."""

    def appended(*events: MoneyEvent) -> str:
        with app.app_context(), transaction():
            for event in events:
                journal.append(clock, site_id, event)
            return journal.head_of(site_id)

    return appended


def text_of(client: PageClient, path: str = PAGE, **headers: str) -> str:
    answer = client.client.get(path, base_url=client.base, headers=headers)
    assert answer.status_code == 200
    return " ".join(answer.text.split())


def fragment(client: PageClient, path: str) -> str:
    found = text_of(client, path, **HTMX)
    assert "<html" not in found
    return found


def tamper(app: Flask, statement: str) -> None:
    with app.app_context(), transaction():
        db.session.execute(text(statement))


def test_an_empty_journal_says_what_it_will_hold(ada: PageClient) -> None:
    page = ada.get(PAGE)
    assert [field["value"] for field in page.all("input") if field.get("id") == "head"] == ["0" * 64]
    assert "No entries yet" in text_of(ada)


def test_entries_are_listed_newest_first_and_the_head_can_be_copied(
    ada: PageClient, append: Append, sale: MoneyEvent, clock: StoppedClock
) -> None:
    refund = replace(sale, type=EntryType.REFUND, at=clock.now() - timedelta(hours=1), amount=-300, tender_type="CARD")
    head = append(sale, refund, MoneyEvent(EntryType.Z_REPORT, clock.now()))
    page = text_of(ada)
    assert page.index("Z report") < page.index("Refund") < page.index("£12.50")
    assert "-£3.00" in page and "1007" in page and "12345678<" in page and page.count("Late</span>") == 1
    assert "Whole" in page and "3 entries, all as they were written" in page
    assert f'value="{head}"' in page


def test_what_breaks_a_journal_is_named(app: Flask, ada: PageClient, append: Append, sale: MoneyEvent) -> None:
    append(sale, sale, sale)
    tamper(app, "update pos_journal_entries set amount = 9 where sequence = 2")
    for page in (text_of(ada), text_of(ada, VERIFICATION), fragment(ada, VERIFICATION)):
        assert "Entry 2 was changed after it was written." in page and "The 1 entry before that is whole" in page


def test_a_time_that_was_changed_to_none_is_shown_as_it_is(
    app: Flask, ada: PageClient, append: Append, sale: MoneyEvent
) -> None:
    append(sale)
    tamper(app, "update pos_journal_entries set at = 'yesterday', type = 'DROP'")
    page = text_of(ada)
    assert "yesterday" in page and "Entry 1 was changed" in page


def test_a_long_journal_is_verified_in_parts(ada: PageClient, append: Append, sale: MoneyEvent) -> None:
    append(*[sale] * (PART + 1))
    assert f"{PART:,} of {PART + 1:,} entries verified" in text_of(ada)
    first = fragment(ada, VERIFICATION)
    assert f'hx-get="{VERIFICATION}?after={PART}"' in first and 'hx-trigger="load"' in first
    last = fragment(ada, f"{VERIFICATION}?after={PART}")
    assert "all as they were written" in last and "hx-get" not in last
    assert "all as they were written" in text_of(ada, VERIFICATION), "without scripts in one step"


def test_pages_of_entries_are_fragments_for_htmx(ada: PageClient, append: Append, sale: MoneyEvent) -> None:
    append(*[sale] * (journal.PAGE_SIZE + 1))
    second = fragment(ada, f"{PAGE}?p=2")
    assert second.count("<tr>") == 2 and "Integrity" not in second
    assert "Nothing on page 9" in text_of(ada, f"{PAGE}?p=9")


@pytest.mark.parametrize("after", ["-1", "x", "99999999999999", "7", ""])
def test_a_place_that_is_none_begins_at_the_first_entry(
    ada: PageClient, append: Append, sale: MoneyEvent, after: str
) -> None:
    append(sale)
    assert "1 entry, all as they were written" in fragment(ada, f"{VERIFICATION}?after={after}")


def test_the_download_holds_every_entry_and_is_logged(
    app: Flask, site_id: int, ada: PageClient, append: Append, sale: MoneyEvent
) -> None:
    head = append(sale, sale)
    ada.get(PAGE)
    sent = {"csrf_token": ada.token}
    answer = ada.client.post(f"{PAGE}/export", data=sent, base_url=ada.base)
    assert (
        answer.mimetype == "application/jsonl" and "journal-2026-11-20.jsonl" in answer.headers["Content-Disposition"]
    )
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["sequence"] for line in lines] == [1, 2] and lines[1]["hash"] == head
    with app.app_context():
        assert activity.last_action(site_id) == "pos.journal_export"


def test_the_address_of_the_mails_is_saved_and_ended(
    app: Flask, site_id: int, ada: PageClient, append: Append, sale: MoneyEvent
) -> None:
    for typed, stored in ((" ada@books.test ", "ada@books.test"), ("", "")):
        ada.get(PAGE)
        ada.post(f"{PAGE}/mail", {"posJournalMail": typed})
        with app.app_context():
            assert journal_mails.address_of(site_id) == stored
            assert activity.last_action(site_id) == "settings.pos"


def test_an_address_that_is_none_is_refused_beside_its_field(ada: PageClient) -> None:
    ada.get(PAGE)
    page = ada.post(f"{PAGE}/mail", {"posJournalMail": "ada at home"}, status=400)
    assert [field["value"] for field in page.all("input") if field.get("name") == "posJournalMail"] == ["ada at home"]
