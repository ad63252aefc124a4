"""A client that openapi-python-client makes of the committed description works against the shop."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import openapi_python_client
import pytest
from flask import Flask
from openapi_python_client.config import Config, ConfigFile, MetaType

from app.adapters.simulator import Simulator
from app.domain.pos.processor import AccountRef
from app.domain.pos.simulator import CARDS, Tap
from app.ports import EXTENSION, payment_processor
from tests.architecture.role_matrix import Principal
from tests.architecture.shop_for_routes import Shops, build_shops, email_of
from tests.factories import PASSWORD
from tests.fakes.clock import StoppedClock
from tests.snapshots import built
from tests.surroundings import ROOT

PACKAGE = "client_of_the_shop"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Made once, as people make it: from the file, to a folder."""
    folder = tmp_path_factory.mktemp("client")
    _generate(ROOT / "docs" / "openapi.json", folder / PACKAGE)
    sys.path.insert(0, str(folder))
    yield importlib.import_module(PACKAGE)
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE]:
        del sys.modules[name]


def _generate(description: Path, folder: Path) -> None:
    config = Config.from_sources(
        ConfigFile(post_hooks=[]), MetaType.NONE, description, "utf-8", overwrite=False, output_path=folder
    )
    faults = openapi_python_client.generate(config=config)
    # A body of plain text, which logout takes as well, is all that it cannot send.
    assert [fault.header for fault in faults] == ["WARNING parsing POST /v1/auth/logout within tokens."]


@pytest.fixture
def shops(app: Flask, clock: StoppedClock) -> Shops:
    simulator = Simulator(clock, b"a secret of the simulator")
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=simulator)
    return built(app, build_shops)


@pytest.fixture
def client(app: Flask, package: ModuleType) -> Any:
    """Of somebody who has not signed in."""
    return package.Client(base_url="http://localhost", httpx_args={"transport": httpx.WSGITransport(app=app)})


@pytest.fixture
def agent(app: Flask, shops: Shops, package: ModuleType, client: Any) -> Any:
    """A client that carries the token of an agent."""
    body = _model("LoginBody")(email=email_of(Principal.POS_AGENT), password=PASSWORD)
    tokens = _call("tokens", "login", client=client, body=body)
    return package.AuthenticatedClient(
        base_url="http://localhost", token=tokens.token, httpx_args={"transport": httpx.WSGITransport(app=app)}
    )


def _call(tag: str, name: str, **arguments: Any) -> Any:
    return importlib.import_module(f"{PACKAGE}.api.{tag}.{name}").sync(**arguments)


def _model(name: str) -> Any:
    return getattr(importlib.import_module(f"{PACKAGE}.models"), name)


def test_anybody_reads_products(shops: Shops, client: Any) -> None:
    found = _call("catalogue", "search_products", client=client)
    assert found.total_items == len(found.items) > 0
    first = _call("catalogue", "get_product", sku_code=found.items[0].sku_code, client=client)
    assert first.sku_code == found.items[0].sku_code


def test_an_agent_takes_a_payment(app: Flask, shops: Shops, agent: Any) -> None:
    place = shops.own["location_id"]
    assert _call("pos", "get_current_pos_agent", client=agent).enabled
    wanted = _model("CreatePosPaymentIntent")(amount_in_pence=1_250, description="Two mugs")
    arguments = {"location_id": place, "client": agent, "body": wanted, "idempotency_key": "sale-1"}
    intent = _call("pos", "create_pos_payment_intent", **arguments)
    assert (intent.status.value, intent.amount) == ("requires_payment_method", 1_250)
    assert _call("pos", "create_pos_payment_intent", **arguments).id == intent.id

    with app.app_context():
        payment_processor().present(AccountRef(), intent.id, intent.client_secret, Tap(CARDS["visa"]))  # type: ignore[attr-defined]
    captured = _call("pos", "capture_pos_payment_intent", location_id=place, payment_intent_id=intent.id, client=agent)
    assert (captured.status.value, captured.transaction.card_last_4) == ("succeeded", "4242")
    newest = _call("pos", "list_pos_transactions", location_id=place, client=agent).items[0]
    assert (newest.id, newest.status.value, newest.amount_in_pence) == (captured.transaction_id, "SUCCEEDED", 1_250)


def test_a_problem_arrives_as_one(shops: Shops, agent: Any) -> None:
    wanted = _model("CreatePosPaymentIntent")(amount_in_pence=90_000_000)
    problem = _call("pos", "create_pos_payment_intent", location_id=shops.own["location_id"], client=agent, body=wanted)
    assert (problem.status, problem.code, problem.max_amount_in_pence) == (422, "amount_exceeds_limit", 100_000)
