"""A fair with many tills and one machine: every card is charged once, and no agent hears of a lock."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from app.adapters.simulator.models import SimulatorEvent, SimulatorIntent
from app.domain.pos import journal, sessions
from app.domain.pos.journal_models import PosJournalEntry
from app.domain.pos.models import PosTransaction
from app.domain.sites import api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience, Device
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.operations.supervisor.embedded_redis import EmbeddedRedis
from app.transaction import transaction
from app.web.tokens import issue_access_token
from tests.factories import make_agent, make_location, make_user
from tests.faults.browser import HOST
from tests.faults.shops import SITE, Shop, make_shop
from tests.faults.web_process import web_process
from tests.surroundings import ROOT
from tests.waiting import until

STALL = "tml_fair"
TILL = f"/v1/pos/{STALL}"
TRIES = 5  # A server that is full says when to come again.


@dataclass
class Agent:
    """A phone at the fair: takes one payment. `answers` are the statuses and codes of everything that it was told."""

    token: str
    port: int
    amount: int
    takes_cash: bool
    answers: Counter[str] = field(default_factory=Counter)

    def sell(self) -> None:
        if self.takes_cash:
            paid = self._post(f"{TILL}/cashPayments", {"amountInPence": self.amount})
            assert (paid["status"], paid["amountInPence"]) == ("SUCCEEDED", self.amount)
            return
        intent = self._post(f"{TILL}/paymentIntents", {"amountInPence": self.amount, "currency": "gbp"})
        reader = self._call("GET", f"{TILL}/paymentToken")["token"]
        card = {"clientSecret": intent["clientSecret"], "card": "visa"}
        self._post(f"/v1/pos/simulator/paymentIntents/{intent['id']}/present", card, reader)
        captured = self._post(f"{TILL}/paymentIntents/{intent['id']}/capture")
        assert captured["amountReceived"] == self.amount

    def _post(self, path: str, body: object = None, token: str | None = None) -> dict[str, Any]:
        return self._call("POST", path, body, token)

    def _call(self, method: str, path: str, body: object = None, token: str | None = None) -> dict[str, Any]:
        headers = {"Host": HOST, "Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        headers["Idempotency-Key"] = f"sale-{self.amount}"
        for _ in range(TRIES):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
            try:
                connection.request(method, path, None if body is None else json.dumps(body), headers)
                answer = connection.getresponse()
                result: dict[str, Any] = json.loads(answer.read())
            finally:
                connection.close()
            self.answers[f"{answer.status} {result.get('code', '')}".strip()] += 1
            if answer.status < 300:
                return result
            time.sleep(int(answer.headers.get("Retry-After", 1)))
        raise AssertionError(result)


def agents_at(shop: Shop, port: int, count: int) -> list[Agent]:
    """Agents who signed in; signing in itself costs time by design, so it is left out."""
    with shop.opened() as fair, transaction():
        site = db.session.get_one(Site, SITE)
        change_settings(SITE, {"posEnabled": True})
        stall = make_location(site, STALL)
        made = []
        for number in range(count):
            user = make_user(site, Role.POS_AGENT, email=f"agent-{number}@shop.test", password=None)
            make_agent(site, user, stall)
            granted = api_sessions.open_session(fair.clock, user, SITE, Audience.POS, Device())
            sessions.open_session(fair.clock, granted.caller, Device(), "TillApp/1", "192.0.2.1")
            token = issue_access_token(granted.caller, fair.clock.now())
            made.append(Agent(token, port, 1_000 + number * 100, takes_cash=bool(number % 2)))
        return made


@contextmanager
def worker(shop: Shop, **settings: str) -> Iterator[None]:
    """Delivers the simulator's events meanwhile."""
    environment = shop.environment(**settings)
    process = subprocess.Popen([sys.executable, ROOT / "worker.py", "default"], cwd=shop.folder, env=environment)
    try:
        yield
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def shop(own_database_url: str, tmp_path: Path) -> Iterator[Shop]:
    """On a database of each kind."""
    made = make_shop(tmp_path, own_database_url)
    yield made
    made.end_all()


@pytest.mark.concurrent
@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.torture)])
def test_agents_who_pay_at_once_are_each_paid_once(shop: Shop, redis: EmbeddedRedis, count: int) -> None:
    secret = shop.config.secret_key
    with web_process(shop, SECRET_KEY=secret) as web, worker(shop, SECRET_KEY=secret):
        agents = agents_at(shop, web.port, count)
        threads = [threading.Thread(target=agent.sell) for agent in agents]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.monotonic() - began
        until(lambda: _events_left(shop) == 0, 60)
    answers = sum((agent.answers for agent in agents), Counter())
    print(f"{count} agents, {seconds:.1f} s, {dict(answers)}")
    assert (answers["201"], answers["200"]) == (count, 3 * count // 2)
    assert not [
        result for result in answers if "database" in result or "processor" in result or result.startswith("500")
    ]
    _check_ledger(shop, sum(agent.amount for agent in agents if not agent.takes_cash), count // 2)
    _check_journal(shop, sum(agent.amount for agent in agents), count)


def _events_left(shop: Shop) -> int:
    with shop.opened():
        return db.session.scalar(select(func.count()).select_from(SimulatorEvent)) or 0


def _check_ledger(shop: Shop, total: int, count: int) -> None:
    """The shop's and the processor's are the same, payment by payment."""
    with shop.opened():
        ours = select(PosTransaction.processor_intent_id, PosTransaction.captured_amount)
        by_card = ours.where(PosTransaction.tender_type == "CARD")
        paid = by_card.where(PosTransaction.status == "SUCCEEDED", PosTransaction.anomaly.is_(None))
        theirs = select(SimulatorIntent.id, SimulatorIntent.amount).where(SimulatorIntent.status == "succeeded")
        taken = dict(db.session.execute(paid).all())
        assert taken == dict(db.session.execute(theirs).all())
        assert (len(taken), sum(taken.values())) == (count, total)


def _check_journal(shop: Shop, total: int, count: int) -> None:
    """It is whole and has each payment once; there are no others."""
    with shop.opened():
        written = select(func.count(), func.sum(PosJournalEntry.amount))
        assert tuple(db.session.execute(written).one()) == (count, total) and journal.verify(SITE).is_whole
        assert db.session.scalar(select(func.count()).select_from(PosTransaction)) == count
