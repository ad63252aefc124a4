"""An app sends the sales in cash that it made without a network."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from app.blueprints.v1.pos_offline import LARGEST_BODY, OfflineSalesShape
from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.extensions import db
from app.ports import STORES
from app.transaction import transaction
from tests.blueprints.v1.pos.conftest import ADMIN, ELSEWHERE, SHOP, TillClient, Tills, problem, stored_payments
from tests.blueprints.v1.test_rubbish import JSON
from tests.examples import examples
from tests.factories import make_product
from tests.fakes.rate_limits import NoRateLimits

SOLD_AT = "2026-11-20T11:00:00Z"
MUG = {"skuCode": "MUG", "quantity": 2, "unitPriceInPence": 500}


@pytest.fixture
def mugs(app: Flask, fair: int) -> None:
    with app.app_context(), transaction():
        make_product(db.session.get_one(Site, fair), "MUG", name="Mug", price=500, stock=3)


def sale(**more: object) -> dict[str, Any]:
    return {"clientSaleId": str(uuid.uuid4()), "soldAt": SOLD_AT, "lines": [MUG]} | more


def send(till: TillClient, body: object) -> TestResponse:
    return till.call("POST", "offlineSales", body)


def answered(till: TillClient, *sales: object) -> list[dict[str, Any]]:
    answer = send(till, {"sales": sales})
    assert answer.status_code == 200, answer.text
    assert not OfflineSalesShape().validate(answer.json)
    items: list[dict[str, Any]] = answer.json["items"]
    return items


def test_sales_are_answered_in_the_order_in_which_they_were_sent(mugs: None, agent: TillClient) -> None:
    sold, old, unreadable = sale(), sale(soldAt="2026-11-13T11:59:59Z"), sale(lines=[])
    first, again, refused, broken, short = answered(agent, sold, sold, old, unreadable, sale())
    made = {"orderId": first["orderId"], "transactionId": first["transactionId"]}
    assert first == {"clientSaleId": sold["clientSaleId"], "result": "ACCEPTED", "notes": []} | made
    assert again == first | {"result": "DUPLICATE"}
    assert refused == {
        "clientSaleId": old["clientSaleId"],
        "result": "REFUSED",
        "notes": [],
        "problem": {"code": "sale_too_old", "detail": "This sale is older than 7 days. Enter it by hand."},
    }
    assert broken["problem"] == {"code": "invalid_sale", "detail": "#/lines: There is nothing in this sale."}
    assert short["notes"] == [{"code": "out_of_stock", "detail": "Not in stock: 1 of 2 × Mug (MUG)."}]


def test_an_accepted_sale_is_listed_at_its_time(mugs: None, agent: TillClient) -> None:
    sold = sale(tenderedInPence=2_000)
    [accepted] = answered(agent, sold)
    [listed] = agent.list().json["items"]
    assert (listed["id"], listed["created"]) == (accepted["transactionId"], SOLD_AT)
    assert (listed["tenderType"], listed["clientSaleId"]) == ("CASH", sold["clientSaleId"])
    assert (listed["amountInPence"], listed["changeInPence"], listed["orderNumber"]) == (1_000, 1_000, "1")


def test_a_colleague_who_sends_the_same_sale_books_it_no_second_time(mugs: None, till: Tills) -> None:
    sold = sale()
    [first], [second] = answered(till(), sold), answered(till("other_agent@shop.test"), sold)
    assert (first["result"], second["result"]) == ("ACCEPTED", "DUPLICATE")
    assert second["transactionId"] == first["transactionId"]


@pytest.mark.parametrize(
    "body",
    [None, [], {}, {"sales": None}, {"sales": {}}, {"sales": [], "note": ""}, {"sales": [None] * 101}],
    ids=["no body", "list", "empty", "null", "object", "unknown field", "101 sales"],
)
def test_a_broken_envelope_is_refused_whole(app: Flask, mugs: None, agent: TillClient, body: Any) -> None:
    answer = send(agent, body)
    assert problem(answer) == (400, "invalid")
    assert stored_payments(app) == []


def test_an_empty_list_books_nothing(mugs: None, agent: TillClient) -> None:
    assert answered(agent) == []


def test_a_hundred_sales_of_fifty_lines_fit_into_a_body(mugs: None, agent: TillClient) -> None:
    line = {"skuCode": "X" * 64, "quantity": 99, "unitPriceInPence": 99_999_999}
    largest = [sale(lines=[line] * 50, note="é" * 500, tenderedInPence=99_999_999)] * 100
    assert {item["problem"]["code"] for item in answered(agent, *largest)} == {"invalid_sale"}
    assert problem(send(agent, {"sales": ["x" * LARGEST_BODY]})) == (413, "request_entity_too_large")


def test_the_shop_and_the_agent_must_allow_it(mugs: None, till: Tills, set_site, set_agent) -> None:
    agent, body = till(), {"sales": [sale()]}
    assert problem(send(till(ADMIN), body)) == (403, "agent_required")
    assert problem(send(till(location=SHOP), body)) == (403, "location_access_denied")
    assert problem(send(till(location=ELSEWHERE), body)) == (404, "location_not_found")
    assert problem(send(till(audience="api"), {"sales": 1})) == (400, "invalid"), "the body before the permission"
    set_agent(can_build_orders=False)
    assert problem(send(agent, body)) == (403, "orders_not_permitted")
    set_agent(can_take_cash=False)
    assert problem(send(agent, body)) == (403, "cash_not_permitted")
    set_site(posAllowCash=False)
    assert problem(send(agent, body)) == (403, "cash_disabled")
    set_site(posEnabled=False)
    assert problem(send(agent, body)) == (403, "pos_disabled")


def test_thirty_requests_a_minute_are_answered(mugs: None, agent: TillClient) -> None:
    assert [send(agent, {"sales": []}).status_code for _ in range(31)] == [200] * 30 + [429]


def test_rubbish_refuses_itself_alone(app: Flask, mugs: None, agent: TillClient) -> None:
    """Whatever stands beside it, a sound sale is booked; and no rubbish is."""
    app.extensions[STORES] = replace(app.extensions[STORES], memory=NoRateLimits())
    with app.app_context(), transaction():
        db.session.query(Product).one().stock = None
    names = st.sampled_from(sorted((*sale(), "note", "tenderedInPence", "total")))
    mutation = st.tuples(names, JSON)

    @settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(rubbish=JSON, mutations=st.lists(mutation, max_size=3))
    def sent(rubbish: Any, mutations: list[tuple[str, Any]]) -> None:
        sound, mutated = sale(), sale() | dict(mutations)
        items = answered(agent, rubbish, mutated, sound)
        assert items[0]["result"] == "REFUSED"
        assert items[1]["result"] == "ACCEPTED" or items[1]["problem"]["code"] in (
            "invalid_sale", "unknown_sku", "sale_in_future", "sale_too_old",
        )  # fmt: skip
        assert items[2]["result"] == "ACCEPTED"

    sent()
