"""A shop with people of every role, and programs that call its API."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.domain.sites.accounts import Role
from app.transaction import transaction
from tests.factories import PASSWORD, make_site, make_user
from tests.snapshots import built

LOGIN, REFRESH, LOGOUT = "/v1/auth/login", "/v1/auth/refresh", "/v1/auth/logout"
WEBHOOK = "/v1/webhooks/processor"


@dataclass
class ApiClient:
    """A program; once it signed in it sends its token with every call."""

    client: FlaskClient
    host: str = "localhost"
    tokens: dict[str, Any] = field(default_factory=dict)

    def call(self, method: str, path: str, body: object = None, token: str | None = None, **more: Any) -> TestResponse:
        sent = token if token is not None else self.tokens.get("token")
        headers = more.pop("headers", {}) | ({"Authorization": f"Bearer {sent}"} if sent else {})
        json = {} if body is None else {"json": body}
        return self.client.open(path, method=method, headers=headers, base_url=f"http://{self.host}", **json, **more)

    def sign_in(self, email: str, password: str = PASSWORD, **more: str) -> TestResponse:
        answer = self.call("POST", LOGIN, {"email": email, "password": password} | more)
        if answer.status_code == 200:
            self.tokens = answer.json
        return answer

    def refresh(self, refresh_token: str | None = None, **more: str) -> TestResponse:
        body = {"refreshToken": refresh_token or self.tokens["refreshToken"]} | more
        return self.call("POST", REFRESH, body)


Signed = Callable[..., ApiClient]


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, _site_with_staff)


def _site_with_staff() -> int:
    with transaction():
        site = make_site()
        for role in Role:
            make_user(site, role, email=f"{role.value.lower()}@shop.test", name=f"The {role.value.title()}")
        make_user(site, email="nobody@shop.test", name="No Role")
        return site.id


@pytest.fixture
def stranger(app: Flask, site_id: int) -> ApiClient:
    """A program that has not signed in."""
    return ApiClient(app.test_client())


@pytest.fixture
def signed_in(app: Flask, site_id: int) -> Signed:
    """A program that signed in for somebody of a role."""

    def program(role: Role = Role.MERCHANDISER, **more: str) -> ApiClient:
        client = ApiClient(app.test_client())
        answer = client.sign_in(f"{role.value.lower()}@shop.test", **more)
        assert answer.status_code == 200, answer.text
        return client

    return program
