"""Receipts on a network printer: what tills send, and what becomes of it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.adapters.receipt_printer import NetworkPrinter
from app.domain.pos.models import PosLocation
from app.domain.pos.receipt_printer import LARGEST_JOB, PrinterAddress, PrinterReach
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import FAIR, SHOP, TillClient, Tills, problem
from tests.fakes.receipt_printer import Printer, network_printer

HELLO = b"\x1b@Hello\n"
SetUp = Callable[[str], None]


@pytest.fixture
def set_up(app: Flask, fair: int) -> SetUp:
    """Sets the printer of the fair."""

    def changed(address: str) -> None:
        with app.app_context(), transaction():
            db.session.query(PosLocation).filter_by(location_id=FAIR).one().printer_address = address

    return changed


@pytest.fixture
def printer(app: Flask, set_up: SetUp) -> Iterator[Printer]:
    reach = PrinterReach(includes_server=True)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], receipt_printer=NetworkPrinter(reach, timeout=0.3))
    with network_printer() as made:
        set_up(made.address)
        yield made


def print_job(till: TillClient, data: bytes = HELLO) -> TestResponse:
    return till.call("POST", "printJobs", {"data": base64.b64encode(data).decode()})


def test_a_receipt_is_printed(agent: TillClient, printer: Printer) -> None:
    answer = print_job(agent)
    assert (answer.status_code, answer.data) == (204, b"")
    assert printer.next_job() == HELLO
    assert agent.call("GET", "configuration").json["hasPrinter"] is True


def test_the_largest_receipt_is_printed_and_no_larger_one(agent: TillClient, printer: Printer) -> None:
    largest = b"x" * LARGEST_JOB
    assert print_job(agent, largest).status_code == 204
    assert printer.next_job() == largest
    refused = print_job(agent, largest + b"x")
    assert (*problem(refused), refused.json["maxBytes"]) == (422, "print_job_too_large", LARGEST_JOB)
    assert problem(print_job(agent, b"x" * 250_000))[0] == 413
    assert printer.connections == 1


def test_where_no_printer_is_set_up_the_answer_says_so(agent: TillClient) -> None:
    assert problem(print_job(agent)) == (409, "printer_not_set_up")
    assert agent.call("GET", "configuration").json["hasPrinter"] is False


def test_a_printer_that_is_off_is_named_as_the_cause(agent: TillClient, printer: Printer, set_up: SetUp) -> None:
    set_up("127.0.0.1:1")
    answer = print_job(agent)
    assert (*problem(answer), answer.json["title"]) == (502, "printer_unavailable", "The printer cannot be reached")


def test_a_printer_that_takes_nothing_may_have_printed_a_part(agent: TillClient, printer: Printer) -> None:
    printer.is_stuck = True
    assert problem(print_job(agent, b"x" * LARGEST_JOB)) == (504, "printer_timeout")


def test_no_connection_to_the_database_is_held_while_printing(app: Flask, agent: TillClient, set_up: SetUp) -> None:
    held: list[bool] = []

    class Watching:
        def send(self, address: PrinterAddress, data: bytes) -> None:
            held.append(db.session().in_transaction())

    set_up("printer.example:9100")
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], receipt_printer=Watching())
    assert print_job(agent).status_code == 204
    assert held == [False]


@pytest.mark.parametrize("data", ["", "!", "abc", "aGVsbG8", "aGVs bG8=", "aGVsbG8=\n=", "é", "aGVs-_8="])
def test_what_is_no_base64_is_refused(agent: TillClient, printer: Printer, data: str) -> None:
    answer = agent.call("POST", "printJobs", {"data": data})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (400, "#/data")
    assert printer.connections == 0


@pytest.mark.parametrize("body", [{}, {"data": 5}, {"data": None}, {"data": "aGk=", "host": "127.0.0.1"}, [], "x"])
def test_what_is_no_print_job_is_refused(agent: TillClient, printer: Printer, body: object) -> None:
    assert agent.call("POST", "printJobs", body).status_code == 400
    assert printer.connections == 0


def test_receipts_are_printed_while_the_shop_takes_no_payments(
    agent: TillClient, printer: Printer, set_site: Callable[..., None]
) -> None:
    set_site(posEnabled=False)
    assert print_job(agent).status_code == 204


def test_an_agent_prints_only_where_they_work(till: Tills, printer: Printer) -> None:
    assert problem(print_job(till(location=SHOP))) == (403, "location_access_denied")
    assert problem(print_job(till(location="tml_elsewhere"))) == (404, "location_not_found")


def test_a_till_prints_so_often_a_minute(agent: TillClient, set_up: SetUp) -> None:
    assert {print_job(agent).status_code for _ in range(60)} == {409}
    assert problem(print_job(agent)) == (429, "rate_limited")
