"""What shoppers search for and what that leads to is counted, through pages, and nothing else is."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

import pytest
from flask import Flask
from itsdangerous import Signer
from sqlalchemy import select
from werkzeug.test import TestResponse

from app import ports
from app.blueprints.storefront import attribution
from app.domain.orders.models import Order
from app.domain.search.listings.listing import ListingRequest
from app.domain.search_statistics import reports
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.measures import ListName, percent, share
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs.search_statistics import drain
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.shopper import BROWSER, Shopper
from tests.blueprints.storefront.test_taught_search import add_rule
from tests.fakes.clock import StoppedClock

HOST = "http://shop.test"
Counts = dict[str, tuple[int, ...]]


@pytest.fixture
def shopper(app: Flask, site_id: int) -> Shopper:
    return Shopper(app)


@pytest.fixture
def counts(app: Flask, site_id: int) -> Callable[[], Counts]:
    """By word, over all days: searches, found nothing, followed, clicked, added to a basket."""

    def read() -> Counts:
        with app.app_context():
            drain()
            by_word: Counts = {}
            for row in db.session.scalars(select(SearchWordDay).where(SearchWordDay.site_id == site_id)):
                figures = (row.searches, row.found_nothing, row.followed, row.clicked, row.added_to_basket)
                by_word[row.word] = tuple(map(sum, zip(figures, by_word.get(row.word, (0,) * 5), strict=True)))
            return by_word

    return read


def first_product(page: TestResponse) -> str:
    start = page.text.index('href="/p/') + len('href="')
    return page.text[start : page.text.index('"', start)]


def test_a_search_counts_once_however_it_is_paged_sorted_filtered_or_reloaded(
    shopper: Shopper, counts: Callable[[], Counts]
) -> None:
    for path in ("/search?q=tent", "/search?q=%20TENT", "/search?q=tent&sort=name", "/search?q=tent&inStock=true"):
        assert shopper.get(path).status_code == 200
    assert counts() == {"tent": (1, 0, 1, 0, 0)}


def test_a_search_that_a_page_answers_did_not_find_nothing(
    app: Flask, shopper: Shopper, counts: Callable[[], Counts]
) -> None:
    for words in ("delivery", "by+post", "zzzqqqxxx"):
        shopper.get(f"/search?q={words}")
    assert {word: found[:3] for word, found in counts().items()} == {
        "delivery": (1, 0, 0),  # Not followed: no product of it could be opened.
        "by post": (1, 1, 1),  # A page mentions it, and none is about it.
        "zzzqqqxxx": (1, 1, 1),
    }
    with app.app_context():
        latest = dict(db.session.execute(select(SearchWordDay.word, SearchWordDay.last_result_count)).all())
    assert latest == {"delivery": None, "by post": 0, "zzzqqqxxx": 0}


def test_a_search_that_a_rule_sends_on_has_no_share_of_clicks(
    app: Flask, site_id: int, shopper: Shopper, counts: Callable[[], Counts]
) -> None:
    add_rule(app, site_id, "tent", redirect_url="/pages/delivery")
    assert shopper.get("/search?q=tent").location == "/pages/delivery"
    assert counts() == {"tent": (1, 0, 0, 0, 0)}
    with app.app_context():
        week = reports.period(ports.clock(), site_id, 7)
        (row,) = reports.first_rows(site_id, week, [ListName.LEADS], 10)[ListName.LEADS]
        assert (row.finds, percent(share(row.sums, "clicked"))) == (None, "–")


def test_the_number_of_products_that_filters_would_leave_is_no_search(
    shopper: Shopper, counts: Callable[[], Counts]
) -> None:
    shopper.get("/search?q=tent", HX_Request="true", HX_Target="aside#filters")
    assert counts() == {}


def test_another_shopper_counts_anew_and_so_does_a_later_visit(
    app: Flask, shopper: Shopper, counts: Callable[[], Counts], clock: StoppedClock
) -> None:
    shopper.get("/search?q=tent")
    Shopper(app).get("/search?q=tent")
    clock.move(minutes=31)
    shopper.get("/search?q=tent")
    assert counts()["tent"][0] == 3


def test_what_finds_nothing_is_told_apart(shopper: Shopper, counts: Callable[[], Counts]) -> None:
    shopper.get("/search?q=qqqqzzzzxxxx")
    assert counts() == {"qqqqzzzzxxxx": (1, 1, 1, 0, 0)}


def test_a_product_opened_from_a_page_of_results_is_a_click(shopper: Shopper, counts: Callable[[], Counts]) -> None:
    product = first_product(shopper.get("/search?q=tent"))
    shopper.get(product, Referer=f"{HOST}/search?q=tent&p=1")
    shopper.get(product, Referer=f"{HOST}/search?q=tent")
    assert counts()["tent"] == (1, 0, 1, 1, 0)


def test_a_browser_that_does_not_say_where_it_comes_from_is_believed(
    shopper: Shopper, counts: Callable[[], Counts]
) -> None:
    shopper.get(first_product(shopper.get("/search?q=tent")))
    assert counts()["tent"][3] == 1


@pytest.mark.parametrize(
    "referrer", [f"{HOST}/", f"{HOST}/c/camping", "http://evil.test/search?q=tent", f"{HOST}/search", "http://["]
)
def test_a_product_opened_from_elsewhere_is_no_click(
    shopper: Shopper, counts: Callable[[], Counts], referrer: str
) -> None:
    shopper.get(first_product(shopper.get("/search?q=tent")), Referer=referrer)
    assert counts()["tent"][3] == 0


def test_the_basket_and_the_order_follow(app: Flask, shopper: Shopper, counts: Callable[[], Counts]) -> None:
    page = shopper.get("/search?q=tent&sort=price-desc")
    page = shopper.get("/search?q=tent")
    product = shopper.get(first_product(page), Referer=f"{HOST}/search?q=tent")
    sku = re.search(r'name="sku" value="([^"]+)"', product.text)
    assert sku is not None
    shopper.add(sku[1], 2)
    shopper.add(sku[1])
    assert counts()["tent"] == (1, 0, 1, 1, 1)
    thanks = shopper.get(shopper.order().location)
    assert thanks.status_code == 200
    shopper.order()
    counts()
    with app.app_context():
        row = db.session.scalars(select(SearchDay)).one()
        assert (row.ordered, row.revenue) == (1, db.session.scalars(select(Order.total)).one())


def test_a_part_of_a_month_through_pages_is_counted_exactly(
    app: Flask, site_id: int, counts: Callable[[], Counts], clock: StoppedClock
) -> None:
    dice, truth = random.Random(4), Counter[str]()
    for _ in range(40):
        shopper = Shopper(app)
        word = dice.choice(("tent", "mug", "fell", "qqqqzzzz"))
        page = shopper.get(f"/search?q={word}")
        truth[f"{word} searches"] += 1
        for path in dice.sample((f"/search?q={word}", f"/search?q={word.upper()}&sort=name", "/", "/search"), 2):
            shopper.get(path)
        if word != "qqqqzzzz" and dice.random() < 0.5:
            shopper.get(first_product(page), Referer=f"{HOST}/search?q={word}")
            shopper.get(first_product(page), Referer=f"{HOST}/")
            truth[f"{word} clicks"] += 1
        clock.move(minutes=dice.randrange(600))
    found = counts()
    figures = {f"{word} searches": row[0] for word, row in found.items()}
    figures |= {f"{word} clicks": row[3] for word, row in found.items()}
    assert figures == {f"{word} {what}": truth[f"{word} {what}"] for word in found for what in ("searches", "clicks")}


def test_an_answer_that_failed_counts_nothing(app: Flask, counts: Callable[[], Counts]) -> None:
    with app.test_request_context("/search?q=tent", base_url=HOST, headers={"User-Agent": BROWSER}):
        attribution.note_search(ListingRequest("/search", words="tent"), ("p1",), 1, ruled=False)
        answer = app.process_response(app.response_class(status=500))
    assert "Set-Cookie" not in answer.headers and counts() == {}


@pytest.mark.parametrize(
    "headers",
    [
        {"User_Agent": ""},
        {"User_Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"},
        {"User_Agent": "facebookexternalhit/1.1"},
        {"User_Agent": "curl/8.0"},
        {"User_Agent": "python-requests/2.32"},
        {"User_Agent": "okhttp/4.12.0"},
        {"User_Agent": "Mozilla/5.0 (compatible; Yahoo! Slurp)"},
        {"Sec_Purpose": "prefetch;prerender"},
    ],
    ids=lambda headers: " ".join(headers.values())[:20] or "nameless",
)
def test_programs_are_not_counted(shopper: Shopper, counts: Callable[[], Counts], headers: dict[str, str]) -> None:
    shopper.get("/search?q=tent", **headers)
    shopper.client.head("/search?q=tent", base_url=HOST, headers={"User-Agent": BROWSER})
    assert counts() == {} and shopper.cookie("trail") is None


def test_who_works_on_the_shop_is_not_counted(app: Flask, shopper: Shopper, counts: Callable[[], Counts]) -> None:
    with shopper.client.session_transaction(base_url=HOST) as session:
        session["_user_id"] = "somebody"
    answer = shopper.get("/search?q=tent")
    assert counts() == {}
    assert "Set-Cookie" not in answer.headers


def test_a_session_without_a_person_is_a_shopper_s(shopper: Shopper, counts: Callable[[], Counts]) -> None:
    with shopper.client.session_transaction(base_url=HOST) as session:
        session["csrf_token"] = "of the page to sign in"
    shopper.get("/search?q=tent")
    assert counts()["tent"][0] == 1


@pytest.mark.parametrize("setting", ["search-term-tracking-enabled", "search-click-tracking-enabled"])
def test_settings_are_heeded(
    app: Flask, shopper: Shopper, counts: Callable[[], Counts], site_id: int, clock: StoppedClock, setting: str
) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {setting: False})
    clock.move(seconds=2)
    shopper.get(first_product(shopper.get("/search?q=tent")))
    words_only = {"tent": (1, 0, 0, 0, 0)}
    assert counts() == ({} if setting == "search-term-tracking-enabled" else words_only)


def test_the_cookie_is_the_shopper_s_own_signed_and_of_one_shop(
    app: Flask, shopper: Shopper, counts: Callable[[], Counts], clock: StoppedClock
) -> None:
    answer = shopper.get("/search?q=tent")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/" in cookie and "Max-Age=86400" in cookie
    assert answer.headers["Cache-Control"] == "private"
    assert "Set-Cookie" not in shopper.get("/search?q=tent").headers
    kept = shopper.cookie("trail") or ""
    with app.app_context():
        small_shop.build("other.test", "Other")
    clock.move(seconds=2)
    for forged in (kept[:-1], kept[1:], "", "e30." + kept, Signer("guessed").sign(kept).decode(), "\xff", "x" * 3900):
        for host in ("shop.test", "other.test"):
            forger = Shopper(app, host)
            forger.client.set_cookie("trail", forged, domain=host)
            assert forger.get("/search?q=tent").status_code == 200
    other = Shopper(app, "other.test")
    other.client.set_cookie("trail", kept, domain="other.test")
    other.get("/search?q=tent")
    assert counts()["tent"][0] == 1 + 7
    with app.app_context():
        assert sum(row.searches for row in db.session.scalars(select(SearchDay))) == 1 + 7 + 7 + 1


def test_pages_of_products_without_a_search_set_no_cookie(shopper: Shopper) -> None:
    page = shopper.get("/search?q=tent")
    fresh = Shopper(shopper.client.application)
    answer = fresh.get(first_product(page))
    assert "Set-Cookie" not in answer.headers and "Cache-Control" not in answer.headers


@pytest.mark.parametrize(
    "words", ["4111 1111 1111 1111", "mia@moss.test", "07700 900123", "x" * 101, "x" * 5000], ids=lambda w: w[:12]
)
def test_what_may_name_somebody_is_stored_nowhere(shopper: Shopper, counts: Callable[[], Counts], words: str) -> None:
    assert shopper.get(f"/search?q={words}").status_code == 200
    assert counts() == {} and shopper.cookie("trail") is None


def test_a_search_counts_to_the_day_of_the_shop(
    app: Flask, shopper: Shopper, counts: Callable[[], Counts], site_id: int, clock: StoppedClock
) -> None:
    clock.move(hours=11, minutes=59)
    shopper.get("/search?q=tent")
    clock.move(minutes=2)
    shopper.get("/search?q=stove")
    counts()
    with app.app_context():
        rows = {row.word: row.day for row in db.session.scalars(select(SearchWordDay))}
        assert (rows["stove"] - rows["tent"]).days == 1
        assert rows["stove"] == site_today(ports.clock(), site_id)


def test_a_folder_that_cannot_be_written_fails_no_search(app: Flask, shopper: Shopper) -> None:
    folder = app.config["SHOP"].counting_folder
    folder.write_text("a file in its place")
    assert shopper.get("/search?q=tent").status_code == 200


CARDS = ("4111111111111111", "5555555555554444", "378282246310005", "30569309025904", "6011111111111117")
PEOPLE = ("mia.moss{}example.org", "M.Moss+shop{}mail.example.co.uk", "mia{}moss", "“mia”{}moss.test")
PHONES = (("+44", "7700", "900123"), ("07700", "900123"), ("(020)", "7946", "0958"), ("555", "123", "4567"))
GAPS = ("", " ", "-", "_", ".", " / ", "*", " – ", "%20", "__")
AROUND = ("{}", "card {} please", "{} 12/27", "tent {}")


def personal_searches() -> list[str]:
    """Two hundred and more searches that name a card or a person."""
    grouped = [gap.join((card[:4], card[4:8], card[8:12], card[12:])) for card in CARDS for gap in GAPS]
    cards = [around.format(card) for around in AROUND for card in grouped]
    people = [person.format(at) for person in PEOPLE for at in ("@", "%40", "%2540", "＠")]
    phones = [gap.join(parts) for parts in PHONES for gap in GAPS[1:]]
    return cards + people + phones


def test_what_names_a_card_or_a_person_is_in_no_table_no_file_and_no_log(
    app: Flask, shopper: Shopper, counts: Callable[[], Counts], capfd: pytest.CaptureFixture[str]
) -> None:
    searches = personal_searches()
    assert len(set(searches)) >= 200
    for typed in searches:
        assert shopper.get(f"/search?q={quote(typed)}").status_code == 200
    with app.app_context():
        assert not ports.counting().has_pending()
    assert counts() == {}
    logged = "".join(capfd.readouterr())
    assert [typed for typed in searches if typed in logged or quote(typed) in logged] == []
