"""A stall whose agent sells mugs at 5.00 (ten are left), kettles at 25.00 (not counted) and shirts in two sizes."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from app.domain.catalogue.models import Product, Variant
from app.domain.orders.models import Order
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosAgent, PosTransaction
from app.domain.pos.offline_sales import SaleOutcome, book_sales
from app.domain.pos.payments.cashier import Cashier
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.sites.accounts import Role
from app.domain.sites.settings import change_settings
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_agent, make_location, make_product, make_site, make_user, make_work_session
from tests.fakes.clock import StoppedClock

Sale = dict[str, Any]


@dataclass
class Stall:
    author: Author
    clock: StoppedClock
    cashier: Cashier

    @property
    def site_id(self) -> int:
        return self.author.site_id

    @property
    def context(self) -> WorkContext:
        return WorkContext(self.clock, transaction)

    def sale(self, *lines: tuple[str, int, int], minutes_ago: float = 60, **more: object) -> Sale:
        """A sale of lines of SKU, quantity and price; of one mug where there are none."""
        sold_at = rfc3339(self.clock.now() - timedelta(minutes=minutes_ago))
        named = [
            {"skuCode": sku, "quantity": quantity, "unitPriceInPence": price}
            for sku, quantity, price in lines or (("MUG", 1, 500),)
        ]
        return {"clientSaleId": str(uuid.uuid4()), "soldAt": sold_at, "lines": named} | more

    def send(self, *sales: object) -> list[SaleOutcome]:
        return book_sales(self.context, self.cashier, "tml_stall", sales)

    def book(self, sale: Sale) -> PosTransaction:
        """Send a sale, which is accepted; return its payment."""
        [outcome] = self.send(sale)
        assert outcome.result == "ACCEPTED", outcome
        return payment_of(outcome)

    def set_site(self, **settings: object) -> None:
        with transaction():
            change_settings(self.site_id, settings)

    def set_agent(self, **columns: object) -> None:
        with transaction():
            db.session.query(PosAgent).filter_by(id=self.cashier.agent_id).update(columns)

    def set_mug(self, **columns: object) -> None:
        with transaction():
            mug = db.session.query(Product).filter_by(name="Mug").one()
            for name, value in columns.items():
                setattr(mug, name, value)

    def stock(self, sku: str) -> int | None:
        db.session.rollback()
        return db.session.query(Product.stock).filter_by(sku=sku).scalar()

    def open_session(self, minutes_ago: float, **columns: object) -> str:
        """Another work session of the agent."""
        started = self.clock.now() - timedelta(minutes=minutes_ago)
        times = {"started_at": started, "last_seen_at": started, "expires_at": started + timedelta(days=1)}
        with transaction():
            agent = db.session.get_one(PosAgent, self.cashier.agent_id)
            return make_work_session(agent, **(times | columns)).id


@pytest.fixture
def stall(context: None, clock: StoppedClock) -> Stall:
    with transaction():
        site = make_site()
        make_product(site, "MUG", name="Mug", price=500, stock=10)
        make_product(site, "KETTLE", name="Kettle", price=2_500)
        shirt = make_product(site, "SHIRT", name="Shirt", price=1_500)
        shirt.variants = [
            Variant(site_id=site.id, position=0, sku="SHIRT-S", stock=2, options={"Size": "S"}),
            Variant(site_id=site.id, position=1, sku="SHIRT-L", stock=0, price=1_600, options={"Size": "L"}),
        ]
        location = make_location(site, "tml_stall")
        user = make_user(site, Role.POS_AGENT, name="Tilly Till")
        agent = make_agent(site, user, location)
        session = make_work_session(agent, started_at=clock.now(), expires_at=clock.now() + timedelta(days=1))
        author = Author(site.id, "Tilly Till", clock)
        return Stall(author, clock, Cashier(author, user.id, agent.id, location.id, session.id))


def payment_of(outcome: SaleOutcome) -> PosTransaction:
    db.session.rollback()
    return db.session.get_one(PosTransaction, outcome.transaction_id)


def order_of(payment: PosTransaction) -> Order:
    return db.session.get_one(Order, payment.order_id)


def refusals(outcomes: list[SaleOutcome]) -> list[str | None]:
    return [outcome.refusal and outcome.refusal[0] for outcome in outcomes]


def journal() -> list[PosJournalEntry]:
    db.session.rollback()
    return db.session.query(PosJournalEntry).order_by(PosJournalEntry.sequence).all()
