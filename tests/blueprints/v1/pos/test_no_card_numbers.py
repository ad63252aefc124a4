"""A card's number that somebody types into any text of the till is refused: it is neither stored, logged nor repeated
(PCI DSS 3)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator
from itertools import cycle

import pytest
import structlog
from flask import Flask
from sqlalchemy import inspect, text

from app.domain.shared.card_numbers import names_card, plain_digits
from app.extensions import db
from app.operations import logs
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import AGENT, TillClient
from tests.factories import PASSWORD
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import FakeProcessor
from tests.page_client import PageClient

# Numbers that card schemes and processors publish for tests, of 13 to 19 digits.
NUMBERS = (
    "4242424242424242", "4000056655665556", "4222222222222", "4917610000000000003", "4111111111111111",
    "5555555555554444", "2223003122003222", "5105105105105100", "5200828282828210", "2223000048400011",
    "378282246310005", "371449635398431", "6011111111111117", "6011000990139424", "6011981111111113",
    "30569309025904", "38520000023237", "3566002020360505", "6200000000000005", "6304000000000000",
)  # fmt: skip
ARABIC, WIDE = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"), str.maketrans("0123456789", "０１２３４５６７８９")


def _groups(number: str, sign: str) -> str:
    return sign.join(number[start : start + 4] for start in range(0, len(number), 4))


SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda number: number,
    lambda number: _groups(number, " "),
    lambda number: _groups(number, "-"),
    lambda number: _groups(number, "."),
    lambda number: _groups(number, "\u00a0"),
    lambda number: _groups(number, " - "),
    lambda number: f"card {number} exp 12/30",
    lambda number: f"card:{_groups(number, ' ')}.",
    lambda number: number.translate(ARABIC),
    lambda number: number.translate(WIDE),
)
TYPED = [(number, spell(number)) for number in NUMBERS for spell in SPELLINGS]
Input = Callable[[str], int]  # Types a text and returns the status of the answer.


def test_each_of_the_200_texts_names_a_card() -> None:
    assert len(TYPED) == 200
    assert [typed for _, typed in TYPED if not names_card(typed)] == []


@pytest.fixture
def logged(app: Flask, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """What was written to the log until now."""
    logs.configure("INFO")
    written: list[str] = []

    def read() -> str:
        written.extend(capsys.readouterr())
        return "".join(written)

    yield read
    structlog.reset_defaults()


class Desk:
    """Every input for text of the till, over the API and in the admin."""

    def __init__(self, app: Flask, agent: TillClient, processor: FakeProcessor) -> None:
        self.agent, self.bodies = agent, []
        self.admin = PageClient(app).signed_in("admin@shop.test")
        intent_id = agent.began()
        processor.tap(intent_id)
        self.payment: str = agent.capture(intent_id).json["transactionId"]
        self.page = f"/admin/pos/transactions/{self.payment}"
        with app.app_context(), transaction():
            db.session.execute(text("UPDATE pos_transactions SET anomaly = 'amount_differs'"))
            db.session.execute(text("UPDATE pos_agents SET can_refund = :yes"), {"yes": True})
            self.agent_id = db.session.scalar(text("SELECT min(id) FROM pos_agents"))

    @property
    def inputs(self) -> dict[str, Input]:
        payments, receipt = "paymentIntents", f"transactions/{self.payment}/receipt"
        sale = {"amountInPence": 500}
        return {
            "description": lambda typed: self._call(payments, sale | {"description": typed}),
            "value of metadata": lambda typed: self._call(payments, sale | {"metadata": {"note": typed}}),
            "key of metadata": lambda typed: self._call(payments, sale | {"metadata": {typed: "note"}}),
            "reason of a refund": lambda typed: self._call(f"transactions/{self.payment}/refunds", {"reason": typed}),
            "address of a receipt": lambda typed: self._call(receipt, {"email": f"{typed}@home.test"}),
            "reason of a cash movement": lambda typed: self._call(
                "cashMovements", {"type": "DROP", "amountInPence": 1, "reason": typed}
            ),
            "closing note": lambda typed: self._close(typed),
            "reason in the admin": lambda typed: self._form(f"{self.page}/refunds", reason=typed),
            "note of an anomaly": lambda typed: self._form(f"{self.page}/anomaly", note=typed),
            "address in the admin": lambda typed: self._form(f"{self.page}/receipt", email=f"{typed}@home.test"),
            "name of an agent": lambda typed: self._form(
                f"/admin/pos/agents/{self.agent_id}", displayName=typed, revision="1"
            ),
            "name of a location": lambda typed: self._form(
                "/admin/pos/locations/new", displayName=typed, country="GB", line1=typed
            ),
        }

    def search(self, typed: str) -> int:
        answer = self.admin.client.get("/admin/pos/transactions", query_string={"q": typed}, base_url=self.admin.base)
        return self._seen(answer.status_code, answer.text)

    def _call(self, path: str, body: dict[str, object]) -> int:
        answer = self.agent.call("POST", path, body)
        return self._seen(answer.status_code, answer.text)

    def _close(self, typed: str) -> int:
        body = {"countedCash": 0, "closingNote": typed}
        answer = self.agent.api.call("POST", "/v1/pos/sessions/current/close", body)
        return self._seen(answer.status_code, answer.text)

    def _form(self, path: str, **form: str) -> int:
        sent = {"csrf_token": self.admin.token} | form
        answer = self.admin.client.post(path, data=sent, base_url=self.admin.base)
        return self._seen(answer.status_code, answer.text)

    def _seen(self, status: int, body: str) -> int:
        self.bodies.append(body)
        return status


@pytest.fixture
def desk(app: Flask, agent: TillClient, processor: FakeProcessor) -> Desk:
    return Desk(app, agent, processor)


def stored(app: Flask) -> str:
    """Everything that the database holds, as one text."""
    with app.app_context():
        tables = inspect(db.engine).get_table_names()
        rows = [tuple(row) for table in tables for row in db.session.execute(text(f'SELECT * FROM "{table}"'))]
    return json.dumps(rows, default=str, ensure_ascii=False)


def shows(where: str, number: str, typed: str) -> bool:
    plain = plain_digits(unicodedata.normalize("NFKC", where))
    return typed in where or number in plain or number in plain.replace(" ", "").replace("-", "").replace(".", "")


def test_no_input_takes_a_cards_number_and_none_is_stored_or_logged(
    app: Flask, desk: Desk, logged: Callable[[], str], processor: FakeProcessor, clock: StoppedClock
) -> None:
    made, turns = processor.made("create_intent"), cycle(desk.inputs.items())
    for number, typed in TYPED:
        name, put = next(turns)
        clock.move(seconds=4)  # So many would be too many for the till's limits.
        assert put(typed) in (400, 422), f"{name}: {typed}"
        repeats = shows(desk.bodies[-1], number, typed)
        assert not repeats or name.startswith("name"), f"{name} repeats {typed}"  # What is no secret stays in its form.
    for number, typed in TYPED[::10]:
        assert desk.search(typed) == 200 and not shows(desk.bodies[-1], number, typed)
    everything, written = stored(app), logged()
    assert written, "something was logged"
    for number, typed in TYPED:
        assert not shows(everything, number, typed) and not shows(written, number, typed)
    assert processor.made("create_intent") == made and processor.made("refund") == 0


CARD = "4000 0566 5566 5556"


@pytest.mark.parametrize("name", ["deviceId", "deviceName"])
def test_no_device_is_named_after_a_card(app: Flask, agent: TillClient, name: str) -> None:
    answer = agent.api.sign_in(AGENT, PASSWORD, audience="pos", **{name: f"Till {CARD}"})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (400, f"#/{name}")
    assert CARD not in answer.text and CARD not in stored(app)


def test_a_random_id_of_a_device_is_none_of_a_card(agent: TillClient) -> None:
    device = "42424242-4242-4242-8000-0123456789ab"
    assert names_card(device)
    assert agent.api.sign_in(AGENT, PASSWORD, audience="pos", deviceId=device).status_code == 200


def test_of_a_program_named_after_a_card_and_of_keys_nothing_is_stored(app: Flask, agent: TillClient) -> None:
    user = {"email": AGENT, "password": PASSWORD, "audience": "pos"}
    agent.api.call("POST", "/v1/auth/login", user, headers={"User-Agent": f"Till {CARD}"})
    first, again = agent.create(CARD), agent.create(CARD)
    assert (first.json["id"], again.headers["Idempotent-Replayed"]) == (again.json["id"], "true")
    payment = agent.capture(_tapped(agent, first.json["id"])).json["transactionId"]
    refund = {"reason": "Broken", "amountInPence": 100}
    headers = {"Idempotency-Key": CARD}
    statuses = {agent.call("POST", f"transactions/{payment}/refunds", refund, headers=headers).status_code}
    assert statuses <= {201, 403} and CARD not in stored(app)


def _tapped(agent: TillClient, intent_id: str) -> str:
    agent.processor.tap(intent_id)
    return intent_id
