"""Baskets over the API."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.blueprints.v1.baskets import BasketShape
from app.domain.orders.models import Order
from app.domain.pos.models import PosAgent
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient, Signed
from tests.domain.orders.till import pay_by_card
from tests.factories import make_agent, make_location, make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.statements import statements

MUGS = [{"skuCode": "MUG", "quantity": 2}]


@pytest.fixture
def till(app: Flask, site_id: int, signed_in: Signed) -> ApiClient:
    """An agent's phone at the stall of a shop that sells a mug and a kettle."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        change_settings(site_id, {"posEnabled": True})
        make_product(site, "MUG", name="Mug", price=500)
        make_product(site, "KETTLE", name="Kettle", price=2_000, stock=3)
        user = db.session.query(User).filter_by(email="pos_agent@shop.test").one()
        make_agent(site, user, make_location(site, "tml_stall"))
        make_location(site, "tml_hall")
    return signed_in(Role.POS_AGENT, audience="pos")


@pytest.fixture
def described_body(app: Flask) -> dict[str, Any]:
    description = app.test_client().get("/v1/openapi.json").json
    found: dict[str, Any] = description["paths"]["/v1/basket"]["post"]["requestBody"]
    return found


def begin(till: ApiClient, **body: object) -> dict[str, Any]:
    answer = till.call("POST", "/v1/basket", {"locationId": "tml_stall", "lines": MUGS} | body)
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"/v1/basket/{answer.json['id']}"
    assert not BasketShape().validate(answer.json)
    return answer.json


def pay(app: Flask, clock: StoppedClock, basket: dict[str, Any]) -> None:
    with app.app_context():
        pay_by_card(clock, basket["id"], basket["total"])


def refused(answer: Any) -> tuple[int, str]:
    assert answer.mimetype == "application/problem+json"
    return answer.status_code, answer.json["code"]


def change_agent(app: Flask, **changes: object) -> None:
    with app.app_context(), transaction():
        agent = db.session.query(PosAgent).one()
        for name, value in changes.items():
            setattr(agent, name, value)


def test_an_agent_who_may_takes_something_off_and_no_more_than_the_goods_come_to(app: Flask, till: ApiClient) -> None:
    assert refused(till.call("POST", "/v1/basket", {"lines": MUGS, "discount": 100})) == (
        403,
        "discounts_not_permitted",
    )
    change_agent(app, can_discount=True)
    basket = begin(till, discount=100)
    assert [basket[name] for name in ("subtotal", "discount", "total")] == [1_000, 100, 900]
    address = f"/v1/basket/{basket['id']}"
    beyond = till.call("PUT", address, {"lines": MUGS, "revision": 1, "discount": 1_001})
    assert refused(beyond) == (422, "discount_exceeds_subtotal") and beyond.json["maxDiscount"] == 1_000
    assert till.call("GET", address).json == basket
    changed = till.call("PUT", address, {"lines": MUGS, "revision": 1}).json
    assert [changed[name] for name in ("discount", "total")] == [0, 1_000]
    for wrong in (-1, 1.5, "1", True):
        assert till.call("PUT", address, {"lines": MUGS, "revision": 2, "discount": wrong}).status_code == 400


def test_a_basket_is_begun_read_changed_and_says_what_it_costs(till: ApiClient) -> None:
    basket = begin(till)
    assert {name: basket[name] for name in ("orderNumber", "status", "currency", "channel", "locationId")} == {
        "orderNumber": "1", "status": "OPEN", "currency": "gbp", "channel": "POS", "locationId": "tml_stall",
    }  # fmt: skip
    assert [basket[name] for name in ("subtotal", "discount", "tax", "total", "revision")] == [1_000, 0, 0, 1_000, 1]
    [line] = basket["lines"]
    assert line | {"id": ""} == {
        "id": "", "skuCode": "MUG", "name": "Mug", "options": {}, "quantity": 2, "unitPrice": 500, "lineTotal": 1_000,
    }  # fmt: skip
    assert till.call("GET", f"/v1/basket/{basket['id']}").json == basket
    lines = [{"skuCode": "KETTLE", "quantity": 1}]
    changed = till.call("PUT", f"/v1/basket/{basket['id']}", {"lines": lines, "revision": 1})
    assert (changed.status_code, changed.json["total"], changed.json["revision"]) == (200, 2_000, 2)


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/json"}])
def test_without_a_body_an_empty_basket_is_begun_as_the_description_says(
    till: ApiClient, described_body: dict[str, Any], headers: dict[str, str]
) -> None:
    assert described_body["required"] is False
    answer = till.call("POST", "/v1/basket", headers=headers)
    assert answer.status_code == 201, answer.text
    assert [answer.json[name] for name in ("lines", "channel", "locationId", "total")] == [[], "POS", None, 0]
    assert not BasketShape().validate(answer.json)
    filled = till.call("PUT", f"/v1/basket/{answer.json['id']}", {"lines": MUGS, "revision": 1})
    assert filled.json["total"] == 1_000
    for body in ("null", "[]"):
        sent = till.call("POST", "/v1/basket", data=body, headers={"Content-Type": "application/json"})
        assert refused(sent) == (400, "invalid")
    lines = till.call(
        "POST", "/v1/basket", data="lines=1", headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert refused(lines) == (415, "unsupported_media_type")


def test_other_bodies_that_are_missing_are_refused_by_what_they_lack(till: ApiClient) -> None:
    basket = begin(till)
    for method, path, missing in (
        ("PUT", "", {"#/lines", "#/revision"}),
        ("POST", "/paymentIntent", {"#/locationId"}),
    ):
        answer = till.call(method, f"/v1/basket/{basket['id']}{path}")
        assert refused(answer) == (400, "invalid")
        assert {one["pointer"] for one in answer.json["errors"]} == missing


def test_a_stale_change_is_refused_with_the_current_revision(till: ApiClient) -> None:
    basket = begin(till)
    address = f"/v1/basket/{basket['id']}"
    assert till.call("PUT", address, {"lines": [], "revision": 1}).status_code == 200
    answer = till.call("PUT", address, {"lines": MUGS, "revision": 1})
    assert refused(answer) == (409, "stale_revision") and answer.json["currentRevision"] == 2


@pytest.mark.parametrize(
    ("line", "status", "code", "pointer"),
    [
        ({"skuCode": "MUG", "quantity": 0}, 400, "invalid", "#/lines/1/quantity"),
        ({"skuCode": "MUG", "quantity": 1000}, 400, "invalid", "#/lines/1/quantity"),
        ({"skuCode": "MUG", "quantity": 1.5}, 400, "invalid", "#/lines/1/quantity"),
        ({"skuCode": "MUG", "quantity": "2"}, 400, "invalid", "#/lines/1/quantity"),
        ({"skuCode": "MUG", "quantity": True}, 400, "invalid", "#/lines/1/quantity"),
        ({"skuCode": "MUG"}, 400, "invalid", "#/lines/1/quantity"),
        ({"skuCode": "MUG", "quantity": 1, "unitPrice": 1}, 400, "invalid", "#/lines/1/unitPrice"),
        ({"skuCode": "CUP", "quantity": 1}, 400, "invalid", "#/lines/1/skuCode"),
        ({"skuCode": "", "quantity": 1}, 400, "invalid", "#/lines/1/skuCode"),
        ({"skuCode": "KETTLE", "quantity": 4}, 409, "out_of_stock", "#/lines/1/quantity"),
    ],
)
def test_a_line_that_cannot_be_is_refused_by_its_place(
    app: Flask, till: ApiClient, line: dict[str, object], status: int, code: str, pointer: str
) -> None:
    basket = begin(till)
    bodies = [("POST", "/v1/basket", {}), ("PUT", f"/v1/basket/{basket['id']}", {"revision": 1})]
    for method, path, more in bodies:
        answer = till.call(method, path, {"lines": [*MUGS, line]} | more)
        assert refused(answer) == (status, code)
        assert [problem["pointer"] for problem in answer.json["errors"]] == [pointer]
    assert till.call("GET", f"/v1/basket/{basket['id']}").json == basket


def test_a_paid_basket_is_submitted_once_and_stays_as_it_is(app: Flask, till: ApiClient, clock: StoppedClock) -> None:
    basket = begin(till, lines=[{"skuCode": "KETTLE", "quantity": 2}])
    address = f"/v1/basket/{basket['id']}"
    assert refused(till.call("PUT", f"{address}/submit", {})) == (409, "payment_required")
    pay(app, clock, basket)
    assert refused(till.call("PUT", address, {"lines": MUGS, "revision": 1})) == (409, "basket_locked")
    assert till.call("GET", address).json["paymentState"] == "PAID"
    for body in ({}, None, {"paymentIntentId": None}):
        answer = till.call("PUT", f"{address}/submit", body)
        assert (answer.status_code, answer.json) == (
            200,
            {"orderId": basket["id"], "orderNumber": "1", "status": "SUBMITTED"},
        )
    unknown = till.call("PUT", f"{address}/submit", {"paymentIntentId": "pi_none"})
    assert refused(unknown) == (404, "payment_intent_not_found")
    assert refused(till.call("PUT", address, {"lines": [], "revision": 2})) == (409, "basket_submitted")
    assert till.call("GET", address).json["status"] == "SUBMITTED"


def test_an_agent_needs_permission_and_a_till(app: Flask, till: ApiClient) -> None:
    basket = begin(till)
    address = f"/v1/basket/{basket['id']}"
    body = {"lines": MUGS}
    assert refused(till.call("POST", "/v1/basket", body | {"locationId": "tml_hall"})) == (
        403,
        "location_access_denied",
    )
    assert refused(till.call("POST", "/v1/basket", body | {"locationId": "none"})) == (404, "location_not_found")
    change_agent(app, can_build_orders=False)
    for method, path, sent in (
        ("POST", "/v1/basket", body),
        ("GET", address, None),
        ("PUT", address, {"lines": [], "revision": 1}),
        ("PUT", f"{address}/submit", {}),
    ):
        assert refused(till.call(method, path, sent)) == (403, "orders_not_permitted")


def test_admins_use_every_basket_and_merchandisers_none(till: ApiClient, signed_in: Signed) -> None:
    basket = begin(till)
    merchandiser, admin = signed_in(Role.MERCHANDISER), signed_in(Role.ADMIN)
    assert refused(merchandiser.call("GET", f"/v1/basket/{basket['id']}")) == (403, "pos_role_required")
    assert refused(merchandiser.call("POST", "/v1/basket", {"lines": MUGS})) == (403, "pos_role_required")
    assert admin.call("GET", f"/v1/basket/{basket['id']}").json == basket
    own = admin.call("POST", "/v1/basket", {"lines": MUGS, "channel": "WEB"}).json
    assert refused(till.call("GET", f"/v1/basket/{own['id']}")) == (403, "basket_access_denied")


def test_nobody_has_a_basket_without_a_token_or_at_another_shop(
    app: Flask, till: ApiClient, stranger: ApiClient, signed_in: Signed
) -> None:
    basket = begin(till)
    assert refused(stranger.call("POST", "/v1/basket", {"lines": MUGS})) == (401, "token_invalid")
    with app.app_context(), transaction():
        db.session.query(Order).one().site_id = make_site("other.test").id
    assert refused(till.call("GET", f"/v1/basket/{basket['id']}")) == (404, "not_found")


def test_a_large_basket_costs_few_statements(app: Flask, till: ApiClient) -> None:
    with app.app_context(), transaction():
        site = db.session.query(Site).one()
        skus = [make_product(site).sku for _ in range(50)]
    lines = [{"skuCode": sku, "quantity": 1} for sku in skus]
    basket = begin(till, lines=lines)
    with statements(app) as seen:
        till.call("PUT", f"/v1/basket/{basket['id']}", {"lines": lines[::-1], "revision": 1})
    assert len(seen) <= 30, len(seen)
    too_many = till.call("POST", "/v1/basket", {"lines": [*lines, *MUGS]})
    assert too_many.status_code == 400
