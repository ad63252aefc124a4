"""Every theme shows everything; the site chooses, an admin may look at another first, and nobody else sees that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.domain.merchandising.models import Tree
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.transaction import transaction
from app.web.themes.drawing import ENVIRONMENTS, THEMES
from app.web.themes.folders import find_themes
from app.web.tokens import issue_theme_preview
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock
from tests.web.themes.test_folders import add_theme

STYLE = re.compile(r'<link rel="stylesheet" href="([^"]+)">')
SCRIPT = re.compile(r'<script src="([^"]+)" defer></script>')


@pytest.fixture
def themes(app: Flask, tmp_path: Path) -> Iterator[Path]:
    """The folder of the shop's own themes; they are read again with `read_again`."""
    before = app.extensions[THEMES], app.extensions[ENVIRONMENTS]
    folder = tmp_path / "themes"
    folder.mkdir()
    yield folder
    app.extensions[THEMES], app.extensions[ENVIRONMENTS] = before


def read_again(app: Flask, folder: Path) -> None:
    app.extensions[THEMES], app.extensions[ENVIRONMENTS] = find_themes(folder), {}


def choose(app: Flask, site_id: int, theme: str, clock: StoppedClock) -> None:
    with app.app_context(), transaction():
        change_settings(site_id, {"storefront-theme": theme})
    clock.move(seconds=1)


def style_of(answer: TestResponse) -> str:
    found = STYLE.findall(answer.text)
    assert len(found) == 1, "one style sheet a page"
    return found[0]


LISTS = ("/c/camping", "/c/camping?colour=Fern", "/search?q=tent", "/search?q=zzzz", "/collections/best")
PATHS = ("/", "/p/tent-3", *LISTS)


@pytest.mark.parametrize("theme", sorted(find_themes().by_name))
@pytest.mark.parametrize("path", [*PATHS, "/basket", "/pages/delivery", "/nothing"])
def test_every_page_has_one_heading_and_the_parts_that_every_page_has(
    app: Flask, get: Get, site_id: int, clock: StoppedClock, theme: str, path: str
) -> None:
    choose(app, site_id, theme, clock)
    page = get(path)
    assert f"/static/themes/{theme}/shop-" in style_of(page)
    assert page.text.count("<h1") == 1
    for part in (
        '<main id="main">',
        'id="basket-link"',
        'id="all-categories"',
        'role="search"',
        '<footer class="foot">',
    ):
        assert part in page.text, part


@pytest.mark.parametrize("theme", sorted(find_themes().by_name))
def test_a_category_has_trail_heading_text_sub_categories_filters_and_products(
    app: Flask, get: Get, site_id: int, clock: StoppedClock, theme: str
) -> None:
    choose(app, site_id, theme, clock)
    page = get("/c/camping").text
    assert re.search(r'<nav class="trail".*?<span aria-current="page">Camping</span>', page, re.DOTALL)
    assert re.search(r"<h1[^>]*>Camping</h1>", page)
    assert "For nights outside." in page
    assert 'href="/c/camping/tents"' in page
    assert 'id="filters"' in page and 'id="listing"' in page
    assert page.count('class="card"') == 4


@pytest.mark.parametrize("theme", sorted(find_themes().by_name))
def test_a_landing_page_has_trail_heading_intro_the_value_ticked_and_links_to_the_others(
    app: Flask, get: Get, site_id: int, clock: StoppedClock, theme: str
) -> None:
    words = {"value": "Moor", "heading": "Tents for the moor", "intro": "Hardy and dry."}
    with app.app_context(), transaction():
        tree = db.session.query(Tree).filter_by(site_id=site_id).one()
        tree.default_landing_rules = [{"facetId": "manufacturer", "overrides": [words]}]
    choose(app, site_id, theme, clock)
    page = get("/c/camping/tents/brand/moor").text
    assert re.search(r'<nav class="trail".*?<span aria-current="page">Moor</span>', page, re.DOTALL)
    assert re.search(r"<h1[^>]*>Tents for the moor</h1>", page) and "Hardy and dry." in page
    assert re.search(r'<a id="f-manufacturer-\d"[^>]* class="on" aria-current="true">', page)
    assert re.search(
        r'id="landing-links".*?<a href="/c/camping/tents/brand/moor" aria-current="page">', page, re.DOTALL
    )
    assert page.count('class="card"') == 3
    plain = get("/c/camping/tents").text
    assert 'data-facet-href="/c/camping/tents?manufacturer=Moor"' in plain
    assert 'id="landing-links"' in plain


@pytest.mark.parametrize("theme", sorted(find_themes().by_name))
def test_a_product_has_its_facts_and_can_be_bought(
    app: Flask, get: Get, site_id: int, clock: StoppedClock, theme: str
) -> None:
    choose(app, site_id, theme, clock)
    page = get("/p/tent-3").text
    for part in ("<h1>Fell tent 3</h1>", "£45.50", "Made for <b>rain</b>", "Weight", 'name="sku"', "Large"):
        assert part in page, part


def test_style_sheet_and_script_are_kept_for_good_under_their_content(get: Get) -> None:
    page = get("/")
    scripts = SCRIPT.findall(page.text)
    assert page.text.count("<script") == len(scripts) == 1
    for address in (style_of(page), *scripts):
        answer = get(address)
        assert re.search(r"-[0-9a-f]{12}\.(css|js)$", address)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        packed = get(address, Accept_Encoding="gzip")
        assert packed.headers["Content-Encoding"] == "gzip"
        assert len(packed.data) < len(answer.data) / 2
        assert "Accept-Encoding" in packed.headers["Vary"]
        assert "Content-Encoding" not in get(address, Accept_Encoding="gzip;q=0, br").headers
        assert get(address, If_None_Match=answer.headers["ETag"]).status_code == 304


def test_a_page_from_before_an_upgrade_gets_the_present_style_but_may_not_keep_it(get: Get) -> None:
    answer = get("/static/themes/market/shop-000000000000.css")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")
    assert get("/static/themes/nothing/shop-000000000000.css").status_code == 404


def test_a_theme_of_the_shops_own_overrides_a_part_and_uses_the_shared_one(
    app: Flask, get: Get, site_id: int, clock: StoppedClock, themes: Path
) -> None:
    folder = add_theme(
        themes,
        "spring",
        style='body { background: url("files/leaf.svg"); }',
        _hero='<p>Spring is here</p>{% include "shared/storefront/_hero.html" %}',
        home='{% extends "shared/storefront/home.html" %}{% block main %}Above all {{ super() }}{% endblock %}',
    )
    (folder / "files").mkdir()
    (folder / "files" / "leaf.svg").write_text("<svg/>")
    read_again(app, themes)
    choose(app, site_id, "spring", clock)
    page = get("/")
    assert "Spring is here" in page.text and "Welcome to Small shop" in page.text and "Above all" in page.text
    named = re.search(r'url\("(files/leaf\.svg\?v=\w{12})"\)', get(style_of(page)).text)
    assert named
    picture = get(f"/static/themes/spring/{named[1]}")
    assert picture.text == "<svg/>" and "immutable" in picture.headers["Cache-Control"]
    picture.close()
    unversioned = get("/static/themes/spring/files/leaf.svg")
    assert "immutable" not in unversioned.headers["Cache-Control"]
    unversioned.close()
    assert get("/static/themes/spring/files/../theme.json").status_code == 404
    assert "Spring is here" not in get("/c/camping").text


def test_a_theme_that_is_gone_leaves_the_shop_in_the_default(
    app: Flask, get: Get, site_id: int, clock: StoppedClock
) -> None:
    choose(app, site_id, "gone", clock)
    assert "/static/themes/market/" in style_of(get("/c/camping"))


@pytest.fixture
def previewing(app: Flask, site_id: int, clock: StoppedClock) -> Get:
    """A browser with a preview of the gallery that the admin of the small shop began."""
    client = app.test_client()
    with app.app_context():
        token = issue_theme_preview(site_id, "gallery", clock.now())
    for host in ("shop.test", "other.test"):
        client.set_cookie("theme-preview", token, domain=host)
    return lambda path, host="shop.test": client.get(path, base_url=f"http://{host}")


def test_a_preview_is_seen_by_its_browser_alone_and_kept_by_nobody(get: Get, previewing: Get) -> None:
    for path in PATHS:
        previewed, public = previewing(path), get(path)
        assert "/static/themes/gallery/" in style_of(previewed)
        assert "Shoppers do not see it" in previewed.text
        assert (previewed.headers["Cache-Control"], previewed.headers["X-Robots-Tag"]) == ("no-store", "noindex")
        assert "/static/themes/market/" in style_of(public)
        assert "Shoppers do not see it" not in public.text
        assert "no-store" not in public.headers.get("Cache-Control", "")
        assert previewing(path).text == previewed.text


def test_a_preview_ends_after_an_hour_and_holds_for_its_site_alone(
    app: Flask, previewing: Get, clock: StoppedClock
) -> None:
    with app.app_context():
        small_shop.build("other.test", "Other shop")
    clock.move(seconds=1)
    assert "/themes/market/" in style_of(previewing("/", host="other.test"))
    clock.move(seconds=3_598)
    assert "/themes/gallery/" in style_of(previewing("/"))
    clock.move(seconds=1)
    assert "/themes/market/" in style_of(previewing("/"))


@pytest.mark.parametrize("token", ["", "x", "W10.x", "a" * 600])
def test_without_a_token_of_ours_there_is_no_preview(app: Flask, site_id: int, token: str) -> None:
    client = app.test_client()
    client.set_cookie("theme-preview", token, domain="shop.test")
    assert client.get(f"/theme-preview?token={token}", base_url="http://shop.test").status_code == 404
    assert "/themes/market/" in style_of(client.get("/", base_url="http://shop.test"))


def test_the_link_of_the_admin_sets_the_cookie_and_a_button_ends_it(
    app: Flask, site_id: int, clock: StoppedClock
) -> None:
    client = app.test_client()
    with app.app_context():
        token = issue_theme_preview(site_id, "gallery", clock.now())
    shop = "http://shop.test"
    begun = client.get(f"/theme-preview?token={token}", base_url=shop)
    assert (begun.status_code, begun.location) == (302, "/")
    assert "HttpOnly" in begun.headers["Set-Cookie"] and "SameSite=Lax" in begun.headers["Set-Cookie"]
    assert "/themes/gallery/" in style_of(client.get("/", base_url=shop))
    client.post("/theme-preview/end", base_url=shop, headers={"Sec-Fetch-Site": "same-origin"})
    assert "/themes/market/" in style_of(client.get("/", base_url=shop))


def test_a_theme_with_a_home_page_of_its_own_shows_the_rows_of_products(
    app: Flask, get: Get, site_id: int, clock: StoppedClock, themes: Path
) -> None:
    rows = "{% for shelf in page.shelves %}<h2>{{ shelf.name }}: {{ shelf.hits|length }}</h2>{% endfor %}"
    add_theme(themes, "rows", home=f'{{% extends "storefront/base.html" %}}{{% block main %}}{rows}{{% endblock %}}')
    read_again(app, themes)
    choose(app, site_id, "rows", clock)
    assert re.findall(r"<h2>(.+?): [1-9]</h2>", get("/").text) == ["Featured", "New in"]
