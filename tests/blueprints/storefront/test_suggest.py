"""Suggestions below the search box, as the shop's script fetches them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import func, select

from app import ports
from app.blueprints.storefront import search
from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Tree
from app.domain.search import settings
from app.domain.search.engine import IndexName, SearchRequest
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchDay, SearchWordDay, SuggestionDay
from app.domain.search_statistics.popular import FRESH
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.blueprints.storefront.shopper import Shopper
from tests.blueprints.storefront.test_missing_page import counted
from tests.blueprints.storefront.test_taught_search import add_rule, add_synonym
from tests.counted_searches import count
from tests.fakes.clock import StoppedClock
from tests.statements import statements

PATH = "/search/suggest"
Search = Callable[..., None]


@pytest.fixture
def searched(app: Flask, site_id: int, clock: StoppedClock) -> Search:
    """Makes searches that were counted: so many on each of three days."""

    def search(word: str, searches: int = 3, finds: int | None = 4, days: int = 3) -> None:
        with app.app_context(), transaction():
            today = site_today(clock, site_id)
            for ago in range(days):
                count(site_id, today, today - timedelta(days=ago), word, finds=finds, searches=searches)

    return search


def groups(html: str) -> dict[str, list[str]]:
    """The texts of the options of each group, by its heading."""
    found = {}
    for part in html.split('role="group"')[1:]:
        heading = re.search(r'<p id="[\w-]+" role="presentation">(.*?)</p>', part, re.DOTALL)
        options = re.findall(r'<a [^>]*role="option"[^>]*>(.*?)</a>', part, re.DOTALL)
        assert heading
        found[text(heading[1])] = [text(option) for option in options]
    return found


def text(html: str) -> str:
    return " ".join(re.sub(r"</?(?:b|small)>", "", re.sub(r"<(?!/?(?:b|small)>)[^>]*>", " ", html)).split())


def links(html: str) -> list[str]:
    return re.findall(r'href="([^"]+)"', html)


def test_two_letters_suggest_categories_and_products_with_prices(get: Get) -> None:
    html = get(f"{PATH}?q=te").text
    assert groups(html) == {
        "Categories": ["Tents in Camping"],
        "Products": [
            "Fell tent 1 £10.00 was £15.00",
            "Fell tent 3 £30.00",
            "Moor tent 4 £40.00",
            "Fell tent 5 £50.00",
            "Moor tent 6 £60.00",
        ],
    }
    assert links(html)[:2] == ["/c/camping/tents", "/p/tent-1"]
    assert html.count("<img ") == 5


def test_a_word_that_many_products_have_may_begin_another(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context():
        with transaction():
            db.session.add_all(
                small_shop.product(site_id, number, "mugs", name=f"Cam mug {number}") for number in range(20, 40)
            )
            db.session.add(small_shop.product(site_id, 99, "tents", name="Camera", manufacturer=""))
        small_shop.index(site_id)
        found = {
            is_typing: ports.search_engine().search(
                site_id, IndexName.PRODUCTS, SearchRequest(words="cam", is_typing=is_typing)
            )
            for is_typing in (True, False)
        }
    assert (found[False].total, found[True].total) == (20, 21)
    assert groups(get(f"{PATH}?q=camer").text) == {"Products": ["Camera £990.00"]}


def test_a_brand_leads_to_its_products(get: Get) -> None:
    html = get(f"{PATH}?q=moor").text
    assert groups(html)["Brands"] == ["Moor 5 products"]
    assert "/search?manufacturer=Moor&amp;q=Moor" in links(html)
    assert "<strong>5</strong> products" in get("/search?manufacturer=Moor&q=Moor").text


def test_a_brand_leads_to_its_page_where_one_has_all_of_its_products(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        db.session.query(Tree).filter_by(site_id=site_id).one().default_landing_rules = [{"facetId": "manufacturer"}]
    assert "/c/camping/brand/moor" in links(get(f"{PATH}?q=moor").text)
    assert get("/c/camping/brand/moor").status_code == 200


def test_popular_searches_that_find_something_are_suggested(searched: Search, get: Get) -> None:
    searched("fell tent", searches=3)
    searched("tents for rain", searches=9, finds=0)
    searched("tent poles", searches=8)  # Says it found something, but no product has both words now.
    searched("my own tent 77", searches=2, days=1)
    assert groups(get(f"{PATH}?q=te").text)["Popular searches"] == ["fell tent"]
    assert "/search?q=fell+tent" in links(get(f"{PATH}?q=te").text)


def test_what_one_network_searches_for_is_suggested_to_nobody_and_what_several_do_is(
    app: Flask, site_id: int, get: Get, clock: StoppedClock
) -> None:
    def search(word: str, network: str) -> None:
        browser = Shopper(app)
        browser.client.environ_base["REMOTE_ADDR"] = network
        assert browser.get(f"/search?q={word}").status_code == 200

    for day in range(6):
        for _ in range(9):  # Each without the cookie of the one before.
            search("moor+tent", "192.0.2.7")
        for network in ("192.0.2.7", "198.51.100.8", "203.0.113.9") * (day < 3):
            search("mug", network)
        clock.move(days=1)
    with app.app_context():
        drain()
        rows = db.session.execute(
            select(SearchWordDay.word, func.sum(SearchWordDay.searches), func.sum(SearchWordDay.networks)).group_by(
                SearchWordDay.word
            )
        )
        assert {tuple(row) for row in rows} == {("moor tent", 54, 6), ("mug", 9, 9)}
    assert groups(get(PATH).text) == {"Popular searches": ["mug"]}


def test_what_was_typed_in_full_is_no_suggestion(searched: Search, get: Get) -> None:
    searched("tent")
    assert "Popular searches" in groups(get(f"{PATH}?q=ten").text)
    assert "Popular searches" not in groups(get(f"{PATH}?q=Tent").text)


def test_the_empty_box_suggests_what_is_searched_for_most(searched: Search, get: Get) -> None:
    searched("mug", searches=4)
    searched("tent", searches=5)
    assert groups(get(PATH).text) == {"Popular searches": ["tent", "mug"]}
    assert get(f"{PATH}?q=%20").text == get(PATH).text


def test_blocked_words_are_suggested_to_nobody(app: Flask, site_id: int, searched: Search, get: Get) -> None:
    searched("tent")
    with app.app_context(), transaction():
        change_settings(site_id, {settings.BLOCKED: ["tents"]})
    assert get(PATH).text == ""


def test_new_popular_searches_are_there_after_some_minutes(searched: Search, get: Get, clock: StoppedClock) -> None:
    assert get(PATH).text == ""
    searched("tent")
    clock.move(seconds=FRESH.total_seconds())
    assert groups(get(PATH).text) == {"Popular searches": ["tent"]}


@pytest.mark.parametrize("typed", ["t", "%25%25", "-", "qqqqzzzz", "%F0%9F%8E%92", "_"])
def test_too_little_or_nothing_that_fits_suggests_nothing(get: Get, typed: str) -> None:
    answer = get(f"{PATH}?q={typed}")
    assert (answer.status_code, answer.text) == (200, "")


@pytest.mark.parametrize(
    "typed",
    [
        "te" * 300,
        "tent " * 100,
        "%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "(((",
        "tent%0Amug",
        "%E2%80%AE%D7%A9%D7%9C%D7%95%D7%9D+tent",
        "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9+tent",
        "%C3%28tent",
        "'tent\"%27",
    ],
)
def test_odd_words_are_words(get: Get, typed: str) -> None:
    answer = get(f"{PATH}?q={typed}")
    assert answer.status_code == 200
    assert "<script" not in answer.text


@pytest.mark.parametrize(("typed", "status"), [("x" * 10_000, 414), ("te%00nt", 400)])
def test_what_no_box_sends_is_refused(get: Get, typed: str, status: int) -> None:
    assert get(f"{PATH}?q={typed}").status_code == status


def test_names_and_searches_are_shown_as_text(app: Flask, site_id: int, searched: Search, get: Get) -> None:
    with app.app_context():
        with transaction():
            db.session.add(
                small_shop.product(site_id, 50, "tents", name="<i>Zelt</i> & more", manufacturer="<u>Zelter</u>")
            )
        small_shop.index(site_id)
    searched("<i>zelt")
    html = get(f"{PATH}?q=ze").text
    assert "<i>" not in html and "<u>" not in html
    assert "&lt;i&gt;Zelt&lt;/i&gt; &amp; more</span>" in html
    assert "<b>&lt;u&gt;</b>Ze<b>lter&lt;/u&gt;</b>" in html


def test_what_is_still_to_be_typed_stands_out_in_searches_categories_and_brands(searched: Search, get: Get) -> None:
    searched("fell tent")
    html = get(f"{PATH}?q=ten").text
    assert "<b>fell </b>ten<b>t</b></a>" in html
    assert "Ten<b>ts</b> <small>in Camping" in html
    assert "Moo<b>r</b> <small>" in get(f"{PATH}?q=moo").text
    assert '<span class="name">Fell tent 1</span>' in html


def test_a_slip_of_the_finger_suggests_what_search_would_find(get: Get) -> None:
    assert groups(get(f"{PATH}?q=tnet+").text)["Products for “tent”"][0].startswith("Fell tent")


def test_a_word_of_the_language_is_offered_another_spelling_and_finds_nothing_by_it(get: Get) -> None:
    assert groups(get(f"{PATH}?q=tint+").text) == {"Did you mean": ["tent"]}
    assert 'href="/search?q=tent"' in get(f"{PATH}?q=tint+").text


def test_what_is_not_for_sale_is_not_suggested(app: Flask, site_id: int, get: Get) -> None:
    assert "tent-2" not in get(f"{PATH}?q=moor+tent").text
    before = get(f"{PATH}?q=fell+te").text
    with app.app_context():
        with transaction():
            db.session.query(Product).filter_by(sku="S-1").one().enabled = False
        small_shop.index(site_id)
    assert "/p/tent-1" in links(before) and "/p/tent-1" not in links(get(f"{PATH}?q=fell+te").text)


def test_a_hidden_category_is_not_suggested(get: Get) -> None:
    assert get(f"{PATH}?q=hidd").text == ""


def test_a_pinned_product_comes_first(app: Flask, site_id: int, get: Get, clock: StoppedClock) -> None:
    add_rule(app, site_id, "tent", pins=[{"sku": "S-12", "position": 1}])
    clock.move(seconds=2)
    assert links(get(f"{PATH}?q=tent").text)[-5] == "/p/mug-12"


def test_a_synonym_suggests_what_it_finds(app: Flask, site_id: int, get: Get, clock: StoppedClock) -> None:
    assert get(f"{PATH}?q=beaker").text == ""
    add_synonym(app, site_id, "beaker", "mug")
    clock.move(seconds=2)
    assert "Fell mug 11 £110.00" in groups(get(f"{PATH}?q=beaker").text)["Products"]


def test_a_popular_search_that_a_rule_sends_to_a_page_is_suggested(
    app: Flask, site_id: int, searched: Search, get: Get, clock: StoppedClock
) -> None:
    searched("returns", finds=None)
    assert get(f"{PATH}?q=ret").text == ""
    add_rule(app, site_id, "returns", redirect_url="/pages/delivery")
    clock.move(seconds=2)
    assert groups(get(f"{PATH}?q=ret").text) == {"Popular searches": ["returns"]}


def test_a_popular_search_that_a_page_answers_is_suggested(searched: Search, get: Get) -> None:
    searched("delivery", finds=None)
    searched("delivery dates", finds=None)
    searched("delivry", finds=None)
    assert groups(get(f"{PATH}?q=del").text)["Popular searches"] == ["delivery"]


def test_it_is_made_once_for_each_state_of_the_shop(app: Flask, site_id: int, get: Get) -> None:
    get(f"{PATH}?q=mu")
    with counted(app) as engine, statements(app) as seen:
        first, second = get(f"{PATH}?q=te"), get(f"{PATH}?q=te")
        assert first.text == second.text
        assert engine.calls == 1
    assert [statement for statement in seen if "products" in statement or "search_word" in statement] == []
    with app.app_context(), transaction():
        change_settings(site_id, {"listing-page-size": 8})
    with counted(app) as engine:
        get(f"{PATH}?q=te")
        assert engine.calls == 1


def test_browsers_keep_it_for_a_minute_and_search_engines_not_at_all(get: Get) -> None:
    answer = get(f"{PATH}?q=te")
    assert answer.headers["Cache-Control"] == "public, max-age=60"
    assert "noindex" in answer.headers["X-Robots-Tag"]
    assert "Set-Cookie" not in answer.headers


def test_suggestions_are_counted_by_day_and_are_no_searches(app: Flask, site_id: int, get: Get) -> None:
    get(f"{PATH}?q=te")
    get(f"{PATH}?q=ten")
    get(f"{PATH}?q=qqqqzzzz")
    get(f"{PATH}?q=te", User_Agent="Googlebot/2.1")
    with app.app_context():
        drain()
        drain()
        assert [(day.site_id, day.shown) for day in db.session.query(SuggestionDay)] == [(site_id, 2)]
        assert db.session.query(SearchDay).count() == 0


def test_nothing_is_counted_where_searches_are_not(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {settings.TRACKING: False})
    get(f"{PATH}?q=te")
    with app.app_context():
        drain()
        assert db.session.query(SuggestionDay).count() == 0


def test_a_program_that_types_without_end_is_refused(get: Get, clock: StoppedClock) -> None:
    answers = [get(f"{PATH}?q=te", HX_Request="true") for _ in range(search.RATE.most + 2)]
    assert {answer.status_code for answer in answers[:-2]} == {200}
    assert (answers[-1].status_code, "Retry-After" in answers[-1].headers) == (429, True)
    clock.move(minutes=1)
    assert get(f"{PATH}?q=te").status_code == 200


def test_a_shop_can_do_without(app: Flask, site_id: int, get: Get) -> None:
    assert f'data-suggestions="{PATH}"' in get("/").text
    with app.app_context(), transaction():
        change_settings(site_id, {settings.SUGGESTIONS: False})
    assert get(f"{PATH}?q=te").status_code == 404
    page = get("/").text
    assert "data-suggestions" not in page and 'action="/search" role="search"' in page


def test_shops_have_suggestions_of_their_own(app: Flask, site_id: int, get: Get, searched: Search) -> None:
    searched("tent")
    with app.app_context():
        other = small_shop.build("other.test", "Other")
        with transaction():
            db.session.add(small_shop.product(other, 50, "mugs", name="Kettle"))
        small_shop.index(other)
    assert groups(get(f"{PATH}?q=ket", host="other.test").text) == {"Products": ["Kettle £500.00"]}
    assert get(f"{PATH}?q=ket").text == "" and get(PATH, host="other.test").text == ""


def test_categories_are_suggested_while_search_is_down(app: Flask, site_id: int, get: Get) -> None:
    with app.app_context():
        ports.search_engine().forget(site_id)
    answer = get(f"{PATH}?q=te")
    assert (answer.status_code, groups(answer.text)) == (200, {"Categories": ["Tents in Camping"]})


def test_every_option_has_an_id_of_its_own_and_cannot_take_the_focus(searched: Search, get: Get) -> None:
    searched("fell tent")
    html = get(f"{PATH}?q=fe").text
    options = re.findall(r'<a [^>]*role="option"[^>]*>', html)
    ids = [found[1] for option in options if (found := re.search(r'id="([\w-]+)"', option))]
    assert len(options) == len(set(ids)) == 7
    assert all('tabindex="-1"' in option and 'aria-selected="false"' in option for option in options)
    labels = re.findall(r'role="group" aria-labelledby="([\w-]+)"', html)
    assert labels and all(f'<p id="{label}"' in html for label in labels)
