"""Of some work a site has one at a time, also when several request it at once."""

from __future__ import annotations

import threading

import pytest
from flask import Flask
from sqlalchemy import func, select

from app.domain.seo.models import SiteCheck, SitemapBuild
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.work.leases import insert_alone, join_or_create
from app.domain.work.models import LeasedWork, requested_now
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site
from tests.waiting import wait_until_one_waits

pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.concurrent]


@pytest.fixture
def author(clock: Clock) -> Author:
    with transaction():
        return Author(make_site("shop.test").id, "Mia Moss", clock)


@pytest.mark.parametrize("model", [SitemapBuild, SiteCheck])
class TestOneAtATime:
    def test_the_database_allows_one_that_is_unfinished(self, model: type[LeasedWork], author: Author) -> None:
        with transaction():
            join_or_create(model, author)
            assert not insert_alone(model(**requested_now(author)))
        with transaction():
            db.session.scalars(select(model)).one().state = "done"
        with transaction():
            assert insert_alone(model(**requested_now(author)))
        assert db.session.scalar(select(func.count()).select_from(model)) == 2

    def test_another_site_has_its_own(self, model: type[LeasedWork], author: Author) -> None:
        with transaction():
            other = Author(make_site("other.test").id, "Mia Moss", author.clock)
            assert [join_or_create(model, each)[1] for each in (author, other, author)] == [True, True, False]

    def test_who_requests_at_the_same_moment_joins(self, app: Flask, model: type[LeasedWork], author: Author) -> None:
        joined: list[tuple[str, bool]] = []

        def request() -> None:
            with app.app_context(), transaction():
                work, is_new = join_or_create(model, author)
                joined.append((work.id, is_new))

        other = threading.Thread(target=request)
        with transaction():
            work, is_new = join_or_create(model, author)
            other.start()
            wait_until_one_waits()
        other.join()
        assert is_new and joined == [(work.id, False)]
