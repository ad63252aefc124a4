"""A shop whose payments are compared with the processor's."""

from __future__ import annotations

import pytest

from app.operations.work_context import work_context
from tests.domain.pos.shop_with_till import ShopWithTill, shop_with_till, stored
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FakeProcessor


@pytest.fixture
def till(context: None, clock: StoppedClock, processor: FakeProcessor) -> ShopWithTill:
    return shop_with_till(clock, processor, work_context())


@pytest.fixture
def paid(till: ShopWithTill) -> str:
    """A payment of 12.50."""
    payment = till.payment()
    till.tap(payment)
    till.check()
    assert stored(payment).status == "SUCCEEDED"
    return payment
