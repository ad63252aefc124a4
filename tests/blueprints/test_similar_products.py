"""What lies near a search in meaning, as shoppers and merchandisers see it, beside the few results of the words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import unescape
from threading import Event, current_thread

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.adapters.whoosh import WhooshEngine
from app.blueprints.storefront.rate_limit import PER_MINUTE
from app.domain.search.ranking.learning import examination
from app.domain.search.sentence_model import Vectors
from app.domain.search_statistics.models import SearchProductWeek, SearchWordDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.counting import drain
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.shopper import BROWSER, FROM_AFAR
from tests.factories import make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.sentence_model import WordSums
from tests.page_client import PageClient
from tests.snapshots import built


class Drinking(WordSums):
    """All that has to do with drinking from something means the same."""

    name = "drinking"

    def embed(self, texts: Sequence[str]) -> Vectors:
        about = {"mug", "mugs", "goblet"}
        return super().embed(["drink" if about.intersection(text.lower().split()) else text for text in texts])


class Late(Drinking):
    """Makes vectors of searches when it is freed, but at once for those who wait for them."""

    def __init__(self) -> None:
        super().__init__()
        self.free = Event()
        self.waited_for: list[str] = []

    def embed_search(self, words: str) -> Vectors:
        if current_thread().name.startswith("query-vectors"):
            assert self.free.wait(60)
        else:
            self.waited_for.append(words)
        return super().embed_search(words)


@pytest.fixture
def site_id(app: Flask, clock: StoppedClock) -> int:
    engine = WhooshEngine(app.config["SHOP"].index_dir, Drinking(), wait=60)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)

    def build() -> int:
        site_id = small_shop.build()
        with transaction():
            site = db.session.get(Site, site_id)
            assert site is not None
            make_user(site, Role.MERCHANDISER, email="mia@shop.test")
        return site_id

    made = built(app, build, __name__)
    clock.move(seconds=2)  # Hosts are read anew once a second.
    return made


@pytest.fixture
def get(app: Flask, site_id: int) -> Callable[[str], TestResponse]:
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": FROM_AFAR, "HTTP_USER_AGENT": BROWSER}
    return lambda path: client.get(path, base_url="http://shop.test")


def test_a_search_that_finds_nothing_shows_similar_products(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=goblet").text
    assert "No results for “goblet”" in page
    assert "<strong>0</strong> products" in page
    similar = page.split("Similar products</h2>")[1].split("</section>")[0]
    assert all(f'href="/p/{mug}"' in similar for mug in ("mug-10", "mug-11", "mug-12"))
    assert "Check the spelling." in page


def test_a_similar_product_that_is_opened_was_found_by_the_search_at_its_place(
    app: Flask, site_id: int, get: Callable[[str], TestResponse]
) -> None:
    similar = get("/search?q=goblet").text.split("Similar products</h2>")[1].split("</section>")[0]
    last = re.findall(r'href="(/p/[^"]*)"', similar)[-1]
    with app.app_context(), transaction():
        change_settings(site_id, {"search-learning": "shadow"})
    for number in range(5):
        client = app.test_client()
        client.environ_base |= {"REMOTE_ADDR": f"192.0.2.{number + 10}", "HTTP_USER_AGENT": BROWSER}
        client.get("/search?q=goblet", base_url="http://shop.test")
        client.get(last, base_url="http://shop.test", headers={"Referer": "http://shop.test/search?q=goblet"})
    with app.app_context():
        drain()
        word = db.session.scalars(select(SearchWordDay)).one()
        opened = db.session.scalars(select(SearchProductWeek)).one()
        assert (word.word, word.found_nothing, word.clicked) == ("goblet", 6, 5)
        assert (opened.opens, opened.weight) == (5, 5 * round(100 / examination(3))), "the last of three"


def test_similar_products_keep_to_the_chosen_filters(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=goblet&manufacturer=Moor").text
    assert "No products match" in page
    similar = page.split("Similar products</h2>")[1].split("</section>")[0]
    assert "/p/mug-10" in similar
    assert "/p/mug-11" not in similar


def test_a_site_that_switched_meaning_off_shows_none(
    app: Flask, site_id: int, get: Callable[[str], TestResponse]
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-by-meaning": False})
    assert "Similar products</h2>" not in get("/search?q=goblet").text


def test_test_a_search_lists_similar_products_apart(app: Flask, site_id: int) -> None:
    mia = PageClient(app, "shop.test").signed_in("mia@shop.test")
    page = mia.client.get("/admin/search/test?q=goblet", base_url=mia.base).text
    listed = page.split('aria-label="Similar products"')[1].split("</ul>")[0]
    assert listed.count("100% similar") == 3
    answer = mia.client.get(
        "/admin/search/test?q=goblet", base_url=mia.base, headers={"Accept": "application/json"}
    ).json
    assert (answer["found"], answer["products"]) == (0, [])
    assert [entry["similarity"] for entry in answer["similar"]] == pytest.approx([1, 1, 1], abs=0.01)


def test_test_a_search_says_what_meaning_adds(app: Flask, site_id: int) -> None:
    mia = PageClient(app, "shop.test").signed_in("mia@shop.test")
    page = mia.client.get("/admin/search/test?q=mug", base_url=mia.base).text
    assert "its meaning is near: rank 1" in page


def test_the_pages_of_a_search_whose_meaning_came_late_are_of_one_order(
    app: Flask, site_id: int, get: Callable[[str], TestResponse]
) -> None:
    late = Late()
    engine = WhooshEngine(app.config["SHOP"].index_dir, late, wait=0)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    address: str | None = "/search?q=mug&pageSizeOverride=1"
    shown = []
    while address:
        page = get(address).text
        shown += re.findall(r'href="/p/([^"?]+)"', page.partition('class="pager"')[0])[:1]
        following = re.search(r'rel="next"[^>]*href="([^"]+)"', page)
        address = unescape(following[1]) if following else None
        assert address is None or "_by=words" in address
    assert len(shown) == len(set(shown)) == 3
    late.free.set()
    assert late.waited_for == [], "later pages are by words alone as well"


def test_programs_page_through_one_order(app: Flask, site_id: int, get: Callable[[str], TestResponse]) -> None:
    late = Late()
    engine = WhooshEngine(app.config["SHOP"].index_dir, late, wait=0)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    pages = [get(f"/v1/product?q=mug&pageSize=1&pageNumber={number}").json for number in (1, 2, 3)]
    late.free.set()
    assert len({page["items"][0]["id"] for page in pages if page}) == 3
    assert late.waited_for == ["mug"]


def model_of(app: Flask) -> Drinking:
    """A model that has made no vector of a search."""
    model = Drinking()
    engine = WhooshEngine(app.config["SHOP"].index_dir, model, wait=60)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
    return model


@pytest.mark.parametrize("agent", ["python-requests/2.32", "Mozilla/5.0 (compatible; bingbot/2.0)"])
def test_programs_make_no_vectors_and_use_those_that_people_made(
    app: Flask, site_id: int, get: Callable[[str], TestResponse], agent: str
) -> None:
    model = model_of(app)
    program = app.test_client()
    program.environ_base |= {"REMOTE_ADDR": "198.51.100.9", "HTTP_USER_AGENT": agent}

    def page(path: str) -> str:
        return program.get(path, base_url="http://shop.test").text

    for path in ("/search?q=goblet", "/search?q=mug&pageSizeOverride=1&p=2", "/goblet"):
        assert "Similar products</h2>" not in page(path)
    assert model.embedded == []
    assert "Similar products</h2>" in get("/search?q=goblet").text
    assert "Similar products</h2>" in page("/search?q=goblet")


def test_a_network_has_so_many_searches_a_minute_understood(
    app: Flask, site_id: int, clock: StoppedClock, get: Callable[[str], TestResponse]
) -> None:
    for _ in range(PER_MINUTE):
        get("/search?q=mug")
    assert "Similar products</h2>" not in get("/search?q=goblet").text
    clock.move(seconds=61)
    assert "Similar products</h2>" in get("/search?q=goblet").text


def test_pages_of_a_search_whose_meaning_is_there_say_nothing_of_it(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=mug&pageSizeOverride=1").text
    assert 'rel="next"' in page
    assert "_by=" not in page
