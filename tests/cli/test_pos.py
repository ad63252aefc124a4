"""`pos reconcile` does by hand what the scheduler requests, and its exit status says whether all is well."""

from __future__ import annotations

import pytest
from click.testing import Result
from flask import Flask

from app.domain.pos.models import PosTransaction
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
