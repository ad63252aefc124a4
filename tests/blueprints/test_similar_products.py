"""What lies near a search in meaning, as shoppers and merchandisers see it: among the results, or beside them."""

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
from app.domain.search.sentence_model import Vectors
from app.domain.search_statistics.models import SearchProductWeek, SearchWordDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.search_statistics import drain
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.shopper import BROWSER, FROM_AFAR
from tests.factories import make_user
from tests.fakes.clock import StoppedClock
from tests.fakes.sentence_model import WordSums
from tests.page_client import PageClient
from tests.snapshots import built

NEAR = "These are near in meaning."


class Drinking(WordSums):
    """All that has to do with drinking from something means the same."""

    name = "drinking"

    def embed(self, texts: Sequence[str]) -> Vectors:
        about = {"mug", "mugs", "goblet", "cup"}
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
            db.session.add(small_shop.product(site_id, 20, "tents", name="Moor cup", seo_name="cup-20"))
            site = db.session.get(Site, site_id)
            assert site is not None
            make_user(site, Role.MERCHANDISER, email="mia@shop.test")
        small_shop.index(site_id)
        return site_id

    made = built(app, build, __name__)
    clock.move(seconds=2)  # Hosts are read anew once a second.
    return made


@pytest.fixture
def get(app: Flask, site_id: int) -> Callable[[str], TestResponse]:
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": FROM_AFAR, "HTTP_USER_AGENT": BROWSER}
    return lambda path: client.get(path, base_url="http://shop.test")


def test_a_search_whose_words_find_nothing_shows_what_is_near_in_meaning(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=goblet").text
    assert "Results for “goblet”" in page and "<strong>4</strong> products" in page
    assert "No product has these words. These are near in meaning." in page
    assert all(f'href="/p/{found}"' in page for found in ("mug-10", "mug-11", "mug-12", "cup-20"))
    assert "Similar products</h2>" not in page and "Check the spelling." not in page


def test_what_a_filter_says_it_would_leave_is_what_it_leaves(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=goblet&manufacturer=Moor").text
    assert "<strong>3</strong> products" in page
    assert "/p/mug-10" in page and "/p/mug-11" not in page
    cheapest = get("/search?q=goblet&sort=price-asc").text
    assert re.findall(r'href="/p/([^"?]+)"', cheapest)[0] == "mug-10"


def test_a_search_answered_by_meaning_alone_found_something_and_counts_places(
    app: Flask, site_id: int, get: Callable[[str], TestResponse]
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-learning": "shadow"})
    for number in range(5):
        client = app.test_client()
        client.environ_base |= {"REMOTE_ADDR": f"192.0.2.{number + 10}", "HTTP_USER_AGENT": BROWSER}
        client.get("/search?q=goblet", base_url="http://shop.test")
        client.get("/p/mug-12", base_url="http://shop.test", headers={"Referer": "http://shop.test/search?q=goblet"})
    with app.app_context():
        drain()
        word = db.session.scalars(select(SearchWordDay)).one()
        opened = db.session.scalars(select(SearchProductWeek)).one()
        assert (word.word, word.found_nothing, word.clicked) == ("goblet", 0, 5)
        assert opened.opens == 5


def test_similar_products_follow_a_level_that_the_words_name(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=mug").text
    assert "<strong>3</strong> products" in page
    similar = page.split("Similar products</h2>")[1].split("</section>")[0]
    assert re.findall(r'href="/p/([^"?]+)"', similar)[0] == "cup-20"


def test_a_site_that_switched_meaning_off_shows_none(
    app: Flask, site_id: int, get: Callable[[str], TestResponse]
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-by-meaning": False})
    page = get("/search?q=goblet").text
    assert "<strong>0</strong> products" in page and "Check the spelling." in page
    assert "Similar products</h2>" not in get("/search?q=mug").text


def test_test_a_search_says_what_is_found_by_meaning_alone(app: Flask, site_id: int) -> None:
    mia = PageClient(app, "shop.test").signed_in("mia@shop.test")
    page = mia.client.get("/admin/search/test?q=goblet", base_url=mia.base).text
    assert page.count("By meaning") == 4
    assert "4 of them are found by meaning: what they are called is near to the words." in " ".join(page.split())
    answer = mia.client.get(
        "/admin/search/test?q=goblet", base_url=mia.base, headers={"Accept": "application/json"}
    ).json
    assert answer is not None
    assert (answer["found"], answer["foundByMeaningAlone"], answer["similar"]) == (4, 4, [])
    assert [product["byMeaningAlone"] for product in answer["products"]] == [True] * 4
    assert {part["kind"] for product in answer["products"] for part in product["parts"]} == {"meaning"}


def test_test_a_search_lists_similar_products_apart(app: Flask, site_id: int) -> None:
    mia = PageClient(app, "shop.test").signed_in("mia@shop.test")
    page = mia.client.get("/admin/search/test?q=mug", base_url=mia.base).text
    listed = page.split('aria-label="Similar products"')[1].split("</ul>")[0]
    assert listed.count("100% similar") == 1
    assert page.count("By meaning") == 0


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
        assert NEAR not in page(path)
    assert model.embedded == []
    assert NEAR in get("/search?q=goblet").text
    assert NEAR in page("/search?q=goblet")


def test_a_network_has_so_many_searches_a_minute_understood(
    app: Flask, site_id: int, clock: StoppedClock, get: Callable[[str], TestResponse]
) -> None:
    for _ in range(PER_MINUTE):
        get("/search?q=mug")
    assert NEAR not in get("/search?q=goblet").text
    clock.move(seconds=61)
    assert NEAR in get("/search?q=goblet").text


def test_pages_of_a_search_whose_meaning_is_there_say_nothing_of_it(get: Callable[[str], TestResponse]) -> None:
    page = get("/search?q=mug&pageSizeOverride=1").text
    assert 'rel="next"' in page
    assert "_by=" not in page
