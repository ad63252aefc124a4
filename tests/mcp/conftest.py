"""A shop with people and products, and the agents that act for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_site, make_user
from tests.mcp.agent import Agent, token_for


@pytest.fixture
def site_id(app: Flask) -> int:
    with app.app_context(), transaction():
        return make_site().id


@pytest.fixture
def agent_of(app: Flask, site_id: int) -> Callable[..., Agent]:
    """Make an agent for a new user of the shop with some roles."""

    def make(*roles: Role) -> Agent:
        with app.app_context():
            site = db.session.get_one(Site, site_id)
            with transaction():
                user = make_user(site, *roles)
            return Agent(app, token_for(app, user, site))

    return make


@pytest.fixture
def agent(agent_of: Callable[..., Agent]) -> Agent:
    """An agent for a merchandiser."""
    return agent_of(Role.MERCHANDISER)


@pytest.fixture
def mug(app: Flask, site_id: int) -> int:
    """The id of the product MUG-01."""
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        return make_product(site, "MUG-01", name="Stone mug", search_terms=["beaker"]).id
