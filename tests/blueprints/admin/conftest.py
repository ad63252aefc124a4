"""A shop with people of every role, and browsers for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.domain.sites.accounts import Role
from app.transaction import transaction
from tests.factories import make_site, make_user
from tests.page_client import PageClient
from tests.snapshots import built

SignedIn = Callable[..., PageClient]


@pytest.fixture
def site_id(app: Flask) -> int:
    return built(app, _site_with_staff)


def _site_with_staff() -> int:
    with transaction():
        site = make_site()
        for role in Role:
            make_user(site, role, email=f"{role.value.lower()}@shop.test", name=f"The {role.value.title()}")
        return site.id


@pytest.fixture
def signed_in(app: Flask, site_id: int) -> SignedIn:
    """A browser signed in as somebody of a role."""

    def browser(role: Role = Role.MERCHANDISER, host: str = "localhost") -> PageClient:
        return PageClient(app, host).signed_in(f"{role.value.lower()}@shop.test")

    return browser
