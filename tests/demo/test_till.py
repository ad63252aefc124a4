"""The demo shop's till takes payments as soon as it is there."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.adapters.simulator import Simulator
from app.demo.shop import BUNDLE, HOST
from app.domain.bundles.importer import import_bundle
from app.ports import EXTENSION, images
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient
from tests.fakes.clock import StoppedClock

PASSWORD = "demo-password-1"
STALL = "/v1/pos/tml_demo_market"


@pytest.fixture
def demo(app: Flask, clock: StoppedClock, tmp_path: Path) -> Flask:
    """The demo shop's people and till, without its products, which take a while."""
    folder = tmp_path / "demo"
    folder.mkdir()
    for name in ("site.json", "users.json", "pos.json"):
        shutil.copy(BUNDLE / name, folder)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], payment_processor=Simulator(clock, b"a secret"))
    with app.app_context():
        report = import_bundle(folder, HOST, clock, images(), transaction, "The tests", 8)
        assert report.refused_in_all == 0
    return app


def test_its_agent_takes_a_payment(demo: Flask) -> None:
    program = ApiClient(demo.test_client())
    signed_in = program.sign_in("agent@demo.test", PASSWORD, audience="pos")
    assert [place["id"] for place in signed_in.json["locations"]] == ["tml_demo_market"]
    assert program.call("POST", f"{STALL}/connectionToken").json["secret"].startswith("pst_sim_")
    intent = program.call("POST", f"{STALL}/paymentIntents", {"amountInPence": 1_250, "currency": "gbp"}).json
    token = program.call("GET", f"{STALL}/paymentToken").json["token"]
    card = {"clientSecret": intent["clientSecret"], "card": "visa"}
    shown = program.call("POST", f"/v1/pos/simulator/paymentIntents/{intent['id']}/present", card, token)
    assert shown.json["status"] == "succeeded"
    captured = program.call("POST", f"{STALL}/paymentIntents/{intent['id']}/capture")
    assert captured.json["amountReceived"] == 1_250
    assert program.call("GET", f"{STALL}/transactions").json["items"][0]["status"] == "SUCCEEDED"
