"""F36 to F38 for orders that are paid in parts: the line to the processor is bad and the web server is killed again and
again, while agents take cash and cards. In the end no payment is lost and none is there twice."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from app.domain.orders.models import OPEN, Order
from app.domain.pos import journal, sessions
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosRefund, PosTransaction
from app.domain.pos.states import OPEN_STATUSES, PAID_STATUSES, REFUND_FAILED
from app.domain.sites import api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import ApiCaller, Audience, Device
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from app.web.tokens import issue_access_token
from tests.factories import make_agent, make_location, make_user
from tests.fakes.clock import SetClock
from tests.fakes.stripe_server import SECRET_KEY, WEBHOOK_SECRET, Fault, StripeServer, stripe_server
from tests.faults.deeds import Deed
from tests.faults.shops import SITE, Shop, make_shop
from tests.faults.split_sales import ACCOUNT, STALL, Numbers, SplitAgent
from tests.injected_faults import injected
from tests.processes import free_port

AGENTS, FAULTY = 6, 0.3
FAULTS = [fault for fault in Fault if fault is not Fault.DECLINED]
MINUTE = timedelta(seconds=61)


@dataclass
class Fair:
    """A stall whose web server is killed and started again; its machines' clock can be set ahead."""

    shop: Shop
    stripe: StripeServer
    clock: SetClock
    port: int = field(default_factory=free_port)
    callers: list[ApiCaller] = field(default_factory=list)
    agents: list[SplitAgent] = field(default_factory=list)
    ahead: timedelta = timedelta(0)

    def start(self) -> Deed:
        server = self.do("serve_tills", str(self.port))
        assert server.line() == "serves"
        return server

    def do(self, *deed: str) -> Deed:
        settings = {"PAYMENT_PROCESSOR": "stripe", "STRIPE_API_BASE": self.stripe.base_url}
        secrets = {"STRIPE_SECRET_KEY": SECRET_KEY, "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET}
        settings |= {"SECRET_KEY": self.shop.config.secret_key, "CLOCK_OF_ALL": "1"}
        return self.shop.do(*deed, **settings, **secrets)

    def pass_time(self, by: timedelta = MINUTE) -> None:
        """The scheduler does what it does each minute, and the phones fetch new tokens."""
        assert self.shop.clock_file is not None
        self.ahead += by
        SetClock.set(self.shop.clock_file, self.ahead)
        self.give_tokens()
        assert self.do("check_payments", "none").finish() == 0

    def give_tokens(self) -> None:
        with self.shop.opened():
            for agent, caller in zip(self.agents, self.callers, strict=True):
                agent.token = issue_access_token(caller, self.clock.now())

    def sell(self, orders: int, kills: int) -> None:
        """Agents sell until all orders are paid; meanwhile the server is killed so often."""
        numbers, server = Numbers(orders), self.start()
        with ThreadPoolExecutor(AGENTS) as pool:
            sold = [pool.submit(agent.sell, numbers) for agent in self.agents]
            while not all(one.done() for one in sold):
                if kills and numbers.taken > orders - kills * orders / (kills + 1):
                    server.signal("KILL")
                    injected()
                    server.finish()
                    server, kills = self.start(), kills - 1
                self.pass_time()
        for one in sold:
            one.result()
        assert kills == 0 and server.is_running

    def settle(self) -> None:
        """The line is good again, and a day passes."""
        self.stripe.fails_no_more()
        for hours in (0, 1, 22, 2):
            self.pass_time(MINUTE + timedelta(hours=hours))


@pytest.fixture
def shop(own_database_url: str, tmp_path: Path) -> Iterator[Shop]:
    """On a database of each kind."""
    made = make_shop(tmp_path, own_database_url)
    yield made
    made.end_all()


@pytest.fixture
def fair(shop: Shop) -> Iterator[Fair]:
    shop.clock_file = shop.folder / "clock"
    SetClock.set(shop.clock_file, timedelta(0))
    clock = SetClock(shop.clock_file)
    with stripe_server(clock.now, (ACCOUNT,)) as stripe:
        fair = Fair(shop, stripe, clock)
        _open(fair)
        yield fair


def _open(fair: Fair) -> None:
    with fair.shop.opened(), transaction():
        site = db.session.get_one(Site, SITE)
        settings = {"posProcessorAccountId": ACCOUNT, "posCashRounding": 5, "posTipsEnabled": True}
        change_settings(SITE, {"posEnabled": True, **settings})
        stall = make_location(site, STALL)
        for number in range(AGENTS):
            user = make_user(site, Role.POS_AGENT, email=f"agent-{number}@shop.test", password=None)
            make_agent(site, user, stall, can_refund=True)
            granted = api_sessions.open_session(fair.clock, user, SITE, Audience.POS, Device())
            sessions.open_session(fair.clock, granted.caller, Device(), "TillApp/1", "192.0.2.1")
            fair.callers.append(granted.caller)
            fair.agents.append(SplitAgent(number, fair.port, fair.stripe, "", random.Random(number)))
    fair.give_tokens()


@pytest.mark.concurrent
@pytest.mark.fault("F36", "F37", "F38")
@pytest.mark.parametrize(("orders", "kills"), [(30, 3), pytest.param(500, 50, marks=pytest.mark.torture)])
def test_orders_that_are_paid_in_parts_lose_nothing_and_double_nothing(fair: Fair, orders: int, kills: int) -> None:
    began, chance = time.monotonic(), random.Random(orders)
    faults = [chance.choice(FAULTS) if chance.random() < FAULTY else None for _ in range(100 * orders)]
    fair.stripe.fails(*faults)
    fair.sell(orders, kills)
    met = len(fair.stripe.received)
    fair.settle()
    answers = sum((agent.answers for agent in fair.agents), Counter[str]())
    seconds, left = time.monotonic() - began, sum(len(agent.left) for agent in fair.agents)
    print(
        f"{orders} orders, {left} given up, {kills} kills, {met} requests to the processor, {seconds:.0f} s, {answers}"
    )
    assert sum(len(agent.paid) for agent in fair.agents) == orders and not answers["500"]
    with fair.shop.opened():
        _check_orders(fair)
        _check_drawer(fair)
        _check_processor(fair)
        _check_journal()


def _payments() -> list[PosTransaction]:
    return list(db.session.scalars(select(PosTransaction)))


def _check_orders(fair: Fair) -> None:
    """What agents saw as paid is paid exactly, by the parts that they saw; nothing else took money."""
    sums, reserved = defaultdict[str | None, int](int), defaultdict[str | None, int](int)
    for payment in _payments():
        # A refund of which no answer came may never have been made, which staff are shown.
        assert payment.anomaly in (None, REFUND_FAILED) and not payment.is_surplus
        if payment.status in PAID_STATUSES:
            sums[payment.order_id] += payment.captured_amount - payment.tip_in_pence
        elif payment.status in OPEN_STATUSES:
            reserved[payment.order_id] += payment.amount_in_pence
    paid = {order_id: total for agent in fair.agents for order_id, total in agent.paid.items()}
    left = {order_id: part for agent in fair.agents for order_id, part in agent.left.items()}
    assert dict(sums) == paid | left
    for order in db.session.scalars(select(Order)):
        assert order.reserved_amount == reserved[order.id] == 0
        assert order.paid_amount == sums[order.id]
        assert (
            (order.status != OPEN)
            == (order.paid_at is not None)
            == (order.paid_amount == order.total)
            == (order.id in paid)
        )


def _check_drawer(fair: Fair) -> None:
    """Each key took cash once, and the drawers hold what customers handed over less change and refunds."""
    cash = [payment for payment in _payments() if payment.tender_type == "CASH"]
    drawers = [agent.drawer for agent in fair.agents]
    assert sorted(payment.id for payment in cash) == sorted(one for drawer in drawers for one in drawer.taken)
    kept = [payment for payment in cash if payment.status in PAID_STATUSES]
    taken_back = {payment.id for payment in cash if payment.status == "CANCELLED"}
    assert len(kept) + len(taken_back) == len(cash)
    assert taken_back == set().union(*(drawer.taken_back for drawer in drawers))
    assert sum(payment.moved_cash for payment in kept) == sum(drawer.cash for drawer in drawers)
    refunds = db.session.scalars(select(PosRefund).where(PosRefund.tender_type == "CASH")).all()
    given_back = sum(refund.amount + refund.rounding for refund in refunds)
    assert given_back == sum(drawer.given_back for drawer in drawers)
    assert sum(payment.refunded_in_cash for payment in cash) == sum(refund.amount for refund in refunds)


def _check_processor(fair: Fair) -> None:
    """Its books are the shop's, payment by payment; each payment has one intent."""
    ledger = fair.stripe.api.ledgers[ACCOUNT]
    names = [intent["metadata"]["transactionId"] for intent in ledger.intents.values()]
    assert len(names) == len(set(names))
    received = {intent["id"]: intent["amount_received"] for intent in ledger.intents.values()}
    refunded = Counter[str]()
    for refund in ledger.refunds.values():
        refunded[refund["payment_intent"]] += refund["amount"]
    cards = [payment for payment in _payments() if payment.tender_type == "CARD"]
    ours = {payment.processor_intent_id: payment.captured_amount for payment in cards if payment.processor_intent_id}
    assert ours == received
    assert {payment.processor_intent_id: payment.refunded_to_card for payment in cards if payment.refunded_amount} == (
        dict(refunded)
    )
    seen = sum(agent.refunded_to_cards for agent in fair.agents)
    assert seen <= sum(refunded.values()) <= seen + sum(agent.unclear_refunds for agent in fair.agents)
    assert sum(payment.tip_in_pence for payment in cards if payment.status in PAID_STATUSES) == (
        sum(agent.tips for agent in fair.agents)
    )


def _check_journal() -> None:
    """It is whole, and its sums are those of the payments and refunds."""
    assert journal.verify(SITE).is_whole
    written = Counter[tuple[str, str | None]]()
    for entry in db.session.scalars(select(PosJournalEntry)):
        written[entry.type, entry.tender_type] += entry.amount or 0
    moved = Counter[tuple[str, str | None]]()
    for payment in _payments():
        if payment.tender_type == "CARD":
            moved["SALE", "CARD"] += payment.captured_amount
            continue
        moved["SALE", "CASH"] += payment.moved_cash
        moved["VOID", "CASH"] -= payment.moved_cash if payment.status == "CANCELLED" else 0
    for refund in db.session.scalars(select(PosRefund).where(PosRefund.status == "SUCCEEDED")):
        moved["REFUND", refund.tender_type] -= refund.amount + refund.rounding
    assert {kind: amount for kind, amount in written.items() if amount} == {
        kind: amount for kind, amount in moved.items() if amount
    }
