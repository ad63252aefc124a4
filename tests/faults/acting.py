"""What each deed of a process needs: its shop, with the faults that the environment names, and a voice."""

from __future__ import annotations

import os
from pathlib import Path

from flask import Flask
from sqlalchemy import select

from app.adapters.clock import ServerClock, SystemClock
from app.adapters.queue import NoQueue, RqQueue
from app.adapters.simulator import Simulator
from app.adapters.stripe import StripeProcessor
from app.adapters.whoosh import WhooshEngine
from app.config import Config, from_environment
from app.domain.pos.processor import PaymentProcessor
from app.domain.shared.clock import Clock
from app.domain.sites.models import Site
from app.extensions import db
from app.factory import channels_of_alerts, search_engine_for
from app.ports import Ports
from tests.fakes.clock import SetClock
from tests.faults.faulty_engine import FaultyEngine
from tests.ready_app import durable_application

STRIPE_SECONDS = 0.5


def shop() -> Flask:
    config = from_environment()
    is_on_files = config.search_engine == "whoosh"
    chosen = WhooshEngine(config.index_dir) if is_on_files else search_engine_for(config, None)
    engine = FaultyEngine(chosen, os.environ.get("FAULT", ""))
    queue = RqQueue(config.redis_url, config.queue_prefix) if config.redis_url else NoQueue()
    machine_clock = _clock(config)
    ports = Ports(
        engine,
        machine_clock,
        queue,
        alert_channels=tuple(channels_of_alerts(config)),
        payment_processor=_payment_processor(config, machine_clock),
    )
    return durable_application(config, ports)


def _payment_processor(config: Config, machine_clock: Clock) -> PaymentProcessor:
    """Stripe's is on this machine, so it is not waited for as long as the shop does."""
    if config.payment_processor == "stripe":
        chosen = config.stripe
        secrets = chosen.secret_key, chosen.webhook_secrets
        return StripeProcessor(*secrets, api_base=chosen.api_base, read_seconds=STRIPE_SECONDS, pause=0)
    return Simulator(machine_clock, config.key_for("payment-simulator"))


def _clock(config: Config) -> Clock:
    """The machine's is one that the test can set, where it names a file; that of PostgreSQL's server goes by it as well
    where the test says that all do."""
    file = os.environ.get("CLOCK_FILE")
    own = SetClock(Path(file)) if file else SystemClock()
    is_of_all = config.database_url.startswith("sqlite") or "CLOCK_OF_ALL" in os.environ
    return own if is_of_all else ServerClock(own)


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def site_id() -> int:
    return db.session.scalars(select(Site.id).order_by(Site.id)).first() or 0
