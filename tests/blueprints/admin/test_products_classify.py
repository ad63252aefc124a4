"""Many products get a level or a value: chosen in the list, looked at before it starts, done in the background."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from sqlalchemy import insert, select

from app.domain.catalogue.models import INDEXED_SEPARATELY, Product
from app.domain.sites.models import Site
from app.domain.taxonomy.models import TaxonomyTask
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.taxonomy.tasks.conftest import add, shop
from tests.factories import make_taxonomy
from tests.statements import statements

LIST = "/admin/catalogue/products"
CLASSIFY = f"{LIST}/classify"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    made = merchandiser(app)
    with app.app_context(), transaction():
        shop(db.session.get_one(Site, made.site_id))
    return made


@pytest.fixture
def ids(app: Flask, mia: Merchandiser) -> list[int]:
    with app.app_context():
        return [
            add(mia.site_id, "T-1", "tents", sleeps=2, colour=["Moss"]),
            add(mia.site_id, "T-2", "tents", colour=["Clay"]),
            add(mia.site_id, "B-1", "boots", size=43),
            add(mia.site_id, "N-1"),
        ]


def skus(mia: Merchandiser, query: str) -> set[str]:
    text = mia.fragment(f"{LIST}?{query}").text
    return {sku for sku in ("T-1", "T-2", "B-1", "N-1") if f">{sku}<" in text}


def requested_tasks(app: Flask) -> list[tuple[str, dict[str, Any]]]:
    with app.app_context():
        return [(task.kind, task.parameters) for task in db.session.scalars(select(TaxonomyTask))]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("level=gear", {"T-1", "T-2", "B-1"}),
        ("completeness=complete", {"T-1", "B-1"}),
        ("completeness=incomplete", {"T-2"}),
        ("completeness=unclassified", {"N-1"}),
        ("completeness=gone", set()),
        ("missing=sleeps", {"T-2"}),
        ("missing=colour", {"B-1"}),
        ("missing=nothing", set()),
        ("attribute=colour", {"T-1", "T-2"}),
        ("attribute=colour&value=Clay", {"T-2"}),
        ("attribute=colour&value=cLAY", {"T-2"}),
        ("attribute=colour&value=Clay&choicesOf=|sleeps", {"T-1", "T-2"}),
        ("attribute=sleeps&value=2&level=tents", {"T-1"}),
        ("value=Clay", {"T-1", "T-2", "B-1", "N-1"}),
        ("completeness=nonsense", {"T-1", "T-2", "B-1", "N-1"}),
    ],
)
@pytest.mark.usefixtures("ids")
def test_the_list_narrows_by_what_is_known(mia: Merchandiser, query: str, found: set[str]) -> None:
    assert skus(mia, query) == found


@pytest.mark.usefixtures("ids")
def test_the_filters_offer_the_attributes_of_the_level_first_and_the_values_of_the_attribute(mia: Merchandiser) -> None:
    text = mia.fragment(f"{LIST}?level=tents&attribute=colour&choicesOf=|").text
    filters = text[text.index('hx-target="#attribute-filters"') :]
    own, others = filters.split('<optgroup label="Attributes of other levels">')[:2]
    assert 'value="colour" selected' not in own.split('name="attribute"')[0] and 'value="sleeps"' in own
    assert 'value="size"' not in own and 'value="size"' in others
    assert '<option value="Clay">Clay</option>' in filters and "(required)" in filters and " *" not in filters
    assert "attribute-filters" not in mia.fragment(f"{LIST}?level=tents&choicesOf=tents|").text
    whole = mia.pages.client.get(f"{LIST}?attribute=colour&value=clay", base_url=mia.pages.base).text
    assert "<optgroup" not in whole and '<option value="Clay" selected>Clay</option>' in whole


@pytest.mark.usefixtures("ids")
def test_bulk_offers_the_attributes_and_values_that_hold_for_the_products(mia: Merchandiser) -> None:
    mia.get(CLASSIFY)
    text = mia.swap(f"{CLASSIFY}?level=boots", {"what": "value"}).text
    own, others = text.split('<optgroup label="These products have none of">')
    assert 'value="size"' in own and 'value="sleeps"' not in own and 'value="sleeps"' in others


@pytest.mark.usefixtures("ids")
def test_products_whose_level_is_gone_are_found_and_say_so(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        make_taxonomy(site, [{"levelId": "tents", "name": "Tents"}], active=True, id="other")
    assert skus(mia, "completeness=gone") == {"B-1"}
    assert "Gone" in mia.fragment(f"{LIST}?completeness=gone").text


def test_ticked_products_are_taken_along_to_the_page_about_them(mia: Merchandiser, ids: list[int]) -> None:
    mia.get(LIST)
    answer = mia.post(f"{LIST}/choose?level=tents", {"product": ids[:2]})
    query = parse_qs(urlsplit(answer.location).query)
    assert query == {"product": [str(ids[0]), str(ids[1])], "level": ["tents"]}
    assert mia.get(answer.location).texts["h1"] == "Classify 2 products"
    assert mia.swap(f"{LIST}/choose", {"product": ids[:1]}).headers["HX-Redirect"] == f"{CLASSIFY}?product={ids[0]}"
    assert mia.post(f"{LIST}/choose", {}).location == LIST


def test_more_ticks_than_an_address_holds_are_refused(mia: Merchandiser) -> None:
    mia.get(LIST)
    assert mia.post(f"{LIST}/choose?level=tents", {"product": list(range(15_000))}).location == f"{LIST}?level=tents"
    text = " ".join(mia.get(LIST).texts.values())
    assert "At most 500 products can be ticked at once; these are 15,000." in text


@pytest.mark.usefixtures("ids")
def test_without_ticks_it_is_about_all_that_match(mia: Merchandiser) -> None:
    page = mia.get(f"{CLASSIFY}?completeness=incomplete&q=T")
    assert page.texts["h1"] == "Classify 1 product"
    assert "“T”, not complete" in page.texts["p"]
    assert mia.get(CLASSIFY).texts["h1"] == "Classify 4 products"


@pytest.mark.usefixtures("ids")
def test_a_level_is_previewed_with_what_would_be_lost_and_nothing_is_started(app: Flask, mia: Merchandiser) -> None:
    mia.get(CLASSIFY)
    text = mia.swap(CLASSIFY, {"what": "level", "levelId": "boots"}).text
    assert "<strong>3 products</strong> would move to this level, 1 of them without a level so far." in text
    assert "1 is there already." in text
    assert "<li>Colour: 1</li>" in text and "<li>Sleeps: 1</li>" in text
    assert "Change 3 products" in text
    assert text.count('class="thumb"') == 3, "the products that would move, with their pictures"
    assert requested_tasks(app) == []


@pytest.mark.usefixtures("ids")
def test_a_level_is_typed_by_its_name_and_shown_by_its_path(mia: Merchandiser) -> None:
    text = mia.swap(CLASSIFY, {"what": "level", "levelId": "boots"}).text
    path = re.findall(r'name="levelId" value="([^"]*)"', text)[0]
    assert path.endswith("Boots")
    assert "Change 3 products" in mia.swap(CLASSIFY, {"what": "level", "levelId": path}).text
    assert "Change 3 products" in mia.swap(CLASSIFY, {"what": "level", "levelId": " bOOts "}).text


def test_the_preview_of_very_many_products_is_a_request_of_its_own(
    app: Flask, mia: Merchandiser, ids: list[int]
) -> None:
    """Choosing goes on meanwhile. Without JavaScript a button asks for it."""
    with app.app_context(), transaction():
        like = select(Product.__table__).where(Product.id == ids[0])
        row = {name: value for name, value in db.session.execute(like).mappings().one().items() if name != "id"}
        many = [row | {"sku": f"M-{number}", "seo_name": f"m-{number}"} for number in range(2_000)]
        db.session.execute(insert(Product), many, execution_options=INDEXED_SEPARATELY)
    mia.get(CLASSIFY)
    form = {"what": "level", "levelId": "boots"}
    text = mia.swap(CLASSIFY, form).text
    assert 'hx-trigger="load"' in text and 'value="preview"' in text
    assert "would move to this level" not in text and "Change " not in text
    preview = mia.swap(CLASSIFY, {**form, "intent": "preview"}).text
    assert "<strong>2,003 products</strong> would move to this level" in preview and 'hx-trigger="load"' not in preview
    mia.post(CLASSIFY, {**form, "intent": "preview"}, status=200)
    assert requested_tasks(app) == []


def test_a_level_is_assigned_in_the_background(app: Flask, mia: Merchandiser, ids: list[int]) -> None:
    mia.get(CLASSIFY)
    answer = mia.post(f"{CLASSIFY}?product={ids[3]}", {"what": "level", "levelId": "tents", "intent": "start"})
    assert "/admin/catalogue/taxonomy/tasks/" in answer.location
    mia.get(answer.location)
    assert requested_tasks(app) == [
        ("ASSIGN_LEVEL", {"taxonomyId": "kit", "levelId": "tents", "levelName": "Tents", "products": [ids[3]]})
    ]
    assert 'class="card task"' in mia.pages.client.get(LIST, base_url=mia.pages.base).text


def test_all_that_match_are_named_by_the_filter(app: Flask, mia: Merchandiser, ids: list[int]) -> None:
    mia.get(CLASSIFY)
    mia.post(f"{CLASSIFY}?q=T-&p=3", {"what": "level", "levelId": "boots", "intent": "start"})
    ((_, parameters),) = requested_tasks(app)
    assert (parameters["filter"], parameters["upTo"]) == ("q=T-", max(ids))


@pytest.mark.usefixtures("ids")
def test_a_value_is_previewed_and_given(app: Flask, mia: Merchandiser) -> None:
    mia.get(CLASSIFY)
    form = {"what": "value", "attributeId": "colour", "way": "set", "given": ["Moss", "Clay"]}
    text = mia.swap(f"{CLASSIFY}?level=gear", form).text
    assert "<strong>2 products</strong> would change, 2 of them in place of a value that they have." in text
    assert "1 product left out" in text
    answer = mia.swap(f"{CLASSIFY}?level=gear", form | {"intent": "start"})
    assert "/tasks/" in answer.headers["HX-Redirect"]
    ((kind, parameters),) = requested_tasks(app)
    assert kind == "ASSIGN_VALUE"
    assert (parameters["value"], parameters["way"], parameters["attributeName"]) == (["Moss", "Clay"], "set", "Colour")


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"what": "level", "levelId": "nothing"}, "Choose a level of the active taxonomy."),
        ({"what": "value", "attributeId": "nothing", "given": "1"}, "Choose an attribute of the active taxonomy."),
        ({"what": "value", "attributeId": "sleeps", "given": "many"}, "Sleeps does not take this value."),
    ],
)
@pytest.mark.usefixtures("ids")
def test_what_cannot_be_given_is_refused_in_words(
    app: Flask, mia: Merchandiser, form: dict[str, Any], message: str
) -> None:
    mia.get(CLASSIFY)
    for more in ({}, {"intent": "start"}):
        answer = mia.swap(CLASSIFY, form | more)
        assert (answer.status_code, message in answer.text) == (400, True)
    assert requested_tasks(app) == []


def test_too_many_ticks_are_refused(mia: Merchandiser) -> None:
    query = "&".join(f"product={number}" for number in range(1, 503))
    assert mia.pages.client.get(f"{CLASSIFY}?{query}", base_url=mia.pages.base).status_code == 400


def test_without_an_active_taxonomy_there_is_nothing_to_give(app: Flask) -> None:
    page = merchandiser(app).pages.client.get(CLASSIFY, base_url="http://localhost")
    assert "No taxonomy is active" in page.text


def test_a_page_of_the_list_and_a_preview_cost_the_same_for_many_products(
    app: Flask, mia: Merchandiser, ids: list[int]
) -> None:
    def cost(path: str) -> int:
        with statements(app) as seen:
            mia.fragment(path)
        return len(seen)

    paths = (f"{LIST}?completeness=incomplete&missing=sleeps&attribute=colour", f"{CLASSIFY}?levelId=boots")
    few = [cost(path) for path in paths]
    with app.app_context():
        for number in range(30):
            add(mia.site_id, f"M-{number}", "tents", colour=["Clay"])
    assert [cost(path) for path in paths] == few
    assert few[0] <= 16 and few[1] <= 21


@pytest.mark.parametrize("query", ["product=abc", "product=", "product=-1&product=x", "product=99999999999999999999"])
def test_ids_that_are_none_do_not_mean_all_products(app: Flask, mia: Merchandiser, ids: list[int], query: str) -> None:
    mia.get(LIST)
    assert "Tick the products first." in mia.get(f"{CLASSIFY}?{query}", 400).texts["p"]
    started = mia.swap(f"{CLASSIFY}?{query}", {"what": "level", "levelId": "boots", "intent": "start"})
    assert started.status_code == 400
    assert requested_tasks(app) == []
