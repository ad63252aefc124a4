"""A sale at a till over the API: basket, card, order."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.catalogue.models import Product
from app.domain.orders.models import Order
from app.domain.pos.models import PosAgent, PosLocation, PosTransaction
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs import events
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient, Signed
from tests.examples import examples
from tests.factories import make_agent, make_location, make_product, make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.payment_processor import MISCONFIGURED, TIMEOUT_AFTER, FakeProcessor

PRICES = {"MUG": 500, "KETTLE": 2_000, "TENT": 9_999}
HERE = {"locationId": "tml_stall"}
SKUS = st.sampled_from(sorted(PRICES))
LINES = st.dictionaries(SKUS, st.integers(1, 9), min_size=1)


@pytest.fixture
def till(app: Flask, site_id: int, signed_in: Signed, processor: FakeProcessor) -> ApiClient:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        change_settings(site_id, {"posEnabled": True, "posMaxTransactionAmount": 99_999_999})
        for sku, price in PRICES.items():
            make_product(site, sku, price=price, stock=None if sku == "MUG" else 50)
        stall = make_location(site, "tml_stall")
        make_location(site, "tml_hall")
        for role in (Role.POS_AGENT, Role.ADMIN):
            email = f"{role.value.lower()}@shop.test"
            make_agent(site, db.session.query(User).filter_by(email=email).one(), stall)
    return signed_in(Role.POS_AGENT, audience="pos")


def begin(till: ApiClient, lines: dict[str, int]) -> dict[str, Any]:
    sent = [{"skuCode": sku, "quantity": quantity} for sku, quantity in lines.items()]
    answer = till.call("POST", "/v1/basket", {"lines": sent} | HERE)
    assert answer.status_code == 201, answer.text
    return answer.json


def pay(till: ApiClient, basket: dict[str, Any], **more: Any) -> Any:
    return till.call("POST", f"/v1/basket/{basket['id']}/paymentIntent", HERE, **more)


def submit(till: ApiClient, basket: dict[str, Any], **body: str) -> Any:
    return till.call("PUT", f"/v1/basket/{basket['id']}/submit", body)


def refused(answer: Any) -> tuple[int, str]:
    assert answer.mimetype == "application/problem+json", answer.text
    return answer.status_code, answer.json["code"]


def change(app: Flask, model: Any, **changes: object) -> None:
    with app.app_context(), transaction():
        for found in db.session.query(model):
            for name, value in changes.items():
                setattr(found, name, value)


def stored(app: Flask) -> list[tuple[str, int, int]]:
    with app.app_context():
        orders = db.session.query(Order).order_by(Order.number)
        return [(order.status, order.total, order.paid_amount) for order in orders]


def test_a_sale_from_the_basket_to_the_order(app: Flask, till: ApiClient, processor: FakeProcessor) -> None:
    basket = begin(till, {"KETTLE": 2, "MUG": 1})
    begun = pay(till, basket)
    assert (begun.status_code, begun.json["amount"], begun.json["currency"]) == (201, 4_500, "gbp")
    assert begun.headers["Location"] == f"/v1/pos/tml_stall/paymentIntents/{begun.json['id']}"
    processor.tap(begun.json["id"])
    captured = till.call("POST", f"/v1/pos/tml_stall/paymentIntents/{begun.json['id']}/capture")
    shown = captured.json["transaction"]
    assert (shown["transactionType"], shown["orderId"], shown["orderNumber"]) == ("ORDER_PAYMENT", basket["id"], "1")
    placed = submit(till, basket, paymentIntentId=begun.json["id"])
    assert (placed.status_code, placed.json["orderNumber"], placed.json["status"]) == (200, "1", "SUBMITTED")
    with app.app_context():
        events.deliver()
    assert stored(app) == [("COLLECTED", 4_500, 4_500)] and list(processor.ledger().values()) == [4_500]


def test_a_card_that_paid_unnoticed_is_noticed_by_the_submission(till: ApiClient, processor: FakeProcessor) -> None:
    basket = begin(till, {"KETTLE": 1})
    intent_id = pay(till, basket).json["id"]
    assert refused(submit(till, basket)) == (409, "payment_required")
    processor.tap(intent_id)
    processor.fail("retrieve_intent", MISCONFIGURED)
    assert refused(submit(till, basket)) == (409, "payment_required"), "the processor did not say"
    assert submit(till, basket).status_code == 200


def test_the_price_of_the_moment_of_payment_is_paid_and_stays(
    app: Flask, till: ApiClient, processor: FakeProcessor
) -> None:
    basket = begin(till, {"KETTLE": 1})
    change(app, Product, price=2_100)
    begun = pay(till, basket).json
    change(app, Product, price=9_900)
    assert begun["amount"] == 2_100
    assert till.call("GET", f"/v1/basket/{basket['id']}").json["total"] == 2_100
    processor.tap(begun["id"])
    assert submit(till, basket).status_code == 200
    assert stored(app) == [("SUBMITTED", 2_100, 2_100)]


def test_one_payment_at_a_time_and_its_end_opens_the_basket_again(till: ApiClient, processor: FakeProcessor) -> None:
    basket = begin(till, {"KETTLE": 1})
    first = pay(till, basket).json
    second = pay(till, basket)
    assert refused(second) == (409, "payment_in_progress") and second.json["paymentIntentId"] == first["id"]
    body = {"lines": [], "revision": 1}
    assert refused(till.call("PUT", f"/v1/basket/{basket['id']}", body)) == (409, "basket_locked")
    till.call("POST", f"/v1/pos/tml_stall/paymentIntents/{first['id']}/cancel")
    assert till.call("PUT", f"/v1/basket/{basket['id']}", body).status_code == 200
    assert refused(pay(till, basket)) == (409, "basket_empty")


def test_the_same_key_begins_one_payment(till: ApiClient, processor: FakeProcessor) -> None:
    basket, key = begin(till, {"KETTLE": 1}), {"Idempotency-Key": "sale-1"}
    processor.fail("create_intent", TIMEOUT_AFTER)
    assert refused(pay(till, basket, headers=key)) == (504, "processor_timeout")
    again = pay(till, basket, headers=key)
    assert again.status_code == 201 and again.headers["Idempotent-Replayed"] == "true"
    assert len(processor.intents()) == 1


def test_nothing_that_is_sold_out_or_above_the_agents_limit_is_charged(
    app: Flask, till: ApiClient, processor: FakeProcessor
) -> None:
    basket = begin(till, {"KETTLE": 2, "MUG": 1})
    change(app, Product, stock=1)
    out = pay(till, basket)
    assert refused(out) == (409, "out_of_stock")
    assert [problem["pointer"] for problem in out.json["errors"]] == ["#/lines/0/quantity"]
    change(app, Product, stock=9)
    change(app, PosAgent, max_transaction_amount=4_499)
    over = pay(till, basket)
    assert refused(over) == (422, "amount_exceeds_limit") and over.json["limitSource"] == "AGENT"
    assert processor.calls == [] and till.call("GET", f"/v1/basket/{basket['id']}").json["paymentState"] == "NONE"


def test_who_may_not_take_orders_here_charges_nothing(app: Flask, till: ApiClient, processor: FakeProcessor) -> None:
    basket = begin(till, {"KETTLE": 1})
    path = f"/v1/basket/{basket['id']}/paymentIntent"
    assert refused(till.call("POST", path, {"locationId": "tml_hall"})) == (403, "location_access_denied")
    assert refused(till.call("POST", path, {"locationId": "none"})) == (404, "location_not_found")
    assert refused(till.call("POST", path, {})) == (400, "invalid")
    assert refused(till.call("POST", path, HERE | {"total": 1})) == (400, "invalid"), "the shop says what it comes to"
    change(app, PosAgent, can_build_orders=False)
    assert refused(pay(till, basket)) == (403, "orders_not_permitted")
    with app.app_context(), transaction():
        change_settings(1, {"posEnabled": False})
    assert refused(pay(till, basket)) == (403, "pos_disabled")
    assert processor.calls == []


def test_a_colleague_goes_on_with_the_basket_of_a_broken_phone(
    app: Flask, till: ApiClient, signed_in: Signed, processor: FakeProcessor
) -> None:
    basket = begin(till, {"KETTLE": 1})
    colleague = signed_in(Role.ADMIN)
    begun = pay(colleague, basket)
    assert begun.status_code == 201
    processor.tap(begun.json["id"])
    assert submit(colleague, basket).status_code == 200
    with app.app_context():
        [payment] = db.session.query(PosTransaction)
        assert payment.agent.display_name == "The Admin"


def colleague(app: Flask) -> ApiClient:
    """Another agent at the stall."""
    with app.app_context(), transaction():
        site, stall = (
            db.session.query(Site).one(),
            db.session.query(PosLocation).filter_by(location_id="tml_stall").one(),
        )
        make_agent(site, make_user(site, Role.POS_AGENT, email="bea@shop.test", name="Bea"), stall)
    other = ApiClient(app.test_client())
    assert other.sign_in("bea@shop.test", audience="pos").status_code == 200
    return other


def test_a_colleague_learns_that_the_basket_is_being_paid_and_then_that_it_was(
    app: Flask, till: ApiClient, processor: FakeProcessor
) -> None:
    """Whoever heard that there is no such order would ring the sale up again."""
    basket, other = begin(till, {"KETTLE": 1}), colleague(app)
    first = pay(till, basket).json
    second = pay(other, basket)
    assert refused(second) == (409, "payment_in_progress") and second.json["paymentIntentId"] == first["id"]
    change(app, PosTransaction, status="UNKNOWN")
    assert refused(pay(other, basket)) == (409, "outcome_unknown")
    change(app, PosTransaction, status="PENDING")
    processor.tap(first["id"])
    till.call("POST", f"/v1/pos/tml_stall/paymentIntents/{first['id']}/capture")
    assert refused(pay(other, basket)) == (409, "order_already_paid")
    assert submit(other, basket).status_code == 200
    assert refused(pay(other, basket)) == (409, "order_already_paid")


def test_a_payment_that_names_a_colleagues_basket_itself_finds_none(
    app: Flask, till: ApiClient, processor: FakeProcessor
) -> None:
    """Only the address of the basket hands it over."""
    basket, other = begin(till, {"KETTLE": 1}), colleague(app)
    body = {"amountInPence": 2_000, "orderId": basket["id"]}
    answer = other.call("POST", "/v1/pos/tml_stall/paymentIntents", body)
    assert refused(answer) == (404, "order_not_found") and processor.calls == []


def test_baskets_and_submissions_have_a_limit_a_minute(till: ApiClient, processor: FakeProcessor) -> None:
    """A submission asks the processor."""
    basket = begin(till, {"MUG": 1})
    answers = [submit(till, basket) for _ in range(61)]
    assert ({refused(answer) for answer in answers[:60]}, refused(answers[60])) == (
        {(409, "payment_required")},
        (429, "rate_limited"),
    )
    empty = {"lines": [], "revision": 0}
    changes = [till.call("PUT", f"/v1/basket/{basket['id']}", empty) for _ in range(120)]
    assert [refused(answer) for answer in changes[-2:]] == [(409, "stale_revision"), (429, "rate_limited")]
    assert refused(till.call("POST", "/v1/basket", {"lines": []} | HERE)) == (429, "rate_limited")


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    sale=st.lists(LINES, min_size=1, max_size=3),
    repriced=st.dictionaries(SKUS, st.integers(30, 50_000)),
)
def test_what_is_charged_is_the_sum_of_the_catalogues_prices(
    app: Flask,
    till: ApiClient,
    processor: FakeProcessor,
    clock: StoppedClock,
    sale: list[dict[str, int]],
    repriced: dict[str, int],
) -> None:
    """Whatever was in the basket before, and whatever it cost then."""
    clock.move(seconds=60)
    till.sign_in("pos_agent@shop.test", audience="pos")
    with app.app_context(), transaction():
        for sku, price in PRICES.items():
            product = db.session.query(Product).filter_by(sku=sku).one()
            product.price, product.stock = price, None
    basket = begin(till, sale[0])
    for revision, lines in enumerate(sale[1:], 1):
        sent = [{"skuCode": sku, "quantity": quantity} for sku, quantity in lines.items()]
        body = {"lines": sent, "revision": revision}
        assert till.call("PUT", f"/v1/basket/{basket['id']}", body).status_code == 200
    with app.app_context(), transaction():
        for sku, price in repriced.items():
            db.session.query(Product).filter_by(sku=sku).one().price = price
    now = PRICES | repriced
    expected = sum(now[sku] * quantity for sku, quantity in sale[-1].items())
    begun = pay(till, basket).json
    processor.tap(begun["id"])
    assert submit(till, basket, paymentIntentId=begun["id"]).status_code == 200
    assert (begun["amount"], processor.ledger()[begun["transactionId"]]) == (expected, expected)
    with app.app_context():
        order = db.session.get_one(Order, basket["id"])
        assert order.paid_amount == order.total == expected
