"""Search over HTTP."""

from __future__ import annotations

import gc
import random
import re
import string
import time
from urllib.parse import quote

import pytest
from flask import Flask

from app.domain.catalogue.models import Page
from app.domain.sites.models import Setting
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get


def test_words_find_products(get: Get):
    page = get("/search?q=mug")
    assert page.status_code == 200
    assert "<h1>Results for “mug”</h1>" in page.text
    assert "<strong>3</strong> products" in page.text
    assert 'value="mug"' in page.text


def test_without_words_search_offers_the_categories(get: Get):
    page = get("/search").text
    assert "Search the shop" in page
    assert 'href="/c/camping"' in page


def test_another_form_of_a_word_is_found_and_is_no_slip(get: Get):
    page = get("/search?q=tented").text
    assert "<h1>Results for “tented”</h1>" in page and "No results" not in page and "Did you mean" not in page
    shown = re.search(r"<strong>(\d+)</strong> products", get("/search?q=tent").text)
    assert shown and shown[0] in page
    assert '<a href="/pages/delivery">Delivery in the rain</a>' in get("/search?q=raining").text


def test_a_slip_is_corrected_and_said_so(get: Get):
    page = get("/search?q=mgu").text
    assert "No results for “mgu”. Showing results for “mug”." in page


def test_a_word_of_the_language_finds_nothing_else_and_another_spelling_is_offered(get: Get):
    page = get("/search?q=tint").text
    assert "No results for “tint”" in page
    assert 'Did you mean <a href="/search?q=tent">tent</a>?' in page
    assert "Showing results for" not in page


def test_nothing_found_says_what_helps(get: Get):
    page = get("/search?q=zzzqqqxxx").text
    assert "No results for “zzzqqqxxx”" in page
    assert "Check the spelling." in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("moor mug", "2 products have all of these words; the others have most of them."),
        ("fell mug", "1 product has all of these words; the others have most of them."),
        ("fell moor", "No product has all of these words. These have most of them."),
    ],
)
def test_a_list_with_fewer_words_says_how_many_products_have_them_all(get: Get, words: str, said: str):
    assert f"<p>{said}</p>" in get(f"/search?q={words}").text


def test_nothing_is_said_of_fewer_words_when_every_product_shown_has_them_all(get: Get):
    assert "of these words" not in get("/search?q=mug").text


def test_results_can_be_filtered_by_the_site_s_default_filters(get: Get):
    page = get("/search?q=tent&manufacturer=Moor").text
    assert "<strong>3</strong> products" in page
    assert "Brand: Moor" in page


def test_pages_and_collections_are_found_beside_products(get: Get):
    page = get("/search?q=rain").text
    assert '<a href="/pages/delivery">Delivery in the rain</a>' in page
    assert '<a href="/collections/best">Best of rain</a>' in page


def test_a_page_stands_above_the_products_only_by_its_title(app: Flask, get: Get, site_id: int):
    with app.app_context():
        with transaction():
            page = db.session.query(Page).filter_by(site_id=site_id, seo_name="delivery").one()
            page.body = "<p>A mug travels well wrapped.</p>"
        small_shop.index(site_id)
    text = get("/search?q=mug").text
    assert text.index('class="results"') < text.index("<h2>Pages that mention “mug”</h2>")
    assert "<h2>Pages for" not in text
    above = get("/search?q=delivery").text
    assert above.index("<h2>Pages for “delivery”</h2>") < above.index('class="results"')


def test_a_search_that_only_a_page_answers_shows_the_page_and_no_tips(get: Get):
    page = get("/search?q=delivery").text
    assert "<h1>Results for “delivery”</h1>" in page
    assert page.index("<h2>Pages for “delivery”</h2>") < page.index("<strong>0</strong> products")
    assert "Search tips" not in page and "You might like" not in page


def mention(app: Flask, site_id: int, word: str, pages: int) -> None:
    """Let so many pages mention a word that no product and no title has."""
    with app.app_context():
        with transaction():
            for number in range(pages):
                texts = {"title": f"Advice {number}", "body": f"<p>On {word} and more.</p>"}
                db.session.add(Page(site_id=site_id, seo_name=f"advice-{number}", updated_at=small_shop.BEGAN, **texts))
        small_shop.index(site_id)


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        (1, "1 page mentions “sunstroke”"),
        (2, "2 pages mention “sunstroke”"),
        (7, "7 pages mention “sunstroke”"),
    ],
)
def test_a_search_that_only_pages_mention_says_so(app: Flask, get: Get, site_id: int, pages: int, said: str):
    mention(app, site_id, "sunstroke", pages)
    text = get("/search?q=sunstroke").text
    assert f"<h1>No products; {said}</h1>" in text
    assert f"<title>No products; {said} | Small shop</title>" in text
    assert "No results" not in text
    assert text.index("<h2>Pages that mention “sunstroke”</h2>") < text.index("<strong>0</strong> products")
    assert f'<p role="status"><strong>0</strong> products<span class="unseen">; {said}</span></p>' in text


def test_the_list_alone_says_so_too(app: Flask, get: Get, site_id: int):
    mention(app, site_id, "sunstroke", 2)
    swap = get("/search?q=sunstroke", headers={"HX-Request": "true", "HX-Target": "listing"}).text
    assert "<title>No products; 2 pages mention “sunstroke” | Small shop</title>" in swap
    assert "; 2 pages mention “sunstroke”</span></p>" in swap


def test_pages_are_said_by_the_spelling_that_found_them(app: Flask, get: Get, site_id: int):
    mention(app, site_id, "sunstroke", 2)
    assert "<h1>No products; 2 pages mention “sunstroke”</h1>" in get("/search?q=sunstrooke").text


def test_filters_that_leave_no_product_are_not_taken_for_a_search_without_products(get: Get):
    assert "No products;" not in get("/search?q=rain&manufacturer=Nobody").text


def test_a_search_that_finds_nothing_names_each_main_category_once_below_the_tips(get: Get):
    text = get("/search?q=zzzqq").text
    below = text[text.index("Search tips") : text.index("</main>")]
    paths = re.findall(r'href="(/c/[^"]+)"', below)
    assert paths and len(paths) == len(set(paths))


def test_words_that_a_page_answers_are_not_taken_for_a_slip_of_a_products_name(app: Flask, get: Get, site_id: int):
    with app.app_context():
        with transaction():
            db.session.add(Page(site_id=site_id, seo_name="mgu", title="MGU", body="", updated_at=small_shop.BEGAN))
        small_shop.index(site_id)
    page = get("/search?q=mgu").text
    assert "<h1>Results for “mgu”</h1>" in page and "Showing results for" not in page


def test_no_page_of_another_spelling_stands_beside_products_that_have_the_words(app: Flask, get: Get, site_id: int):
    with app.app_context():
        with transaction():
            db.session.add(Page(site_id=site_id, seo_name="mgu", title="MGU", body="", updated_at=small_shop.BEGAN))
        small_shop.index(site_id)
    page = get("/search?q=mug").text
    assert "<h1>Results for “mug”</h1>" in page and "Pages for" not in page


def test_the_second_page_of_a_search_that_a_page_answers_is_the_same_search(app: Flask, get: Get, site_id: int):
    with app.app_context():
        with transaction():
            added = Page(site_id=site_id, seo_name="tens", title="Fell tnet", body="", updated_at=small_shop.BEGAN)
            db.session.add(added)
        small_shop.index(site_id)
    first, second = (get(f"/search?q=fell+tnet&p={number}").text for number in (1, 2))
    for page in (first, second):
        assert "<h1>Results for “fell tnet”</h1>" in page and "Showing results for" not in page
    assert "<h2>Pages for “fell tnet”</h2>" in first and "<h2>Pages for" not in second


def test_pages_are_not_found_when_content_search_is_off(app: Flask, get: Get, site_id: int):
    with app.app_context(), transaction():
        db.session.add(Setting(site_id=site_id, key="search-content-enabled", value=False))
    assert '/pages/delivery">Delivery in the rain</a></li></ul>\n</section>' not in get("/search?q=rain").text


@pytest.mark.parametrize(
    "words",
    [
        "<script>alert(1)</script>",
        '"><img src=x onerror=alert(1)>',
        "{{7*7}}",
        "' OR 1=1 --",
        "* [a TO z] NOT NOT site:1",
        "tent" * 1000,
        "\u202e\ufffd",
    ],
)
def test_hostile_words_are_only_words(get: Get, words: str):
    page = get(f"/search?q={quote(words)}")
    assert page.status_code == 200
    assert "<script>alert" not in page.text and "<img src=x" not in page.text and ">49<" not in page.text


def test_a_swap_gets_the_listing_alone(get: Get):
    part = get("/search?q=mug", HX_Request="true", HX_Boosted="true", HX_Target="div#listing").text
    assert "<html" not in part and 'id="listing"' in part


def test_300_hostile_searches_each_answer_within_100_ms_and_without_an_error(get: Get):
    """T50. Time of this process alone, so that a busy machine fails nothing, and without collecting the garbage of the
    tests before; bench/hostile.py asks a large shop."""
    chance = random.Random(2026)
    texts = (
        "mug",
        "tent",
        "*",
        "?",
        '"',
        "(",
        "[a TO z]",
        "id:",
        "OR",
        "AND",
        "NOT",
        "~2",
        "^9",
        "\u202e",
        "é",
        "💥",
        "%00",
    )
    get("/search?q=warm+up+tnet")
    gc.collect()
    gc.freeze()  # As a web process does once it is ready.
    for _ in range(300):
        words = "".join(chance.choices([*texts, " ", *string.ascii_letters], k=chance.choice((5, 60, 199))))
        start = time.process_time()
        answer = get(f"/search?q={quote(words)}")
        assert time.process_time() - start < 0.1, words
        assert answer.status_code in (200, 400), words
    gc.unfreeze()
