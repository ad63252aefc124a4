"""Every operation answers as its description says, whatever is sent: requests made from the description, some sound
and some not, by schemathesis."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from app.adapters.simulator import Simulator
from app.blueprints.v1.api import parameter_name
from app.domain.catalogue.models import Collection, Product
from app.domain.orders.models import OrderNumbers
from app.domain.pos.models import PosTransaction
from app.domain.pos.processor import AccountRef, IntentRequest
from app.domain.pos.simulator import CARDS, Tap
from app.extensions import db
from app.ports import EXTENSION, STORES
from app.transaction import transaction
from tests.architecture.role_matrix import Principal
from tests.architecture.shop_for_routes import COMMON, Shops, bearer_of, build_shops
from tests.fakes.clock import StoppedClock
from tests.fakes.rate_limits import NoRateLimits
from tests.snapshots import built
from tests.surroundings import ROOT

GENERATION = {"with-security-parameters": False}  # Tokens are those of the callers.


def _with_flat_trees(description: dict[str, Any]) -> dict[str, Any]:
    """Trees that are sent have levels below levels, and none below those: to make up deep ones takes ten seconds, and
    tests/domain/taxonomy makes up its own. What is answered is described as before."""
    schemas = description["components"]["schemas"]
    level = schemas["Level"]
    for name, below in (("Leaf", {"type": "array", "maxItems": 0}), ("Branch", _list_of("Leaf"))):
        schemas[name] = level | {"properties": level["properties"] | {"children": below}}
    schemas["StructureBody"]["properties"]["rootLevels"] |= _list_of("Branch")
    return description


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


DESCRIPTION = schemathesis.openapi.from_dict(
    _with_flat_trees(json.loads((ROOT / "docs" / "openapi.json").read_text())),
    config=SchemathesisConfig.from_dict({"seed": 1, "generation": GENERATION}),
)
OPERATIONS = {
    operation.definition.raw["operationId"]: operation
    for operation in (result.ok() for result in DESCRIPTION.get_all_operations())
}
SECRET = b"a secret of the simulator"
OF_READERS = "presentSimulatedCard"
LOGOUT = "logout"  # Takes any body.
TRIMMING = ("createTaxonomy", "saveTaxonomyStructure")  # Texts are measured without the spaces around them.
ITEM_BY_ITEM = "bookPosOfflineSales"  # What breaks the description in an item is said in that item's answer.
TRIES = 4  # Of each kind of request, of which there are six.
Check = Any
CHECKS: list[Check] = [
    status_code_conformance,  # No operation names 500 among its answers.
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture
def shops(app: Flask, clock: StoppedClock) -> Shops:
    """With the simulator as payment processor, and no limit to how often."""
    app.config["WTF_CSRF_ENABLED"] = False
    ports = app.extensions[EXTENSION]
    app.extensions[EXTENSION] = replace(ports, payment_processor=Simulator(clock, SECRET))
    app.extensions[STORES] = replace(app.extensions[STORES], memory=NoRateLimits())
    return built(app, _shops_that_sell)


def _shops_that_sell() -> Shops:
    """New orders get numbers that those of the shop do not have, and the processor knows the payment at the till."""
    shops = build_shops()
    wanted = IntentRequest(1_250, "gbp", metadata={"transactionId": shops.own["transaction_id"]})
    simulator = Simulator(StoppedClock(), SECRET)
    intent = simulator.create_intent(AccountRef(), wanted, "key")
    simulator.present(AccountRef(), intent.id, intent.client_secret or "", Tap(CARDS["visa"]))
    with transaction():
        db.session.add(OrderNumbers(site_id=int(shops.own["site_id"]), next=10_000))
        payment = db.session.get_one(PosTransaction, shops.own["transaction_id"])
        payment.processor, payment.processor_account_id, payment.processor_intent_id = "simulator", "", intent.id
    shops.own["payment_intent_id"] = intent.id
    return shops


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_answers_as_it_is_described(app: Flask, shops: Shops, name: str) -> None:
    _try(app, shops, name, TRIES)


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_answers_as_it_is_described_however_long_one_tries(app: Flask, shops: Shops, name: str) -> None:
    _try(app, shops, name, 200)


def _try(app: Flask, shops: Shops, name: str, times: int) -> None:
    """By callers of different roles, about records that there are as well as such that are made up."""
    operation = OPERATIONS[name]
    known = _known(app, shops)
    path = {one.name: known[one.name] for one in operation.path_parameters}

    def tried(mode: GenerationMode, principal: Principal, *more: Check, **parameters: Any) -> None:
        cases = operation.as_strategy(mode, **parameters)
        _call(app, cases, _bearer(app, name, principal, known), times, [*CHECKS, *more])

    for principal in (Principal.ADMIN, Principal.POS_AGENT):
        tried(GenerationMode.POSITIVE, principal, path_parameters=path)
    for principal in (Principal.ADMIN, Principal.ANYBODY):
        tried(GenerationMode.POSITIVE, principal)
    if name != LOGOUT and (operation.body or operation.query or operation.headers):
        refused = () if name in (*TRIMMING, ITEM_BY_ITEM) else (negative_data_rejection,)
        for principal in (Principal.ADMIN, Principal.POS_AGENT):
            tried(GenerationMode.NEGATIVE, principal, *refused, path_parameters=path)


def _bearer(app: Flask, name: str, principal: Principal, known: dict[str, str]) -> dict[str, str]:
    """The header of a caller; of their card reader, for what only that may call."""
    bearer = bearer_of(app, principal)
    if name != OF_READERS or not bearer:
        return bearer
    token = app.test_client().get(f"/v1/pos/{known['locationId']}/paymentToken", headers=bearer).json["token"]
    return {"Authorization": f"Bearer {token}"}


def _known(app: Flask, shops: Shops) -> dict[str, str]:
    """What parameters of paths may be, by name."""
    with app.app_context():
        product, collection = db.session.query(Product).first(), db.session.query(Collection).first()
        assert product and collection
        return {parameter_name(name): value for name, value in (COMMON | shops.own).items()} | {
            "skuCode": product.sku,
            "seoName": collection.seo_name,
        }


def _call(app: Flask, cases: st.SearchStrategy[Case], bearer: dict[str, str], times: int, checks: list[Check]) -> None:
    @settings(max_examples=times, derandomize=True, deadline=None, database=None, suppress_health_check=HealthCheck)
    @given(cases)
    def answers(case: Case) -> None:
        answer = case.call(app=app, base_url="http://localhost", headers=bearer)
        case.validate_response(answer, checks=checks)

    answers()
