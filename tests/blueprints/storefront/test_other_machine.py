"""What one machine saves the other serves within two seconds, on the pages that it had drawn before."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from app.adapters.whoosh import WhooshEngine
from app.blueprints.storefront.blueprint import LISTING_CACHE, PAGE_CACHE
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node
from app.domain.relevance import synonyms
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.author import Author
from app.extensions import db
from app.ports import Ports
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import BROWSER, FROM_AFAR
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.ready_app import application

Save = Callable[[Callable[[], object]], None]


@pytest.fixture
def other(app: Flask, site_id: int, clock: StoppedClock) -> Iterator[Flask]:
    """The application of another machine on the same database. Both have one index, as that of a server is."""
    config = app.config["SHOP"]
    made = application(config, Ports(WhooshEngine(config.index_dir), clock, RecordingQueue()))
    yield made
    with made.app_context():
        db.session.remove()
        db.engine.dispose()


@pytest.fixture
def shown(other: Flask, clock: StoppedClock) -> Callable[[str], str]:
    """The text of a page of the other machine."""
    client = other.test_client()
    client.environ_base |= {"REMOTE_ADDR": FROM_AFAR, "HTTP_USER_AGENT": BROWSER}
    return lambda path: client.get(path, base_url="http://shop.test").text


@pytest.fixture
def save(app: Flask, clock: StoppedClock) -> Save:
    """Saves on the first machine, in a process of its own: a process knows at once what it saved itself. Then two
    seconds pass."""

    def save_there(change: Callable[[], object]) -> None:
        with app.app_context():
            db.session.remove()
        process = multiprocessing.get_context("fork").Process(target=_run, args=(app, change))
        process.start()
        process.join(60)
        assert process.exitcode == 0
        clock.move(seconds=2)

    return save_there


def _run(app: Flask, change: Callable[[], object]) -> None:
    with app.app_context():
        db.engine.dispose(close=False)
        change()


def test_a_synonym(shown: Callable[[str], str], save: Save, site_id: int, clock: StoppedClock) -> None:
    def add_synonym() -> None:
        with transaction():
            group = SynonymGroup(SynonymType.EQUIVALENT, None, ("bivouac", "tent"))
            synonyms.add(Author(site_id, "Mia", clock), group)

    assert "Search tips" in shown("/search?q=bivouac")
    save(add_synonym)
    assert "Search tips" not in shown("/search?q=bivouac")


def test_a_category(shown: Callable[[str], str], save: Save, site_id: int) -> None:
    def rename() -> None:
        with transaction():
            db.session.query(Node).filter_by(site_id=site_id, name="Camping").one().name = "Under the stars"

    assert "Under the stars" not in shown("/") + shown("/c/camping")
    save(rename)
    assert "Under the stars" in shown("/") and "Under the stars" in shown("/c/camping")


def test_a_cached_listing_is_each_machines_own_and_drawn_anew_once_the_index_changed(
    app: Flask, other: Flask, get: Get, shown: Callable[[str], str], save: Save, site_id: int
) -> None:
    def rename() -> None:
        with transaction():
            db.session.query(Product).filter_by(site_id=site_id, seo_name="tent-9").one().name = "Renamed tent"
        small_shop.index(site_id)

    assert "Fell tent 9" in shown("/c/gifts")
    held = [[len(each.extensions[cache]) for cache in (LISTING_CACHE, PAGE_CACHE)] for each in (app, other)]
    assert held[0] == [0, 0] and held[1][1] > 0, "the first machine drew nothing"
    save(rename)
    assert "Renamed tent" in shown("/c/gifts") and "Renamed tent" in get("/c/gifts").text
