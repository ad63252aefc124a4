"""Searches with prices, numbers, values and brands as shoppers meet them: suggested, applied and taken off."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, quote_plus

import pytest
from flask import Flask

from app.domain.sites.settings import change_settings
from app.transaction import transaction
from tests.blueprints.storefront.conftest import Get

APPLIED, OFFERED = "Chosen filters", "Filters that your search may mean"


@pytest.fixture
def applied(app: Flask, site_id: int) -> None:
    """The site applies what it understands."""
    set_mode(app, site_id, "on")


def set_mode(app: Flask, site_id: int, mode: str) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"search-understanding": mode})


def search(get: Get, words: str, rest: str = "") -> str:
    page = get(f"/search?q={quote_plus(words)}{rest}")
    assert page.status_code == 200
    return page.text


def links(page: str, label: str) -> dict[str, str]:
    """The addresses of the chips of a list, by their texts."""
    found = re.search(rf'<ul class="chips[^"]*" aria-label="{label}">(.*?)</ul>', page, re.DOTALL)
    chips = re.findall(r'<a rel="nofollow" href="([^"]*)"[^>]*>(.*?)</a>', found[1] if found else "", re.DOTALL)
    return {" ".join(re.sub("<[^>]*>", "", html.unescape(text)).split()): html.unescape(url) for url, text in chips}


def total(page: str) -> int:
    found = re.search(r"<strong>([0-9,]+)</strong> product", page)
    assert found
    return int(found[1])


def test_what_a_search_may_mean_is_offered_with_its_count_and_one_click_applies_it(get: Get):
    page = search(get, "tents under £40")
    assert links(page, APPLIED) == {}
    offers = links(page, OFFERED)
    assert list(offers) == ["Price: up to £40.00 3 products"]
    clicked = get(offers["Price: up to £40.00 3 products"]).text
    assert total(clicked) == 3
    assert "Results for “tents under £40”" in clicked
    assert set(links(clicked, APPLIED)) == {"Remove Kind: Tents", "Remove Price: up to £40.00"}


def test_taking_an_applied_suggestion_off_offers_it_again(get: Get):
    offers = links(search(get, "tents under £40"), OFFERED)
    clicked = get(next(iter(offers.values()))).text
    again = get(links(clicked, APPLIED)["Remove Price: up to £40.00"]).text
    assert links(again, APPLIED) == {}
    assert links(again, OFFERED) == offers


@pytest.fixture
def shown_colours(app: Flask, site_id: int) -> None:
    """Results have a filter by colour, the words whatever they are."""
    with app.app_context(), transaction():
        change_settings(site_id, {"search-default-filters": ["colour", "manufacturer", "waterproof", "price"]})


def counted_links(page: str) -> list[tuple[int, str]]:
    """The choices of the rail that stand with a count: the count and the address."""
    found = re.findall(r'<a[^>]*href="([^"]*)"[^>]*>((?:(?!</a>).)*?<small>.*?)</a>', page, re.DOTALL)
    return [(int(re.findall(r"[0-9]+", text)[-1]), html.unescape(url)) for url, text in found]


def has_all_of(address: str, other: str) -> bool:
    """Whether an address has the parameters of another as they are there; another value of one adds its products."""
    given = parse_qs(address.partition("?")[2])
    return all(given.get(name) == values for name, values in parse_qs(other.partition("?")[2]).items())


@pytest.mark.usefixtures("shown_colours")
@pytest.mark.parametrize("words", ["navy tents", "rain tents navy", "navy tents under £80", "tents waterproof"])
def test_every_count_is_what_its_click_gives_before_and_after_an_offer_is_taken(get: Get, words: str):
    page = search(get, words)
    offers = links(page, OFFERED)
    assert offers and counted_links(page)
    for text, url in offers.items():
        taken = get(url).text
        assert total(taken) == int(text.split()[-2])
        assert "Remove Kind: Tents" in links(taken, APPLIED)
        beside = [one for one in counted_links(taken) if has_all_of(one[1], url)]
        for count, address in [*counted_links(page), *beside]:
            assert total(get(address).text) == count, address


@pytest.mark.usefixtures("shown_colours")
def test_a_value_chosen_beside_the_results_is_that_filter_alone(get: Get):
    page = get("/search?colour=Navy&q=navy+tents").text
    assert set(links(page, APPLIED)) == {"Remove Colour: Navy"}
    assert total(page) == 4
    assert total(get("/search?price_max=40&q=tents+under+%C2%A340").text) == total(
        get("/search?price_max=40&q=tents+under+%C2%A340&_as=price").text
    )


def test_a_filter_taken_from_an_offer_can_be_changed_and_its_words_stay_the_filter(get: Get):
    offer = next(iter(links(search(get, "tents under £40"), OFFERED).values()))
    changed = get(offer.replace("price_max=40", "price_max=60")).text
    assert set(links(changed, APPLIED)) == {"Remove Kind: Tents", "Remove Price: up to £60.00"}
    assert total(changed) == 5


@pytest.mark.usefixtures("applied")
def test_did_you_mean_suggests_the_whole_search(get: Get):
    page = search(get, "rein tents under £80")
    suggested = re.search(r'Did you mean <a href="([^"]*)">([^<]*)</a>', page)
    assert suggested and suggested[2] == "rain tents under £80"
    assert html.unescape(suggested[1]) == "/search?q=rain+tents+under+%C2%A380"
    assert "Remove Price: up to £80.00" in links(get(html.unescape(suggested[1])).text, APPLIED)


def test_a_search_that_says_nothing_offers_nothing(get: Get):
    assert OFFERED not in search(get, "tents")
    assert OFFERED not in search(get, "rain")


def test_nothing_is_offered_while_the_site_has_it_off(app: Flask, get: Get, site_id: int):
    set_mode(app, site_id, "off")
    page = search(get, "tents under £40")
    assert OFFERED not in page and APPLIED not in page


@pytest.mark.usefixtures("applied")
def test_understood_words_are_filters_that_the_rail_shows_as_chosen(get: Get):
    page = search(get, "navy tents under £80")
    assert set(links(page, APPLIED)) == {
        "Remove Colour: Navy",
        "Remove Kind: Tents",
        "Remove Price: up to £80.00",
    }
    assert total(page) == 3
    assert re.search(r'name="price_max"[^>]*value="80"', page)
    assert re.search(r'value="navy tents under £80"', page), "the box keeps what was typed"


@pytest.mark.usefixtures("applied")
def test_a_number_is_converted_into_the_unit_of_the_taxonomy(get: Get):
    page = search(get, "tents up to 2000 g")
    assert "Remove Weight: up to 2000 g" in links(page, APPLIED)
    assert total(page) == 3


@pytest.mark.usefixtures("applied")
def test_a_chip_that_is_taken_off_leaves_its_words_as_words(get: Get):
    chips = links(search(get, "navy tents under £80"), APPLIED)
    address = chips["Remove Price: up to £80.00"]
    assert "_as=price" in address
    page = get(address).text
    assert set(links(page, APPLIED)) == {"Remove Colour: Navy", "Remove Kind: Tents"}
    assert "price_max=80" not in page


@pytest.mark.usefixtures("applied")
def test_clearing_all_takes_every_understood_filter_off(get: Get):
    page = search(get, "navy tents under £80")
    address = html.unescape(re.search(r'class="clear" href="([^"]*)"', page)[1])  # type: ignore[index]
    assert links(get(address).text, APPLIED) == {}


@pytest.mark.usefixtures("applied")
def test_a_cleared_field_of_the_rail_is_a_decision_too(get: Get):
    page = search(get, "tents under £40", "&price_min=&price_max=")
    assert not any("Price" in chip for chip in links(page, APPLIED))


@pytest.mark.usefixtures("applied")
def test_a_filter_that_the_shopper_chose_goes_before_the_words(get: Get):
    page = search(get, "tents under £40", "&price_max=60")
    assert "Remove Price: up to £60.00" in links(page, APPLIED)
    assert total(page) == 5


@pytest.mark.usefixtures("applied")
def test_a_search_that_its_filters_would_empty_keeps_its_words(get: Get):
    page = search(get, "mugs under £5")
    assert links(page, APPLIED) == {}
    assert total(page) == total(search(get, "mugs under £5", "&_as=price"))


@pytest.mark.usefixtures("applied")
def test_pages_of_an_understood_search_keep_the_typed_words_alone(get: Get):
    page = search(get, "tents under £90")
    following = re.search(r'href="(/search\?q=[^"]*p=2)"', page)
    assert following and html.unescape(following[1]) == "/search?q=tents+under+%C2%A390&p=2"
    assert total(get(html.unescape(following[1])).text) == total(page)


@pytest.mark.usefixtures("applied")
def test_a_brand_beside_the_kind_of_product_is_its_maker(get: Get):
    page = search(get, "moor mugs")
    assert "Remove Brand: Moor" in links(page, APPLIED)
    assert total(page) == 2


def test_search_engines_read_the_same_of_an_understood_search(app: Flask, get: Get, site_id: int):
    def robots(page: str) -> list[str]:
        return re.findall(r'<meta name="robots"[^>]*>|<link rel="canonical"[^>]*>', page)

    set_mode(app, site_id, "off")
    before = robots(search(get, "tents under £40"))
    set_mode(app, site_id, "on")
    assert robots(search(get, "tents under £40")) == before
    assert robots(search(get, "tents under £40", "&_as=price")) == before


@pytest.mark.usefixtures("applied")
@pytest.mark.parametrize("rest", ["&_as=" + "x" * 200, "&_as=price&_as=price", "&_as=level&_as=nothing", "&_as="])
def test_any_decision_in_the_address_is_answered(get: Get, rest: str):
    search(get, "tents under £40", rest)


def test_more_decisions_than_an_address_carries_are_refused(get: Get):
    page = get("/search?q=tents" + "".join(f"&_as=f{place}" for place in range(11)))
    assert page.status_code == 400
