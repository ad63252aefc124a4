"""Payments at the till: what one costs with the books of years behind it, two hundred agents at once against the
simulator, and finding out how ten thousand open ones ended."""

from __future__ import annotations

import http.client
import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.adapters.clock import SystemClock
from app.adapters.simulator.models import SimulatorIntent
from app.domain.pos import journal
from app.domain.pos.journal import EntryType, MoneyEvent
from app.domain.pos.models import PaymentCheckRun, PosTransaction
from app.domain.pos.reconciliation import checks
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.extensions import db
from app.operations.work_context import work_context
from app.transaction import transaction
from bench.measuring import Yardstick, at_most, heading, milliseconds, percentile, run, seconds, sized, workspace
from bench.shop import empty_shop, settings
from bench.till import (
    AMOUNT,
    HOST,
    LOCATION,
    SITE,
    Signed,
    leave_open,
    put_on_sale,
    shop_with_fake_processor,
    sign_agents_in,
    write_books,
)
from bench.web_load import server, wait_for
from bench.yardsticks import bare_edit
from tests.fakes.payment_processor import FakeProcessor

BOOKS, AGENTS, OPEN = sized(100_000), sized(200), sized(10_000)
REQUESTS = 300
BATCHES, BATCH = 5, 100  # Of sales made without a network.
LIMIT = 4  # Times a bare authenticated request.
SETTLED = 3  # Times a bare page and commit.
SALE = 10  # Times a bare page and commit for the four requests of a sale.
OFFLINE = 3  # Requests that the same sale takes with a network: basket, payment, submission.
NOTHING = Yardstick("the goal", 0, "")
TILL = f"/v1/pos/{LOCATION}"


def main() -> None:
    with workspace() as directory:
        _requests(directory)
    with workspace() as directory:
        _agents_at_once(directory)


def _requests(directory: Path) -> None:
    processor = FakeProcessor(SystemClock())
    empty_shop(settings(directory))
    app = shop_with_fake_processor(directory, processor)
    with app.app_context():
        agents = sign_agents_in(10)
        write_books(agents, BOOKS)
        heading(f"Payments over the API with {BOOKS:,} in the books, the processor answering at once")
        _measure_requests(app, processor, agents[0])
        edit = bare_edit()
        _append(edit)
        heading(f"Reconciliation of {OPEN:,} open payments")
        _reconcile(processor, agents[0], edit)


@dataclass(frozen=True, slots=True)
class _Requests:
    """Requests of an agent. Each kind is measured in turns with a bare request, so that both meet the same machine."""

    client: FlaskClient
    agent: Signed

    def call(self, method: str, path: str, status: int, body: object = None) -> Mapping[str, object]:
        more = {} if body is None else {"json": body}
        answer = self.client.open(path, method=method, headers=self.agent.headers, base_url=f"http://{HOST}", **more)
        assert answer.status_code == status, answer.text
        found: Mapping[str, object] = answer.json
        return found

    def post(self, path: str, status: int, body: object = None) -> Mapping[str, object]:
        return self.call("POST", f"{TILL}{path}", status, body)

    def bare(self) -> None:
        self.call("GET", "/v1/pos/agents/me", 200)

    def measure(
        self, name: str, work: Callable[..., object], arguments: Sequence[object], each: int = 1, times: int = LIMIT
    ) -> None:
        """`each` is how many of them one call is for, `times` how many bare requests each may take."""
        took, bare = [], []
        for argument in arguments:
            took.append(1000 * seconds(lambda argument=argument: work(argument)))  # type: ignore[misc]
            bare += milliseconds(lambda _: self.bare(), range(each))
        plain = Yardstick("a bare authenticated request, p95", percentile(bare, 0.95), "ms")
        at_most(f"{name}, p95", percentile(took, 0.95) / each, times * plain)


def _measure_requests(app: Flask, processor: FakeProcessor, agent: Signed) -> None:
    requests, intents = _Requests(app.test_client(), agent), list[str]()

    def create(_: object) -> None:
        body = {"amountInPence": AMOUNT, "currency": "gbp"}
        intents.append(str(requests.post("/paymentIntents", 201, body)["id"]))

    for warm in range(20):
        requests.bare()
        create(warm)
    requests.measure("a payment created", create, range(REQUESTS))
    for intent in intents:
        processor.tap(intent)
    requests.measure("a payment captured", lambda one: requests.post(f"/paymentIntents/{one}/capture", 200), intents)
    for name, number in (("first", 1), ("middle", BOOKS // 40), ("last", BOOKS // 20)):
        path = f"{TILL}/transactions?pageNumber={number}"
        work = partial(requests.call, "GET", path, 200)
        requests.measure(f"the {name} page of the list", lambda _, work=work: work(), range(REQUESTS))
    _measure_cash(requests)


def _measure_cash(requests: _Requests) -> None:
    handed = {"amountInPence": AMOUNT, "tenderedInPence": 2 * AMOUNT}
    requests.measure("a payment in cash", lambda _: requests.post("/cashPayments", 201, handed), range(REQUESTS))
    skus = put_on_sale(3)

    def book(_: object) -> None:
        requests.post("/offlineSales", 200, {"sales": [_offline_sale(skus) for _ in range(BATCH)]})

    requests.measure("a sale without a network, of a hundred", book, range(BATCHES), each=BATCH, times=OFFLINE * LIMIT)


def _offline_sale(skus: Sequence[str]) -> Mapping[str, object]:
    """A line for each product, made just now."""
    lines = [{"skuCode": sku, "quantity": 1, "unitPriceInPence": AMOUNT} for sku in skus]
    return {"clientSaleId": str(uuid.uuid4()), "soldAt": rfc3339(SystemClock().now()), "lines": lines}


def _append(edit: Yardstick) -> None:
    """Entries of one transaction, so that no commit is measured with them."""
    clock, took = SystemClock(), list[float]()
    event = MoneyEvent(EntryType.SALE, clock.now(), None, str(uuid.uuid4()), None, AMOUNT, "CASH")
    with transaction():
        took += milliseconds(lambda _: journal.append(clock, SITE, event), range(REQUESTS))
    at_most("an entry appended to the journal, p95", percentile(took, 0.95), edit)


def _reconcile(processor: FakeProcessor, agent: Signed, edit: Yardstick) -> None:
    leave_open(processor, agent, OPEN)
    author = Author(SITE, "Benchmark", SystemClock())

    def settle() -> None:
        """As often as there is more to do: a run ends after some seconds."""
        while SITE in checks.sites_due(SystemClock(), processor):
            with transaction():
                checks.request(author)
            checks.check(work_context(), processor, SITE)
            assert not db.session.get_one(PaymentCheckRun, SITE, populate_existing=True).failed

    took = seconds(settle)
    at_most("an open payment settled, each", 1000 * took / OPEN, SETTLED * edit)
    is_of_processor = PosTransaction.processor_intent_id.not_like("pi_before%")
    counted = select(PosTransaction.status, func.count()).where(is_of_processor)
    ends = dict(db.session.execute(counted.group_by(PosTransaction.status)).all())
    at_most("left unknown", ends.get("UNKNOWN", 0), NOTHING)


@dataclass
class _Sales:
    """What came of agents who all take a payment at the same moment."""

    port: int
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    together: threading.Barrier = field(default_factory=lambda: threading.Barrier(AGENTS))

    def sell(self, agent: Signed) -> None:
        self.together.wait()
        self.times.append(1000 * seconds(lambda: self._sale(agent)))

    def _sale(self, agent: Signed) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        begun = self._call(
            connection, "POST", f"{TILL}/paymentIntents", agent.token, {"amountInPence": AMOUNT, "currency": "gbp"}
        )
        reader = self._call(connection, "GET", f"{TILL}/paymentToken", agent.token)
        tap = {"clientSecret": begun["clientSecret"], "card": "visa"}
        present = f"/v1/pos/simulator/paymentIntents/{begun['id']}/present"
        self._call(connection, "POST", present, str(reader["token"]), tap)
        self._call(connection, "POST", f"{TILL}/paymentIntents/{begun['id']}/capture", agent.token)
        connection.close()

    def _call(
        self, connection: http.client.HTTPConnection, method: str, path: str, token: str, body: object = None
    ) -> Mapping[str, object]:
        headers = {"Authorization": f"Bearer {token}", "Host": HOST, "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        read = answer.read()
        self.statuses[path.rpartition("/")[2], answer.status] += 1
        found: Mapping[str, object] = json.loads(read)
        return found


def _agents_at_once(directory: Path) -> None:
    heading(f"{AGENTS} agents who take a payment at the same moment, web server and simulator")
    environment = settings(directory)
    app = empty_shop(environment)
    with app.app_context():
        agents = sign_agents_in(AGENTS)
        edit = bare_edit()
    with server("wsgi:app", environment) as port:
        wait_for(port, HOST, "/healthz")
        sales = _Sales(port)
        threads = [threading.Thread(target=sales.sell, args=(agent,)) for agent in agents]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    refused = sum(count for (_, status), count in sales.statuses.items() if status >= 400)
    at_most("requests that were refused", refused + AGENTS - len(sales.times), NOTHING)
    at_most("the last of them has paid after", max(sales.times, default=0), SALE * AGENTS * edit)
    with app.app_context():
        at_most("payments whose two books differ", _differing(), NOTHING)


def _differing() -> int:
    """By the shop's books and the simulator's: every agent was paid once."""
    ours = dict(db.session.execute(select(PosTransaction.processor_intent_id, PosTransaction.captured_amount)).all())
    taken = select(SimulatorIntent.id, SimulatorIntent.amount).where(SimulatorIntent.status == "succeeded")
    theirs = dict(db.session.execute(taken).all())
    return len(ours.items() ^ theirs.items()) + abs(len(ours) - AGENTS)


if __name__ == "__main__":
    run(main)
