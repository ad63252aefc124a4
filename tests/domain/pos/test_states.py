"""Every status met by every state of the intent."""

from __future__ import annotations

from itertools import product

import pytest

from app.domain.pos.processor import IntentStatus
from app.domain.pos.states import (
    OPEN_STATUSES,
    PAID_STATUSES,
    TransactionStatus,
    is_anomaly,
    status_after,
    status_after_refunds,
)

READ = {
    "requires_payment_method": "PENDING",
    "requires_confirmation": "PENDING",
    "requires_action": "PENDING",
    "processing": "PROCESSING",
    "requires_capture": "AUTHORIZED",
    "succeeded": "SUCCEEDED",
    "canceled": "CANCELLED",
}


@pytest.mark.parametrize(("current", "intent"), list(product(TransactionStatus, IntentStatus)))
def test_money_that_came_stays_and_what_was_given_up_only_comes_back_with_money(
    current: TransactionStatus, intent: IntentStatus
) -> None:
    after = status_after(current, intent)
    if current in ("SUCCEEDED", "PARTIALLY_REFUNDED", "REFUNDED"):
        assert after is current
    elif current in ("CANCELLED", "FAILED"):
        assert after == ("SUCCEEDED" if intent == "succeeded" else current)
    else:
        assert after == READ[intent]
    assert is_anomaly(current, after) == (current in ("CANCELLED", "FAILED") and after == "SUCCEEDED")


def test_every_status_is_open_or_paid_or_given_up() -> None:
    given_up = {TransactionStatus.CANCELLED, TransactionStatus.FAILED}
    assert OPEN_STATUSES | PAID_STATUSES | given_up == set(TransactionStatus)
    assert len(OPEN_STATUSES) + len(PAID_STATUSES) + len(given_up) == len(TransactionStatus)


@pytest.mark.parametrize(
    ("refunded", "status"),
    ((0, "SUCCEEDED"), (1, "PARTIALLY_REFUNDED"), (499, "PARTIALLY_REFUNDED"), (500, "REFUNDED")),
)
def test_what_was_given_back_decides_the_status_of_a_paid_one(refunded: int, status: str) -> None:
    assert status_after_refunds(500, refunded) == status
