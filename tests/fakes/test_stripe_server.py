"""The local server refuses what Stripe refuses, or the tests against it would prove nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest
from stripe.params import PaymentIntentCreateParams, PaymentIntentListParams
from stripe.params.terminal import LocationCreateParams

from tests.fakes.clock import StoppedClock
from tests.fakes.stripe_ledger import Refusal
from tests.fakes.stripe_parameters import check, form
from tests.fakes.stripe_server import SECRET_KEY, StripeServer, stripe_server

GOOD = {
    "Authorization": f"Bearer {SECRET_KEY}",
    "Stripe-Version": "2026-10-28.endive",
    "Idempotency-Key": "create-1",
    "Content-Type": "application/x-www-form-urlencoded",
}


@pytest.fixture
def server(clock: StoppedClock) -> Iterator[StripeServer]:
    with stripe_server(clock.now) as running:
        yield running


def post(server: StripeServer, path: str = "/v1/payment_intents", **headers: str | None) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", server.server_port)
    sent = {
        name: value for name, value in (GOOD | {n.replace("_", "-"): v for n, v in headers.items()}).items() if value
    }
    connection.request("POST", path, "amount=500&currency=gbp", sent)
    response = connection.getresponse()
    status, body = response.status, json.loads(response.read())
    connection.close()
    return status, body


def test_a_form_is_read_as_nested_values() -> None:
    assert form("a=1&b[c]=2&b[d][0]=x&b[d][1]=y&e[f][g]=%C2%A3") == {
        "a": "1",
        "b": {"c": "2", "d": ["x", "y"]},
        "e": {"f": {"g": "£"}},
    }
    assert form("") == {}


@pytest.mark.parametrize(
    ("parameters", "sent", "code", "param"),
    [
        (PaymentIntentCreateParams, "amount=500&currency=gbp&colour=red", "parameter_unknown", "colour"),
        (
            PaymentIntentCreateParams,
            "amount=500&currency=gbp&payment_method_types[0]=card_present",
            "parameter_unknown",
            "payment_method_types",
        ),
        (PaymentIntentCreateParams, "amount=500&currency=gbp&api_key=x", "parameter_unknown", "api_key"),
        (PaymentIntentCreateParams, "currency=gbp", "parameter_missing", "amount"),
        (PaymentIntentCreateParams, "amount=5.00&currency=gbp", "parameter_invalid", "amount"),
        (PaymentIntentCreateParams, "amount=500&currency=gbp&confirm=yes", "parameter_invalid", "confirm"),
        (PaymentIntentCreateParams, "amount=500&currency=gbp&metadata=x", "parameter_invalid", "metadata"),
        (PaymentIntentCreateParams, "amount=500&currency=gbp&expand=latest_charge", "parameter_invalid", "expand"),
        (PaymentIntentListParams, "created[since]=1", "parameter_unknown", "created[since]"),
        (PaymentIntentListParams, "created[gte]=now", "parameter_invalid", "created[gte]"),
        (LocationCreateParams, "address[city]=London", "parameter_missing", "address[country]"),
        (
            LocationCreateParams,
            "address[country]=GB&address[postalCode]=E1",
            "parameter_unknown",
            "address[postalCode]",
        ),
    ],
)
def test_parameters_are_those_of_the_sdk(parameters: type, sent: str, code: str, param: str) -> None:
    with pytest.raises(Refusal) as refused:
        check(form(sent), parameters)
    assert (refused.value.error["code"], refused.value.error["param"]) == (code, param)


def test_what_the_sdk_names_is_taken() -> None:
    check(form("amount=500&currency=gbp&confirm=true&metadata[a]=b&expand[0]=latest_charge"), PaymentIntentCreateParams)
    check(form("created=17"), PaymentIntentListParams)
    check(form("created[gte]=1&created[lt]=2&limit=100"), PaymentIntentListParams)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Authorization": "Bearer another"}, 401),
        ({"Authorization": None}, 401),
        ({"Stripe_Version": "2019-01-01"}, 400),
        ({"Idempotency_Key": None}, 400),
        ({"Idempotency_Key": "k" * 256}, 400),
        ({"Content_Type": "application/json"}, 400),
        ({"Stripe_Account": "acct_mine"}, 200),
        ({"Stripe_Account": "acct_foreign"}, 403),
        ({"path": "/v1/payment_intent"}, 404),
    ],
)
def test_a_request_needs_its_headers(server: StripeServer, headers: dict[str, str | None], status: int) -> None:
    assert post(server, **headers)[0] == status  # type: ignore[arg-type]


def test_events_are_delivered_until_they_are_taken(server: StripeServer) -> None:
    post(server)
    post(server, Idempotency_Key="create-2")
    assert server.deliver(lambda raw, headers: 500) == [500, 500]
    assert server.deliver(lambda raw, headers: 200) == [200, 200]
    assert server.deliver(lambda raw, headers: 200) == []
