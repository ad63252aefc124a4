"""A shop with many agents at a till, and the books of many payments."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flask import Flask
from sqlalchemy import insert

from app import create_app
from app.adapters.clock import SystemClock
from app.adapters.null_engine import NullEngine
from app.adapters.queue import NoQueue
from app.config import from_environment
from app.domain.catalogue.models import Product
from app.domain.pos import sessions
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.processor import AccountRef, IntentRequest
from app.domain.sites import accounts, api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.settings import change_settings
from app.domain.sites.sites import create_site
from app.extensions import db
from app.ports import STORES, Ports
from app.transaction import transaction
from app.web.tokens import issue_access_token
from bench.shop import settings
from tests.fakes.payment_processor import FakeProcessor
from tests.fakes.rate_limits import NoRateLimits

HOST, LOCATION = "localhost", "tml_bench"
SITE, AMOUNT = 1, 1_250
BATCH = 5_000


@dataclass(frozen=True, slots=True)
class Signed:
    """An agent with a token."""

    agent_id: int
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


def shop_with_fake_processor(directory: Path, processor: FakeProcessor) -> Flask:
    """The shop of the directory, whose processor answers at once, so that only the shop's own work is measured."""
    config = from_environment(settings(directory))
    app = create_app(config, Ports(NullEngine(), SystemClock(), NoQueue(), payment_processor=processor))
    app.extensions[STORES] = replace(app.extensions[STORES], memory=NoRateLimits())
    return app


def sign_agents_in(count: int) -> list[Signed]:
    """A new site with so many agents, each signed in at the till."""
    with transaction():
        site_id = create_site(SystemClock(), HOST, "Bench").id
    return open_till(site_id, count)


def open_till(site_id: int, count: int) -> list[Signed]:
    """So many agents of the site, each signed in at its one location."""
    clock = SystemClock()
    with transaction():
        change_settings(site_id, {"posEnabled": True})
        location = PosLocation(site_id=site_id, location_id=LOCATION, display_name="Fair", country="GB")
        location.created_at = location.updated_at = clock.now()
        db.session.add(location)
    with transaction():
        return [_signed(clock, location, number) for number in range(count)]


def _signed(clock: SystemClock, location: PosLocation, number: int) -> Signed:
    user = accounts.create_user(clock, 8, f"agent{number}@bench.test", f"Agent {number}", None)
    accounts.grant(user, location.site_id, Role.POS_AGENT)
    agent = PosAgent(site_id=location.site_id, user_id=user.id, display_name=user.display_name, locations=[location])
    agent.created_at = agent.updated_at = clock.now()
    db.session.add(agent)
    db.session.flush()
    granted = api_sessions.open_session(clock, user, location.site_id, Audience.POS, Device(None, None))
    sessions.open_session(clock, granted.caller, Device(None, None), "", "")
    return Signed(agent.id, issue_access_token(granted.caller, clock.now()))


def write_books(agents: Sequence[Signed], count: int) -> None:
    """So many payments of the last months."""
    location_id = db.session.query(PosLocation.id).filter_by(location_id=LOCATION).scalar()
    rows = _payments(agents, location_id, count)
    while batch := [row for row, _ in zip(rows, range(BATCH), strict=False)]:
        with transaction():
            db.session.execute(insert(PosTransaction), batch)


def _payments(agents: Sequence[Signed], location_id: int, count: int) -> Iterator[dict[str, object]]:
    now = datetime.now(UTC)
    for number in range(count):
        at = now - timedelta(minutes=number)
        yield _payment(agents[number % len(agents)], location_id, at) | {
            "status": "SUCCEEDED",
            "processor_intent_id": f"pi_before_{number}",
            "captured_amount": AMOUNT,
            "captured_at": at,
        }


def put_on_sale(count: int) -> list[str]:
    """So many products, which never run out; their SKUs."""
    skus = [f"sku-{number}" for number in range(count)]
    with transaction():
        db.session.add_all(_product(sku) for sku in skus)
    return skus


def _product(sku: str) -> Product:
    now = datetime.now(UTC)
    return Product(site_id=SITE, sku=sku, seo_name=sku, name=sku, price=AMOUNT, created_at=now, updated_at=now)


def leave_open(processor: FakeProcessor, agent: Signed, count: int) -> None:
    """So many payments whose answers were lost, half of them paid by now, all of which are due to be looked at."""
    location_id = db.session.query(PosLocation.id).filter_by(location_id=LOCATION).scalar()
    rows = []
    for number in range(count):
        row = _payment(agent, location_id, datetime.now(UTC)) | {
            "status": "UNKNOWN",
            "next_check_at": datetime.now(UTC),
        }
        metadata = {"transactionId": str(row["id"]), "siteId": str(SITE)}
        intent = processor.create_intent(AccountRef(), IntentRequest(AMOUNT, "gbp", metadata=metadata), "")
        if number % 2:
            processor.tap(intent.id)
        rows.append(row | {"processor_intent_id": intent.id})
    with transaction():
        db.session.execute(insert(PosTransaction), rows)


def _payment(agent: Signed, location_id: int, at: datetime) -> dict[str, object]:
    return {
        "id": str(uuid.uuid4()),
        "site_id": SITE,
        "agent_id": agent.agent_id,
        "location_id": location_id,
        "type": "QUICK_PAYMENT",
        "amount_in_pence": AMOUNT,
        "currency": "gbp",
        "processor": "fake",
        "processor_account_id": "",
        "emv": {},
        "client_metadata": {},
        "created_at": at,
        "updated_at": at,
    }
