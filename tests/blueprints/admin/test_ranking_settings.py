"""The ranking settings: previewed, replayed, saved, undone, and as JSON."""

from __future__ import annotations

from datetime import timedelta

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.search.engine import SearchContext
from app.domain.search.index.outbox import apply_waiting
from app.domain.search.index.rebuild import rebuild
from app.domain.search.ranking_settings import RankingSettings, SoldOut, Weight
from app.domain.search.serving import configuration
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchWordDay
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.jobs.relevance import replay
from app.transaction import transaction
from tests import searching
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.domain.relevance.trials.preview_shop import shop
from tests.factories import WHEN, make_user
from tests.page_client import PageClient

PATH, TRY = "/admin/search/ranking/settings", "/admin/search/try?kind=ranking"
PLAIN = {"soldOut": "as-is", "sales": "none", "newness": "none", "stock": "none"}
NAMES = {"MUG-1": "Blue mug", "MUG-2": "Green mug", "MUG-3": "Red mug", "JUG-1": "Water jug"}


@pytest.fixture
def someone(app: Flask, indexing: SearchContext) -> Merchandiser:
    """Three mugs of which the first is sold out; shoppers searched mugs and jugs."""
    with app.app_context():
        site_id = shop(indexing, "localhost", NAMES)
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
            db.session.query(Product).filter_by(site_id=site_id, sku="MUG-1").one().stock = 0
            day = site_today(indexing.clock, site_id)
            for word, times in {"mug": 40, "jug": 9}.items():
                db.session.add(SearchWordDay(site_id=site_id, day=day, word=word, searches=times))
        apply_waiting(indexing, site_id)
    indexing.clock.move(seconds=2)  # type: ignore[attr-defined]
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def stored(app: Flask, site_id: int) -> RankingSettings:
    with app.app_context():
        return configuration.served(site_id).ranking


def test_settings_are_saved_noted_and_undone(app: Flask, someone: Merchandiser) -> None:
    someone.get(PATH)
    someone.post(PATH, {"soldOut": "last", "sales": "high", "newness": "low", "stock": "none"})
    assert stored(app, someone.site_id) == RankingSettings(SoldOut.LAST, Weight.HIGH, Weight.LOW, Weight.NONE)
    page = someone.pages.client.get(PATH, base_url=someone.pages.base).text
    assert "Saved: sold-out products, the weight of sales, the weight of newness." in page and "Undo" in page
    with app.app_context():
        entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "settings.search")).one()
        assert (entry.after["search-sold-out"], entry.before["search-weight-sales"]) == ("last", "none")
        entry_id = entry.id
    assert "the weight of sales" in someone.pages.client.get("/admin/search/activity", base_url=someone.pages.base).text
    someone.post(f"/admin/search/activity/{entry_id}/undo", {})
    assert stored(app, someone.site_id) == RankingSettings()


def test_other_settings_of_search_leave_the_ranking(app: Flask, someone: Merchandiser) -> None:
    someone.post(PATH, PLAIN | {"stock": "medium"})
    someone.get("/admin/settings/search")
    someone.post("/admin/settings/search", {"contentSearch": "on"})
    assert stored(app, someone.site_id).stock is Weight.MEDIUM


def test_what_cannot_be_is_refused_by_its_field_and_nothing_is_saved(app: Flask, someone: Merchandiser) -> None:
    page = someone.post(PATH, PLAIN | {"soldOut": "gone", "sales": "most", "stock": ""}, 400)
    said = str(page.texts)
    assert "“Sold-out products in searches” must be as-is, last or hidden, not “gone”." in said
    assert "“Sales” must be none, low, medium or high, not “most”." in said
    assert "“Stock” must be none, low, medium or high." in said
    assert stored(app, someone.site_id) == RankingSettings()


def test_the_preview_compares_the_most_popular_searches_before_anything_is_saved(
    app: Flask, someone: Merchandiser
) -> None:
    text = someone.swap(TRY, PLAIN | {"soldOut": "hidden"}).text
    assert "With sold-out products hidden; no weights" in text
    assert "1 of 2 searches would change." in " ".join(text.split())
    assert "3 → 2 found" in " ".join(text.split()) and 'class="mark' in text
    assert stored(app, someone.site_id) == RankingSettings()


def test_the_preview_opens_the_first_search_that_changes(app: Flask, someone: Merchandiser) -> None:
    with app.app_context(), transaction():
        db.session.query(SearchWordDay).filter_by(word="jug").one().searches = 90
    text = someone.swap(TRY, PLAIN | {"soldOut": "hidden"}).text
    closed, _, opened = text.partition('<details class="tried" open>')
    assert '"tried-words">jug<' in closed and '"tried-words">mug<' in opened


def test_another_search_is_previewed_in_the_form_and_on_a_page_of_its_own(someone: Merchandiser) -> None:
    text = someone.swap(TRY, PLAIN | {"soldOut": "last", "query": "blue mug"}).text
    assert "nothing changes for “blue mug”" in " ".join(text.split())
    page = someone.post(TRY, PLAIN | {"soldOut": "last"}, 200)
    assert page.texts["h1"] == "Preview"


def test_the_top_searches_are_replayed_before_anything_is_saved(app: Flask, someone: Merchandiser) -> None:
    request = someone.swap(TRY, PLAIN | {"soldOut": "hidden"}).text
    assert "Replay the top 200 searches" in request
    answer = someone.post("/admin/search/replays?kind=ranking", PLAIN | {"soldOut": "hidden"})
    address = answer.headers["Location"]
    with app.app_context():
        replay(address.rpartition("/")[2])
    text = someone.pages.client.get(address, base_url=someone.pages.base).text
    assert "Touches 1 of your 2 top searches" in text and "1 would find less" in text


def test_the_editor_of_a_rule_names_products_that_are_hidden_as_sold_out(someone: Merchandiser) -> None:
    rule = {"term": "mug", "pin": ["MUG-1"], "position": ["1"], "boost": ["MUG-2"]}
    assert "Sold out" not in someone.swap("/admin/search/try?kind=rule", rule).text
    someone.post(PATH, PLAIN | {"soldOut": "hidden"})
    text = someone.swap("/admin/search/try?kind=rule", rule).text
    assert "Sold out, and so hidden from searches: MUG-1." in text


def test_settings_as_json(app: Flask, someone: Merchandiser) -> None:
    client, base = someone.pages.client, someone.pages.base
    headers = {"Accept": "application/json", "X-CSRFToken": someone.pages.token}
    assert client.get(PATH, headers=headers, base_url=base).json == PLAIN
    wanted = {"soldOut": "hidden", "sales": "low", "newness": "medium", "stock": "high"}
    answer = client.put(PATH, json=wanted, headers=headers, base_url=base)
    assert (answer.status_code, answer.json) == (200, wanted)
    assert client.get(PATH, headers=headers, base_url=base).json == wanted
    refused = client.put(PATH, json={"soldOut": "never", "sales": 3}, headers=headers, base_url=base)
    assert refused.status_code == 400
    pointers = {error["pointer"] for error in refused.json["errors"]}
    assert pointers == {"#/soldOut", "#/sales", "#/newness", "#/stock"}
    assert refused.json["errors"][0]["message"].startswith("“Sold-out products in searches” must be as-is, last or")
    tried = client.post("/admin/search/try", json={"kind": "ranking"} | wanted, headers=headers, base_url=base)
    assert tried.json["proposal"] == {"kind": "ranking"} | wanted
    assert [item["query"] for item in tried.json["items"]] == ["mug", "jug"]


def test_test_a_search_says_what_counted_and_why_a_product_is_last(app: Flask, someone: Merchandiser) -> None:
    someone.post(PATH, {"soldOut": "last", "sales": "none", "newness": "high", "stock": "high"})
    text = someone.pages.client.get("/admin/search/test?q=mug", base_url=someone.pages.base).text
    assert "Put last because it is sold out" in text and "in stock" in text and "new in the shop" in text


def test_test_a_search_leaves_out_what_adds_nothing_to_a_score(
    app: Flask, someone: Merchandiser, indexing: SearchContext
) -> None:
    with app.app_context():
        with transaction():
            for product in db.session.query(Product).filter_by(site_id=someone.site_id):
                product.created_at = WHEN - timedelta(days=1000)
        assert rebuild(indexing, searching.request(indexing, someone.site_id, "PRODUCTS"))
    indexing.clock.move(seconds=2)  # type: ignore[attr-defined]
    someone.post(PATH, PLAIN | {"newness": "high"})
    text = someone.pages.client.get("/admin/search/test?q=mug", base_url=someone.pages.base).text
    assert "“mug” in the name" in text and "new in the shop" not in text


def test_test_a_search_says_that_a_product_is_hidden_as_it_is_sold_out(app: Flask, someone: Merchandiser) -> None:
    someone.post(PATH, PLAIN | {"soldOut": "hidden"})
    text = someone.pages.client.get("/admin/search/test?q=mug&product=MUG-1", base_url=someone.pages.base).text
    assert "is sold out, and sold-out products are hidden" in " ".join(text.split())
