"""Synonyms, rules and stop words as shoppers meet them."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

from app.adapters.whoosh import WhooshEngine
from app.domain.catalogue.models import Product
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.search.serving import configuration
from app.domain.sites.models import Setting
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.storefront import small_shop
from tests.blueprints.storefront.conftest import Get
from tests.fakes.clock import StoppedClock
from tests.fakes.sentence_model import WordSums


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


def add_synonym(app: Flask, site_id: int, *words: str) -> None:
    with app.app_context(), transaction():
        db.session.add(
            Synonym(
                site_id=site_id,
                type="EQUIVALENT",
                words=list(words),
                fingerprint="|".join(words),
                words_version=configuration.raise_version(site_id),
                created_at=small_shop.BEGAN,
                updated_at=small_shop.BEGAN,
                updated_by="tests",
            )
        )


def add_rule(app: Flask, site_id: int, term: str, **more: Any) -> None:
    with app.app_context(), transaction():
        db.session.add(
            SearchRule(
                site_id=site_id,
                term=term,
                normalized_term=term,
                words_version=configuration.raise_version(site_id),
                created_at=small_shop.BEGAN,
                updated_at=small_shop.BEGAN,
                updated_by="tests",
                **more,
            )
        )


def test_a_synonym_is_served_within_two_seconds(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    assert "No results" in get("/search?q=beaker").text
    add_synonym(app, site_id, "beaker", "mug")
    clock.move(seconds=2)
    page = get("/search?q=beaker").text
    assert "<strong>3</strong> products" in page
    assert "Nothing was found" not in page


def test_a_rule_sends_a_search_to_a_page(app: Flask, get: Get, site_id: int):
    add_rule(app, site_id, "returns", redirect_url="/pages/delivery?from=search")
    answer = get("/search?q=%20Returns&p=7")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/pages/delivery?from=search")
    assert answer.headers["Cache-Control"] == "no-store"
    swap = get("/search?q=returns", HX_Request="true", HX_Target="#listing")
    assert (swap.status_code, swap.headers["HX-Redirect"]) == (204, "/pages/delivery?from=search")


def test_a_page_with_a_name_beyond_latin_is_gone_to_from_a_swap_too(app: Flask, get: Get, site_id: int):
    """A header holds no such characters, and servers refuse to send one that does."""
    add_rule(app, site_id, "tea", redirect_url="/c/茶")
    swap = get("/search?q=tea", HX_Request="true", HX_Target="#listing")
    assert swap.headers["HX-Redirect"] == get("/search?q=tea").headers["Location"] == "/c/%E8%8C%B6"


@pytest.mark.parametrize(
    "path",
    [
        "//evil.test/x",
        "https://evil.test",
        "/\\evil.test",
        "/search?q=returns",
        "/%73earch?q=returns",
        "/search?q=&q=returns",
        "/%2f%2fevil.test",
    ],
)
def test_a_stored_redirect_that_leaves_the_shop_or_never_ends_is_ignored(app: Flask, get: Get, site_id: int, path: str):
    add_rule(app, site_id, "returns", redirect_url=path)
    assert get("/search?q=returns").status_code == 200


def test_a_banner_stands_above_the_results(app: Flask, get: Get, site_id: int):
    add_rule(app, site_id, "mug", banner_text="Two for <one>", banner_link_url="/c/gifts")
    page = get("/search?q=mug").text
    assert '<p class="search-banner" role="note"><a href="/c/gifts">Two for &lt;one&gt;</a></p>' in page
    assert page.index("search-banner") < page.index('id="listing"')
    assert "search-banner" not in get("/search?q=tent").text


def test_a_banner_s_link_that_leaves_the_shop_is_text_alone(app: Flask, get: Get, site_id: int):
    add_rule(app, site_id, "mug", banner_text="Sale", banner_link_url="javascript:alert(1)")
    assert '<p class="search-banner" role="note">Sale</p>' in get("/search?q=mug").text


def test_pins_boosts_and_buries_shape_the_results(app: Flask, get: Get, site_id: int):
    with app.app_context():
        mugs = list(db.session.scalars(select(Product.sku).where(Product.name.contains("mug")).order_by(Product.sku)))
        tents = select(Product.sku).where(Product.name.contains("tent")).order_by(Product.sku)
        tent = db.session.scalars(tents).first()
    add_rule(app, site_id, "mug", pins=[{"sku": tent, "position": 2}], boosts=[mugs[2]], buries=[mugs[0]])
    page = get("/search?q=mug").text
    assert "<strong>4</strong> products" in page
    shown = sorted((page.index(f'/p/{"tent" if sku == tent else "mug"}-{sku[2:]}"'), sku) for sku in (*mugs, tent))
    assert [sku for _, sku in shown] == [mugs[2], tent, mugs[1], mugs[0]]


def test_while_the_database_is_away_synonyms_and_banners_stay_and_products_stand_where_their_words_put_them(
    app: Flask, get: Get, site_id: int, clock: StoppedClock
):
    plain = get("/search?q=mug").text
    with app.app_context():
        tent = db.session.scalars(select(Product.sku).where(Product.name.contains("tent"))).first()
    add_synonym(app, site_id, "beaker", "mug")
    add_rule(app, site_id, "beaker", banner_text="Hot or cold", pins=[{"sku": tent, "position": 1}])
    clock.move(seconds=2)
    assert "<strong>4</strong> products" in get("/search?q=beaker").text
    clock.move(seconds=5)

    def refuse(*_: object) -> None:
        away = sqlite3.OperationalError("unable to open database file")
        away.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
        raise OperationalError("SELECT", {}, away)

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", refuse)
    page = get("/search?q=beaker")
    event.remove(engine, "before_cursor_execute", refuse)
    assert page.status_code == 200
    assert "Hot or cold" in page.text
    assert "<strong>3</strong> products" in page.text
    assert "<strong>3</strong> products" in plain


def test_stop_words_need_not_match(app: Flask, get: Get, site_id: int, clock: StoppedClock):
    assert "of these words" in get("/search?q=moor+mug+rocket").text
    with app.app_context(), transaction():
        db.session.add(Setting(site_id=site_id, key="search-stop-words", value=["Rockets"]))
    clock.move(seconds=2)
    assert "of these words" not in get("/search?q=mug+rocket").text


def test_a_search_is_by_meaning_unless_the_site_switched_it_off(
    app: Flask, get: Get, site_id: int, clock: StoppedClock
):
    model = WordSums()
    with app.app_context():
        engine = WhooshEngine(app.config["SHOP"].index_dir, model, wait=60)
        app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=engine)
        small_shop.index(site_id)
    get("/search?q=moor+mug")
    assert model.embedded[-1] == "moor mug"
    with app.app_context(), transaction():
        db.session.add(Setting(site_id=site_id, key="search-by-meaning", value=False))
    clock.move(seconds=2)
    get("/search?q=moor+tent")
    assert model.embedded[-1] == "moor mug"


def test_another_shop_s_rules_and_synonyms_change_nothing(app: Flask, get: Get, site_id: int):
    """T03: every product of the other shop has a word that no answer here may have."""
    with app.app_context():
        other = small_shop.build("other.test", "Other shop")
        with transaction():
            for product in db.session.scalars(select(Product).where(Product.site_id == other)):
                product.name = f"Canaryword {product.name}"
        small_shop.index(other)
        taken = db.session.scalars(select(Product.sku).where(Product.site_id == other)).all()
    plain = {words: get(f"/search?q={words}").text for words in ("mug", "tent", "canaryword", "beaker")}
    add_synonym(app, other, "beaker", "canaryword", "mug")
    add_rule(app, other, "tent", pins=[{"sku": sku, "position": at} for at, sku in enumerate(taken, 1)])
    add_rule(app, other, "mug", redirect_url="/pages/canaryword", banner_text="Canaryword")
    for words, before in plain.items():
        answer = get(f"/search?q={words}")
        assert (answer.status_code, answer.text) == (200, before)
        assert "Canaryword" not in answer.text
    with app.app_context():
        assert configuration.served(site_id).rules.by_term == {}
