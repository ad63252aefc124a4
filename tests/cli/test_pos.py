"""`pos reconcile` does by hand what the scheduler requests, `pos journal` verifies and exports the journal; the exit
status says whether all is well."""

from __future__ import annotations

import json

import pytest
from click.testing import Result
from flask import Flask
from sqlalchemy import text

from app.domain.pos import journal
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.models import PosTransaction
from app.domain.sites import activity
from app.extensions import db
from app.operations.work_context import work_context
from app.transaction import transaction
from tests.domain.pos.shop_with_till import ShopWithTill, shop_with_till, stored
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import TIMEOUT_BEFORE, FakeProcessor


@pytest.fixture
def till(context: None, clock: StoppedClock, processor: FakeProcessor) -> ShopWithTill:
    return shop_with_till(clock, processor, work_context())


def reconcile(app: Flask, *options: str) -> Result:
    db.session.rollback()
    return app.test_cli_runner().invoke(args=["pos", "reconcile", *options])


def test_open_payments_are_settled_though_they_are_not_due(app: Flask, till: ShopWithTill) -> None:
    payment = till.payment("UNKNOWN", attached=False)
    till.tap(payment)
    till.clock.move(days=1)
    result = reconcile(app)
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == "localhost: 1 payment of 2026-11-20 compared, 0 differ"
    assert stored(payment).status == "SUCCEEDED"


def test_a_processor_that_does_not_answer_is_exit_status_1(app: Flask, till: ShopWithTill) -> None:
    till.payment()
    till.processor.fail("retrieve_intent", *[TIMEOUT_BEFORE] * 3)
    result = reconcile(app, "--site", "localhost")
    assert result.exit_code == 1 and "did not answer" in result.output


def test_what_a_person_must_settle_is_named_and_exit_status_1(app: Flask, till: ShopWithTill) -> None:
    payment = till.payment()
    till.tap(payment)
    till.check()
    with transaction():
        db.session.query(PosTransaction).update({"currency": "eur"})
    result = reconcile(app, "--day", "2026-11-20")
    assert result.exit_code == 1
    assert f"localhost: Currencies differ: {till.intent_of(payment)}: here EUR, there GBP" in result.output


def test_a_host_that_no_site_has_is_refused(app: Flask, till: ShopWithTill) -> None:
    assert reconcile(app, "--site", "nowhere.test").exit_code == 1


@pytest.mark.parametrize("job", ["pos-check", "pos-reconcile"])
def test_the_scheduled_jobs_can_be_run_by_name(app: Flask, till: ShopWithTill, job: str) -> None:
    payment = till.payment()
    till.tap(payment)
    result = app.test_cli_runner().invoke(args=["jobs", "run", job])
    assert result.exit_code == 0 and result.output.splitlines()[-1] == f"{job}: done"
    assert stored(payment).status == ("SUCCEEDED" if job == "pos-check" else "PENDING")


@pytest.fixture
def hashes(till: ShopWithTill) -> list[str]:
    """Those of a journal of three sales."""
    made = []
    for amount in (100, 200, 300):
        with transaction():
            event = MoneyEvent(EntryType.SALE, till.clock.now(), amount=amount, tender_type="CASH")
            made.append(journal.append(till.clock, till.site_id, event).hash)
    return made


def of_journal(app: Flask, *arguments: str) -> Result:
    db.session.rollback()
    return app.test_cli_runner().invoke(args=["pos", "journal", *arguments])


def tamper(statement: str) -> None:
    with transaction():
        db.session.execute(text(statement))


def test_a_journal_that_is_whole_is_exit_status_0(app: Flask, hashes: list[str]) -> None:
    result = of_journal(app, "verify")
    assert (result.exit_code, result.output) == (0, f"localhost: 3 entries, whole; the head is {hashes[-1]}\n")
    assert of_journal(app, "verify", "--site", "localhost", "--head", hashes[1].upper()).exit_code == 0


def test_the_first_broken_entry_of_a_journal_is_named_and_exit_status_1(app: Flask, hashes: list[str]) -> None:
    tamper("update pos_journal_entries set amount = 1 where sequence > 1")
    result = of_journal(app, "verify", "--site", "localhost")
    assert (result.exit_code, result.output) == (1, "localhost: Entry 2 was changed after it was written.\n")


def test_a_known_hash_that_no_entry_of_the_journal_has_is_exit_status_1(app: Flask, hashes: list[str]) -> None:
    tamper("delete from pos_journal_entries where sequence = 3")
    tamper(f"update pos_journal_heads set sequence = 2, hash = '{hashes[1]}'")
    assert of_journal(app, "verify").exit_code == 0
    result = of_journal(app, "verify", "--head", hashes[2])
    assert (result.exit_code, result.output) == (1, f"localhost: Of 2 entries, none has the hash {hashes[2]}.\n")


@pytest.mark.parametrize("head", ["abc", "g" * 64, ""])
def test_a_head_that_is_no_hash_is_refused(app: Flask, hashes: list[str], head: str) -> None:
    result = of_journal(app, "verify", "--head", head)
    assert result.exit_code == 1 and "64 digits" in result.output


def test_the_journal_is_exported_as_lines_of_json(app: Flask, till: ShopWithTill, hashes: list[str]) -> None:
    result = of_journal(app, "export", "--site", "localhost")
    assert result.exit_code == 0
    assert [json.loads(line)["hash"] for line in result.stdout.splitlines()] == hashes
    assert activity.last_action(till.site_id) == "pos.journal_export"
