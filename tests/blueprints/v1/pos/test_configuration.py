"""What a till's app learns of the shop, the location and its user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from flask import Flask

from app.adapters.simulator import Simulator
from app.domain.pos.models import PosLocation
from app.domain.pos.simulator import CARDS
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import ADMIN, ELSEWHERE, FAIR, SHOP, TillClient, Tills, problem
from tests.fakes.clock import StoppedClock
from tests.statements import statements

Change = Callable[..., None]
NOTHING = {"quickPayments": False, "orders": False, "refunds": False, "cash": False, "cashMovements": False}


def permissions(till: TillClient) -> set[str]:
    held = till.call("GET", "configuration").json["permissions"]
    assert held.keys() == NOTHING.keys()
    return {name for name, may in held.items() if may}


def test_an_app_learns_what_it_may_offer(agent: TillClient) -> None:
    answer = agent.call("GET", "configuration")
    assert answer.status_code == 200
    address = {"line1": "", "line2": "", "city": "", "state": "", "postalCode": "", "country": "GB"}
    assert answer.json == {
        "shopName": "Fern & Fell",
        "locationId": FAIR,
        "displayName": answer.json["displayName"],
        "address": address,
        "currency": "gbp",
        "timeZone": "Europe/London",
        "processor": agent.processor.name,
        "live": False,
        "simulatedCards": [],
        "takesPayments": True,
        "quickPayments": True,
        "maxAmountInPence": 100_000,
        "minAmountInPence": 30,
        "cash": True,
        "cashRounding": 0,
        "tips": False,
        "unlockRequired": True,
        "hasPrinter": False,
        "permissions": {
            "quickPayments": True, "orders": True, "refunds": False, "cash": True, "cashMovements": False,
        },
    }  # fmt: skip


def test_the_settings_of_the_shop_are_among_it(agent: TillClient, set_site: Change) -> None:
    set_site(posCashRounding=5, posTipsEnabled=True, posUnlockRequired=False)
    set_site(posAllowCash=False, posAllowQuickPayments=False)
    found = agent.call("GET", "configuration").json
    shown = [found[name] for name in ("cashRounding", "tips", "unlockRequired", "cash", "quickPayments")]
    assert shown == [5, True, False, False, False]
    assert permissions(agent) == {"orders"}, "what the shop does not take, nobody may take"


def test_the_lower_limit_holds(agent: TillClient, set_agent: Change, set_site: Change) -> None:
    set_agent(max_transaction_amount=5_000)
    assert agent.call("GET", "configuration").json["maxAmountInPence"] == 5_000
    set_site(posMaxTransactionAmount=4_000)
    assert agent.call("GET", "configuration").json["maxAmountInPence"] == 4_000


def test_the_permissions_are_the_agents(agent: TillClient, set_agent: Change) -> None:
    set_agent(can_process_quick_payments=False, can_build_orders=False, can_refund=True, can_take_cash=False)
    assert permissions(agent) == {"refunds"}
    set_agent(can_move_cash=True)
    assert permissions(agent) == {"refunds", "cashMovements"}


def test_an_admin_who_is_no_agent_takes_no_payments(till: Tills) -> None:
    admin = till(ADMIN)
    assert permissions(admin) == {"orders", "refunds", "cashMovements"}
    assert problem(admin.create()) == (403, "agent_required")


@pytest.mark.parametrize("closed", ["the shop", "the location"])
def test_a_till_that_takes_no_payments_says_so(app: Flask, agent: TillClient, set_site: Change, closed: str) -> None:
    if closed == "the shop":
        set_site(posEnabled=False)
    else:
        with app.app_context(), transaction():
            db.session.query(PosLocation).filter_by(location_id=FAIR).one().enabled = False
    assert agent.call("GET", "configuration").json["takesPayments"] is False
    assert problem(agent.create()) == (403, "pos_disabled")


def test_the_cards_of_the_simulator_are_listed_only_with_it(app: Flask, agent: TillClient, clock: StoppedClock) -> None:
    simulator = Simulator(clock, b"the secret of simulated events, 32 bytes")
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=simulator)
    found = agent.call("GET", "configuration").json
    assert (found["processor"], found["live"], found["simulatedCards"]) == ("simulator", False, list(CARDS))


@pytest.mark.parametrize(
    ("location", "refusal"),
    [
        (SHOP, (403, "location_access_denied")),
        (ELSEWHERE, (404, "location_not_found")),
        ("tml_none", (404, "location_not_found")),
    ],
)
def test_an_agent_reads_only_where_they_work(till: Tills, location: str, refusal: tuple[int, str]) -> None:
    assert problem(till(location=location).call("GET", "configuration")) == refusal


def test_it_costs_few_statements(app: Flask, agent: TillClient) -> None:
    agent.call("GET", "configuration")
    with statements(app) as seen:
        agent.call("GET", "configuration")
    assert len(seen) <= 12, seen
