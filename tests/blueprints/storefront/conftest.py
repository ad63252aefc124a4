"""A small shop, and a shopper who looks at it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.landing import MUCH, Rules, changing
from tests.blueprints.storefront.shopper import BROWSER, FROM_AFAR
from tests.fakes.clock import StoppedClock
from tests.snapshots import built

Get = Callable[..., TestResponse]


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, small_shop.build)


@pytest.fixture
def get(app: Flask, site_id: int) -> Get:
    """Asks the small shop for a path; other hosts and headers by name."""
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": FROM_AFAR, "HTTP_USER_AGENT": BROWSER}

    def get(path: str, host: str = "shop.test", **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client.get(path, base_url=f"http://{host}", headers=named)

    return get


@pytest.fixture
def change(app: Flask, site_id: int, clock: StoppedClock) -> Rules:
    return changing(app, site_id, clock)


@pytest.fixture
def brands(change: Rules) -> None:
    """A page for each manufacturer with enough products."""
    change(None, default_landing_rules=[{"facetId": "manufacturer", "overrides": [MUCH]}])
