"""A shop with two agents at a fair, an admin who is none, and a till that takes payments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.domain.pos.models import PosAgent, PosTransaction
from app.domain.sites import accounts
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.v1.conftest import ApiClient
from tests.factories import PASSWORD, make_agent, make_location, make_site, make_user
from tests.fakes.payment_processor import FakeProcessor

AGENT, OTHER_AGENT, ADMIN = "pos_agent@shop.test", "other_agent@shop.test", "admin@shop.test"
FAIR, SHOP, ELSEWHERE = "tml_fair", "tml_shop", "tml_elsewhere"
PAYMENT = {"amountInPence": 1_250, "currency": "gbp"}


@dataclass
class TillClient:
    """An app at a till."""

    api: ApiClient
    processor: FakeProcessor
    location: str = FAIR

    def call(self, method: str, path: str, body: object = None, **more: Any) -> TestResponse:
        return self.api.call(method, f"/v1/pos/{self.location}/{path}", body, **more)

    def create(self, key: str | None = None, **body: object) -> TestResponse:
        headers = {"Idempotency-Key": key} if key else {}
        return self.call("POST", "paymentIntents", PAYMENT | body, headers=headers)

    def began(self, **body: object) -> str:
        """The id of the intent of a new payment."""
        answer = self.create(**body)
        assert answer.status_code == 201, answer.text
        found: str = answer.json["id"]
        return found

    def capture(self, intent_id: str) -> TestResponse:
        return self.call("POST", f"paymentIntents/{intent_id}/capture")

    def cancel(self, intent_id: str, **body: object) -> TestResponse:
        return self.call("POST", f"paymentIntents/{intent_id}/cancel", body or None)

    def read(self, intent_id: str) -> TestResponse:
        return self.call("GET", f"paymentIntents/{intent_id}")

    def list(self, **query: object) -> TestResponse:
        return self.call("GET", "transactions", query_string=query)


Tills = Callable[..., TillClient]


@pytest.fixture
def fair(app: Flask, site_id: int) -> int:
    """The site, whose agents work at the fair."""
    with app.app_context(), transaction():
        site = db.session.get(Site, site_id)
        change_settings(site_id, {"posEnabled": True})
        place = make_location(site, FAIR)
        make_location(site, SHOP)
        make_location(make_site("other.localhost", "Other"), ELSEWHERE)
        make_agent(site, accounts.get_user(AGENT), place)
        make_agent(site, make_user(site, Role.POS_AGENT, email=OTHER_AGENT), place)
    return site_id


@pytest.fixture
def till(app: Flask, fair: int, processor: FakeProcessor) -> Tills:
    """An app in which a user signed in."""

    def opened(email: str = AGENT, location: str = FAIR, audience: str = "pos") -> TillClient:
        client = ApiClient(app.test_client())
        answer = client.sign_in(email, PASSWORD, audience=audience)
        assert answer.status_code == 200, answer.text
        return TillClient(client, processor, location)

    return opened


@pytest.fixture
def agent(till: Tills) -> TillClient:
    return till()


@pytest.fixture
def set_agent(app: Flask, fair: int) -> Callable[..., None]:
    def changed(**values: object) -> None:
        with app.app_context(), transaction():
            user = accounts.get_user(AGENT)
            db.session.query(PosAgent).filter_by(user_id=user.id).update(values)

    return changed


@pytest.fixture
def set_site(app: Flask, fair: int) -> Callable[..., None]:
    def changed(**values: object) -> None:
        with app.app_context(), transaction():
            change_settings(fair, values)

    return changed


def stored_payments(app: Flask) -> list[PosTransaction]:
    with app.app_context():
        found = db.session.query(PosTransaction).order_by(PosTransaction.created_at).all()
        db.session.expunge_all()
        return found


def problem(answer: TestResponse) -> tuple[int, str]:
    assert answer.content_type == "application/problem+json", answer.text
    assert answer.json["type"] == f"/problems/{answer.json['code'].replace('_', '-')}"
    return answer.status_code, answer.json["code"]
