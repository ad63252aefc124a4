"""The environment says who takes card payments."""

from __future__ import annotations

import pytest

from app.adapters.simulator import Simulator
from app.adapters.stripe import StripeProcessor
from app.config import Config, StripeSettings
from app.domain.pos.processor import NoProcessor
from app.factory import payment_processor_for
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue


@pytest.mark.parametrize(
    ("name", "kind"), [("simulator", Simulator), ("none", NoProcessor), ("stripe", StripeProcessor)]
)
def test_a_processor_is_chosen_by_its_name(name: str, kind: type) -> None:
    stripe = StripeSettings("rk_live_x", ("secret",), "pk_live_x")
    config = Config(secret_key="k" * 32, payment_processor=name, stripe=stripe)
    assert type(payment_processor_for(config, StoppedClock(), RecordingQueue())) is kind


def test_stripe_gets_its_settings() -> None:
    stripe = StripeSettings("rk_live_x", ("secret",), "pk_live_x")
    config = Config(secret_key="k" * 32, payment_processor="stripe", stripe=stripe)
    chosen = payment_processor_for(config, StoppedClock(), RecordingQueue())
    assert (chosen.name, chosen.live, chosen.publishable_key) == ("stripe", True, "pk_live_x")
