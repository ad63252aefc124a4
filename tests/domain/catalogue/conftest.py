from __future__ import annotations

import pytest

from app.domain.sites.models import Domain, Site
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock


def make_site(clock: StoppedClock, host: str) -> int:
    with transaction():
        site = Site(name=host, created_at=clock.now(), domains=[Domain(host=host, primary=True)])
        db.session.add(site)
        db.session.flush()
        return site.id


@pytest.fixture
def site_id(context: None, clock: StoppedClock) -> int:
    return make_site(clock, "shop.test")


@pytest.fixture
def other_site_id(context: None, clock: StoppedClock) -> int:
    return make_site(clock, "other.test")
