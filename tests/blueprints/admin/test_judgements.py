"""The pages of judgement lists."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.relevance.judgements import runs
from app.domain.relevance.models import JudgedSearch, JudgementList, JudgementRun, ProductRating
from app.domain.search.engine import SearchContext
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.domain.relevance.trials.preview_shop import shop
from tests.factories import make_user
from tests.page_client import PageClient, Reading

PATH = "/admin/search/judgements"
RATINGS = "query,sku,rating\nmug,MUG-1,0\nmug,MUG-2,3\ntea cup,CUP-2,3\n"


@pytest.fixture
def mia(app: Flask, indexing: SearchContext) -> Merchandiser:
    with app.app_context():
        site_id = shop(indexing, "localhost")
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def _html(mia: Merchandiser, path: str) -> str:
    """A page that the checks of every page let pass."""
    mia.get(path)
    return mia.pages.client.get(path, base_url=mia.pages.base).text


def _said(page: Reading) -> str:
    return " ".join(page.texts.values())


def _list_id(app: Flask) -> int:
    with app.app_context():
        return db.session.scalars(select(JudgementList.id)).one()


def _ratings(app: Flask) -> dict[tuple[str, str], int]:
    with app.app_context():
        columns = select(ProductRating.sku, ProductRating.rater, ProductRating.rating)
        return {(sku, rater): rating for sku, rater, rating in db.session.execute(columns)}


def _search_id(app: Flask, query: str) -> int:
    with app.app_context():
        return db.session.scalars(select(JudgedSearch.id).where(JudgedSearch.query == query)).one()


@pytest.fixture
def address(mia: Merchandiser, app: Flask) -> str:
    """Of a list with two searches without ratings."""
    mia.post(PATH, {"name": "Top searches"})
    found = f"{PATH}/{_list_id(app)}"
    mia.post(f"{found}/searches", {"searches": "mug\ntea cup"})
    return found


def _import(mia: Merchandiser, address: str, text: str = RATINGS) -> None:
    page = mia.post(f"{address}/import", {"table": text}, 200)
    mia.post(f"{address}/import/apply", {"table": text, "digest": page.value("digest")})


def _compute(app: Flask, indexing: SearchContext) -> None:
    with app.app_context():
        for run_id in db.session.scalars(select(JudgementRun.id).where(JudgementRun.state == "waiting")).all():
            assert runs.run_judgement(indexing, run_id)


def test_an_empty_page_says_what_lists_are_for(mia: Merchandiser) -> None:
    assert "No judgement list yet" in mia.get(PATH).texts["p"]


def test_a_name_that_is_refused_stays_in_the_form(mia: Merchandiser, address: str) -> None:
    page = mia.post(PATH, {"name": "top  searches"}, 400)
    assert page.value("name") == "top  searches"
    assert "There is a judgement list “top searches” already." in page.texts["p"]


def test_searches_are_added_found_and_removed(mia: Merchandiser, app: Flask, address: str) -> None:
    assert "0 of 2 searches rated, 0 ratings." in _said(mia.get(address))
    found = _html(mia, f"{address}?q=cup&left=on")
    assert "Rate “tea cup”" in found and "Rate “mug”" not in found
    refused = mia.post(f"{address}/searches", {"searches": "jug\n?!"}, 400)
    assert "“?!” has neither letters nor digits." in refused.texts["p"]
    mia.post(f"{address}/searches/{_search_id(app, 'mug')}/delete", {})
    assert "0 of 1 search rated, 0 ratings." in _said(mia.get(address))


def test_products_are_rated_in_no_order_and_the_next_search_follows(
    mia: Merchandiser, app: Flask, address: str
) -> None:
    mug, cup = (_search_id(app, query) for query in ("mug", "tea cup"))
    page = _html(mia, f"{address}/searches/{mug}")
    skus = re.findall(r'name="sku" value="([^"]+)"', page)
    assert sorted(skus) == ["MUG-1", "MUG-2"] and "2 of 2 left" in page
    sent = {"sku": skus, f"rating-{skus.index('MUG-1')}": "3"}
    answer = mia.post(f"{address}/searches/{mug}", sent)
    assert _ratings(app) == {("MUG-1", "Mia Moss"): 3}
    assert answer.location == f"{address}/searches/{cup}"
    assert "1 of 2 left" in _html(mia, f"{address}/searches/{mug}")
    assert mia.post(f"{address}/searches/{cup}", {"sku": ["CUP-2"], "rating-0": "0"}).location == address


def test_a_rating_that_is_none_is_refused_and_nothing_is_stored(mia: Merchandiser, app: Flask, address: str) -> None:
    mug = _search_id(app, "mug")
    page = mia.post(f"{address}/searches/{mug}", {"sku": ["MUG-1", "MUG-2"], "rating-0": "1", "rating-1": "7"}, 400)
    assert "The rating of MUG-2 must be 0, 1, 2 or 3." in page.texts["a"]
    assert _ratings(app) == {}


def test_a_product_that_is_deleted_meanwhile_loses_no_other_rating(mia: Merchandiser, app: Flask, address: str) -> None:
    with app.app_context(), transaction():
        db.session.delete(db.session.scalars(select(Product).where(Product.sku == "MUG-1")).one())
    sent = {"sku": ["MUG-2", "MUG-1"], "rating-0": "3", "rating-1": "1"}
    location = mia.post(f"{address}/searches/{_search_id(app, 'mug')}", sent).location
    assert _ratings(app) == {("MUG-2", "Mia Moss"): 3}
    assert "Left out 1 rating of products that are not in the shop any more: MUG-1." in _said(mia.get(location))


def test_a_rating_that_is_no_number_is_refused_and_the_page_keeps_the_others(
    mia: Merchandiser, app: Flask, address: str
) -> None:
    mug = f"{address}/searches/{_search_id(app, 'mug')}"
    mia.post(mug, {"sku": ["MUG-1"], "rating-0": "2"})
    page = mia.swap(mug, {"sku": ["MUG-1", "MUG-2"], "rating-0": "good", "rating-1": "3"})
    assert page.status_code == 400 and "The rating of MUG-1 must be 0, 1, 2 or 3." in page.text
    assert page.text.count(" checked") == 1 and 'value="3" checked' in page.text
    assert _ratings(app) == {("MUG-1", "Mia Moss"): 2}


def test_a_search_that_finds_nothing_says_so(mia: Merchandiser, app: Flask, address: str) -> None:
    mia.post(f"{address}/searches", {"searches": "zeppelin"})
    page = mia.get(f"{address}/searches/{_search_id(app, 'zeppelin')}")
    assert "This search finds nothing" in page.texts["p"]


def test_a_file_is_previewed_imported_and_exported(mia: Merchandiser, app: Flask, address: str) -> None:
    sent = {"file": (BytesIO((RATINGS + "mug,NONE,1\n").encode()), "ratings.csv")}
    answer = mia.swap(f"{address}/import", sent)
    assert "3 would be added, 0 changed" in answer.text
    assert "No product of this shop has the SKU “NONE”." in answer.text
    assert _ratings(app) == {}
    _import(mia, address)
    assert _ratings(app) == {("MUG-1", ""): 0, ("MUG-2", ""): 3, ("CUP-2", ""): 3}
    exported = mia.pages.client.get(f"{address}/export.csv", base_url=mia.pages.base)
    assert exported.text.lstrip("\ufeff").replace('"', "").replace("\r\n", "\n") == RATINGS
    assert exported.headers["Content-Disposition"] == 'attachment; filename="ratings.csv"'


def test_a_file_that_is_no_table_is_refused(mia: Merchandiser, address: str) -> None:
    page = mia.post(f"{address}/import", {"table": "a,b\n1,2\n"}, 400)
    assert "The first line must name the columns: query, sku, rating." in _said(page)


def test_figures_are_computed_in_the_background(
    mia: Merchandiser, app: Flask, indexing: SearchContext, address: str
) -> None:
    refused = mia.post(f"{address}/runs", {}, 400)
    assert "Nothing in this list is rated yet" in _said(refused)
    _import(mia, address)
    waiting = mia.swap(f"{address}/runs", {})
    assert "The computation starts in a moment." in waiting.text and "hx-get" in waiting.text
    _compute(app, indexing)
    page = _html(mia, address)
    assert "Up to date" in page and "over 2 searches" in page
    with app.app_context():
        run_id = db.session.scalars(select(JudgementRun.id)).one()
    assert "hx-get" not in mia.fragment(f"{address}/runs/{run_id}").text
    assert "over 2 searches" in _html(mia, f"{address}/runs/{run_id}")
    _import(mia, address, "query,sku,rating\nmug,MUG-1,1\n")
    assert "Outdated" in _html(mia, address)
    assert "0." in _html(mia, PATH)


def test_the_settings_are_saved_and_problems_named(mia: Merchandiser, app: Flask, address: str) -> None:
    form = {"name": "Top", "revision": "1", "poolSize": "20", "largestDrop": "0.02", "combination": "median"}
    page = mia.post(address, form | {"poolSize": "99", "largestDrop": "much"}, 400)
    assert "“much” is not a number." in _said(page) and page.value("largestDrop") == "much"
    mia.post(address, form | {"inPreviews": "on"})
    with app.app_context():
        row = db.session.scalars(select(JudgementList)).one()
        assert (row.name, row.largest_drop, row.pool_size, row.combination, row.in_previews) == (
            "Top", 20, 20, "median", True,
        )  # fmt: skip
    stale = mia.post(address, form, 409)
    assert "saved this list while you worked on it" in _said(stale)
    listed = _html(mia, PATH)
    assert "In previews" in listed and "Guards rebuilds" in listed


def test_a_preview_says_what_a_change_does_to_the_list(mia: Merchandiser, address: str, app: Flask) -> None:
    _import(mia, address)
    form = {"name": "Top searches", "revision": "1", "poolSize": "10", "combination": "mean", "inPreviews": "on"}
    mia.post(address, form)
    rule = {"kind": "rule", "term": "mug", "pins": [{"sku": "MUG-2", "position": 1}]}
    headers = {"Accept": "application/json", "X-CSRFToken": mia.pages.token}
    found = mia.pages.client.post("/admin/search/try", json=rule, base_url=mia.pages.base, headers=headers).json
    assert found is not None
    assert found["judgement"]["list"] == "Top searches"
    assert (found["judgement"]["ndcg"]["after"], found["judgement"]["ndcg"]["worse"]) == (1, 0)
    page = mia.swap("/admin/search/try?kind=rule", {"term": "mug", "boosts": "MUG-2"}).text
    assert "NDCG@10 of “Top searches”" in page and "Rate what this change shows" in page


def test_a_list_has_a_candidate(mia: Merchandiser, app: Flask, address: str) -> None:
    mia.post(f"{address}/candidate", {"candidate": "meaning"})
    assert "Now: With search by meaning." in _html(mia, address).replace("<strong>", "").replace("</strong>", "")
    proposal = '{"kind": "rule", "term": "mug", "pins": [{"sku": "JUG-1", "position": 1}]}'
    mia.post(f"{address}/candidate", {"proposal": proposal})
    assert 'value="JUG-1"' in _html(mia, f"{address}/searches/{_search_id(app, 'mug')}")
    mia.post(f"{address}/candidate", {"candidate": "other"})
    assert "The change of a preview" in _html(mia, address)
    assert mia.swap(f"{address}/candidate", {"candidate": "x"}).status_code == 400
    mia.post(f"{address}/candidate", {"candidate": "none"})
    assert "Now:" not in _html(mia, address)


def test_a_list_is_deleted_with_all_that_it_has(mia: Merchandiser, app: Flask, address: str) -> None:
    _import(mia, address)
    assert "2 searches and 3 ratings go with it." in _html(mia, address)
    mia.post(f"{address}/delete", {})
    assert _ratings(app) == {}
    mia.get(address, 404)
