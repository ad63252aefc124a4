"""The search analytics of the shop that grows."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import select

from app import ports
from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site, User
from app.extensions import db
from app.transaction import transaction
from bench.analytics import PAGES, count_days
from bench.measuring import milliseconds
from bench.scale.stock import HOST
from tests.factories import make_user
from tests.page_client import PageClient

EMAIL = "everyone@scale.test"
ROUNDS = 3


def report_milliseconds(app: Flask) -> list[float]:
    """Milliseconds of the pages of the analytics, with searches of 90 days that are counted once."""
    with app.app_context():
        count_searches()
    client = PageClient(app, HOST).signed_in(EMAIL)
    paths = [path for _, path in PAGES]
    for path in paths:
        client.client.get(path, base_url=client.base)
    return milliseconds(lambda path: client.client.get(path, base_url=client.base), paths * ROUNDS)


def count_searches() -> int:
    """Add a user of every role and counted searches where there are none; return the site."""
    site = db.session.scalars(select(Site)).one()
    site_id = site.id
    if not db.session.scalar(select(User.id).where(User.email == EMAIL)):
        with transaction():
            make_user(site, *Role, email=EMAIL)
    today = site_today(ports.clock(), site_id)
    if not db.session.scalar(select(SearchDay.day).where(SearchDay.site_id == site_id).limit(1)):
        count_days(site_id, today)
        with transaction():
            rolling_sums.advance(site_id, today)
    return site_id
