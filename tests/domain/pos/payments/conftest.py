"""A shop with an agent at a till, and intents as a processor has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.pos.payments.cashier import Cashier
from app.domain.pos.processor import Intent, IntentStatus
from app.domain.shared.author import Author
from app.domain.sites.accounts import Role
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_order, make_site, make_transaction, make_user
from tests.fakes.clock import StoppedClock


@dataclass
class Shop:
    author: Author
    agent_id: int
    location_id: int
    order_id: str
    user_id: int

    @property
    def cashier(self) -> Cashier:
        return Cashier(self.author, self.user_id, self.agent_id, self.location_id)


@pytest.fixture
def shop(context: None, clock: StoppedClock) -> Shop:
    with transaction():
        site = make_site()
        location = make_location(site)
        user = make_user(site, Role.POS_AGENT)
        agent = make_agent(site, user, location)
        order = make_order(site, status="OPEN", total=1_250, number=None, owner_id=user.id)
        return Shop(Author(site.id, "Tilly Till", clock), agent.id, location.id, order.id, user.id)


Payment = Callable[..., str]


@pytest.fixture
def payment(shop: Shop) -> Payment:
    """Makes a transaction in a status and returns its id."""

    def made(status: str = "PENDING", **more: object) -> str:
        with transaction():
            agent, location = db.session.get(PosAgent, shop.agent_id), db.session.get(PosLocation, shop.location_id)
            fields = {"processor_intent_id": "pi_1", "created_at": shop.author.now()} | more
            return make_transaction(agent, location, status, **fields).id

    return made


def intent(status: str = "requires_payment_method", intent_id: str = "pi_1", **more: object) -> Intent:
    received = 1_250 if status == "succeeded" else 0
    fields = {"amount": 1_250, "currency": "gbp", "amount_received": received} | more
    return Intent(intent_id, status=IntentStatus(status), created=datetime(2026, 11, 20, tzinfo=UTC), **fields)


def stored(transaction_id: str) -> PosTransaction:
    db.session.rollback()
    found = db.session.get(PosTransaction, transaction_id)
    assert found is not None
    return found
