"""The editor and the list of rules by condition: terms, levels and groups, as typed, refused, saved and described."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app import ports
from app.domain.merchandising import nodes, trees
from app.domain.merchandising.arrangement import Target
from app.domain.merchandising.models import Node
from app.domain.relevance import publishing
from app.domain.relevance.models import SearchRule
from app.domain.shared.author import Author
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_category, make_product, make_rule, make_taxonomy
from tests.page_client import Reading

LIST = "/admin/search/ranking"
NEW = f"{LIST}/new"
COLOUR = {"attributeId": "colour", "name": "Colour", "type": "STRING"}
WEIGHT = {"attributeId": "weight-g", "name": "Weight", "type": "NUMBER", "unit": "g"}
LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [COLOUR, WEIGHT],
        "children": [{"levelId": "tents", "name": "Tents"}],
    }
]
GROUP = {
    "group-effect": ["boost", "bury", "bury"],
    "group-manufacturers": ["Acme; Bolt", "", ""],
    "group-levels": ["Camping › Tents", "camping", ""],
    "group-attributes": ["Colour=Red; Colour=Blue", "", ""],
    "group-price_from": ["10.50", "", ""],
    "group-price_to": ["", "", ""],
    "group-stock": ["in", "out", ""],
    "group-new_days": ["", "30", ""],
    "group-on_sale": ["yes", "", ""],
}
NUMBERS = {
    "number-group": ["0", "1", "0", "1"],
    "number-attribute": ["weight", "", "", "Weight"],
    "number-from": ["100.5", "", "", ""],
    "number-to": ["1000", "", "", "2000"],
}
FORM = {
    "match": "contains",
    "term": "red",
    "otherTerms": "crimson; scarlet",
    "levels": "Camping › Tents",
    "priority": "7",
}


@pytest.fixture
def shop(app: Flask) -> Merchandiser:
    found = merchandiser(app)
    with app.app_context(), transaction():
        site = db.session.get(Site, found.site_id)
        make_product(site, "TENT-1")
        make_taxonomy(site, LEVELS, active=True, id="kinds")
    return found


@pytest.fixture
def categories(app: Flask, shop: Merchandiser) -> Merchandiser:
    """The shop with the categories Outdoor and, below it, Camping."""
    with app.app_context(), transaction():
        author = Author(shop.site_id, "Mia Moss", ports.clock())
        tree = trees.create(author, "Shop").id
        make_category(author, tree, "Camping", make_category(author, tree, "Outdoor").id)
    return shop


def stored(app: Flask) -> dict[str, Any]:
    with app.app_context():
        return db.session.scalars(select(SearchRule)).one().value.as_json()


def values(page: Reading, name: str) -> list[str]:
    return [field.get("value", "") for field in page.all("input") if field.get("name") == name]


def text(page: Reading) -> str:
    return " ".join(page.texts.values())


def test_conditions_and_groups_are_saved_and_come_back_as_people_call_them(app: Flask, shop: Merchandiser) -> None:
    answer = shop.post(NEW, FORM | GROUP)
    rule = stored(app)
    assert (rule["match"], rule["otherTerms"], rule["levels"]) == ("contains", ["crimson", "scarlet"], ["tents"])
    assert rule["priority"] == 7
    assert rule["boostGroups"] == [
        {
            "manufacturers": ["Acme", "Bolt"],
            "levels": ["tents"],
            "attributes": [{"id": "colour", "values": ["Red", "Blue"]}],
            "priceFrom": 1050,
            "stock": "in",
            "onSale": True,
        }
    ]
    assert rule["buryGroups"] == [{"levels": ["camping"], "stock": "out", "newDays": 30}]
    page = shop.get(answer.location)
    assert page.texts["h1"] == "Rule for searches that contain “red”"
    assert (page.value("otherTerms"), page.value("levels")) == ("crimson;scarlet", "Camping › Tents")
    assert values(page, "group-levels") == ["Camping › Tents", "Camping"]
    assert values(page, "group-attributes") == ["Colour=Red;Colour=Blue", ""]
    assert values(page, "group-price_from") == ["10.50", ""]
    listed = shop.get(LIST)
    assert "Searches that contain “red” or “crimson” or “scarlet” and name Camping › Tents" in text(listed)
    assert "Boosted: by Acme or Bolt, in Camping › Tents, Colour Red or Blue, from £10.50, in stock, on sale" in text(
        listed
    )


def test_what_was_saved_is_saved_again_without_a_change(app: Flask, shop: Merchandiser) -> None:
    answer = shop.post(NEW, FORM | GROUP)
    page = shop.get(answer.location)
    again = {name: values(page, name) for name in GROUP if values(page, name)}
    again |= {name: GROUP[name][:2] for name in ("group-effect", "group-stock", "group-on_sale")}
    texts = {name: page.value(name) for name in ("term", "otherTerms", "levels", "priority")}
    shop.post(answer.location, {**texts, **again, "match": "contains", "revision": "1"})
    with app.app_context():
        assert db.session.scalars(select(SearchRule)).one().revision == 1


def test_what_cannot_be_read_is_named_at_its_group_and_nothing_typed_is_lost(app: Flask, shop: Merchandiser) -> None:
    wrong = GROUP | {
        "group-price_from": ["much", "", ""],
        "group-levels": ["Nowhere", "", ""],
        "group-attributes": ["Smell=Good", "", ""],
        "group-new_days": ["", "soon", ""],
    }
    page = shop.post(NEW, FORM | wrong | {"priority": "first"}, 400)
    assert "“much” is not an amount" in text(page)
    page = shop.post(NEW, FORM | wrong | {"group-price_from": ["", "", ""], "priority": "first"}, 400)
    for message in (
        "There is no level with the id “Nowhere”.",
        "No attribute with values has the id “Smell”.",
        "The days for which a product is new are 1 to 3,650.",
        "The priority must be a whole number from 1 to 1000.",
    ):
        assert message in text(page), message
    assert values(page, "group-levels")[0] == "Nowhere"
    with app.app_context():
        assert db.session.scalars(select(SearchRule)).all() == []


def test_groups_are_added_and_removed_in_the_form_alone(app: Flask, shop: Merchandiser) -> None:
    added = shop.swap(NEW, FORM | GROUP | {"intent": "group:"})
    assert added.status_code == 200 and added.text.count('name="group-manufacturers"') == 4
    fewer = shop.swap(NEW, FORM | GROUP | {"intent": "ungroup:0"})
    assert fewer.text.count('name="group-manufacturers"') == 2 and "Acme" not in fewer.text
    without_script = shop.post(NEW, FORM | {"intent": "group:"}, 200)
    assert len(values(without_script, "group-manufacturers")) == 1
    with app.app_context():
        assert db.session.scalars(select(SearchRule)).all() == []


def test_a_rule_for_a_category_is_saved_by_its_path_and_shown_by_its_name(app: Flask, categories: Merchandiser) -> None:
    shop = categories
    answer = shop.post(NEW, {"match": "any", "term": "week", "categories": "Outdoor › Camping", "boost": ["TENT-1"]})
    assert stored(app)["categories"] == ["outdoor/camping"]
    page = shop.get(answer.location)
    assert page.value("categories") == "Outdoor › Camping"
    assert "Outdoor › Camping" in [option["value"] for option in page.all("option") if "value" in option]
    assert "Searches that name Outdoor › Camping" in text(shop.get(LIST))


def test_an_unknown_category_is_refused_at_its_field_and_stays_as_typed(app: Flask, categories: Merchandiser) -> None:
    sent = {"match": "any", "term": "week", "categories": "Outdoor; Boats", "boost": ["TENT-1"]}
    page = categories.post(NEW, sent, 400)
    assert "The shop has no category “Boats”." in text(page)
    assert values(page, "categories") == ["Outdoor", "Boats"]
    assert [one["name"] for one in page.all("input") if one.get("aria-invalid")] == ["categories"]
    page = categories.post(NEW, sent | {"categories": ""}, 400)
    assert "needs a level or a category" in text(page)


def test_levels_and_categories_are_added_and_taken_out_in_the_form_alone(app: Flask, categories: Merchandiser) -> None:
    sent = FORM | {"levels": ["Camping › Tents", "camping"], "categories": ["Outdoor › Camping", "Boats"]}
    added = categories.swap(NEW, sent | {"intent": "levels-add"}).text
    assert 'value="levels-remove:Camping › Tents"' in added and 'value="levels-remove:camping"' in added
    assert added.count('name="categories"') == 2 and 'value="Boats" list=' in added
    fewer = categories.swap(NEW, sent | {"intent": "levels-remove:camping"}).text
    assert "levels-remove:camping" not in fewer and 'name="levels" value="Camping › Tents"' in fewer
    without_script = categories.post(NEW, sent | {"intent": "categories-remove:Boats"}, 200)
    assert values(without_script, "categories") == ["Outdoor › Camping", ""]
    with app.app_context():
        assert db.session.scalars(select(SearchRule)).all() == []


def test_the_list_and_the_editor_say_that_a_category_is_gone(app: Flask, categories: Merchandiser) -> None:
    sent = {"match": "any", "term": "week", "categories": "Outdoor › Camping", "boost": ["TENT-1"]}
    answer = categories.post(NEW, sent)
    with app.app_context(), transaction():
        author = Author(categories.site_id, "Mia Moss", ports.clock())
        nodes.delete(author, db.session.query(Node).filter_by(path="outdoor/camping").one().id)
    for address in (LIST, answer.location):
        assert "The shop has no category “outdoor/camping”." in text(categories.get(address))
    assert categories.get(answer.location).value("categories") == "outdoor/camping"


def test_a_form_opened_before_its_category_moved_is_shown_beside_the_rule(app: Flask, categories: Merchandiser) -> None:
    sent = {"match": "any", "term": "week", "categories": "Outdoor › Camping", "boost": ["TENT-1"]}
    answer = categories.post(NEW, sent)
    with app.app_context(), transaction():
        author = Author(categories.site_id, "Mia Moss", ports.clock())
        nodes.move(author, db.session.query(Node).filter_by(path="outdoor/camping").one().id, Target(None))
    page = categories.post(answer.location, sent | {"revision": "1"}, 409)
    assert "Categories" in text(page)
    categories.post(answer.location, sent | {"revision": "2", "categories": "Camping", "priority": "3"})
    assert (stored(app)["categories"], stored(app)["priority"]) == (["camping"], 3)


def test_a_group_takes_a_range_of_a_number(app: Flask, shop: Merchandiser) -> None:
    answer = shop.post(NEW, FORM | GROUP | NUMBERS)
    rule = stored(app)
    assert rule["boostGroups"][0]["attributes"][-1] == {"id": "weight-g", "values": [], "from": 100.5, "to": 1000}
    assert rule["buryGroups"][0]["attributes"] == [{"id": "weight-g", "values": [], "to": 2000}]
    page = shop.get(answer.location)
    kept = {name: values(page, name) for name in NUMBERS}
    assert kept == {
        "number-group": ["0", "1"],
        "number-attribute": ["Weight", "Weight"],
        "number-from": ["100.5", ""],
        "number-to": ["1000", "2000"],
    }
    assert "From (g)" in text(page)
    assert "Weight 100.5 to 1000 g" in text(shop.get(LIST))
    shop.post(answer.location, {**FORM, **GROUP, **kept, "revision": "1"})
    with app.app_context():
        assert db.session.scalars(select(SearchRule)).one().revision == 1


def test_a_number_that_cannot_be_is_refused_and_stays_as_typed(app: Flask, shop: Merchandiser) -> None:
    wrong = {"number-attribute": ["weight", "", "", "Colour"], "number-from": ["heavy", "", "", "3"]}
    page = shop.post(NEW, FORM | GROUP | NUMBERS | wrong, 400)
    assert "“heavy” is not a number." in text(page)
    assert "No attribute that is a number has the id “Colour”." in text(page)
    assert values(page, "number-from") == ["heavy", "", "", "3"]
    marked = [one.get("name") for one in page.all("input") if one.get("aria-invalid")]
    assert marked == ["number-from", "number-attribute"]
    turned = {"number-from": ["5", "", "", ""], "number-to": ["4", "", "", "2"]}
    page = shop.post(NEW, FORM | GROUP | NUMBERS | turned, 400)
    assert "The lower number is above the higher one." in text(page)


def test_a_row_for_a_number_is_added_in_the_form_alone(app: Flask, shop: Merchandiser) -> None:
    added = shop.swap(NEW, FORM | GROUP | NUMBERS | {"intent": "number:1"})
    assert added.status_code == 200 and added.text.count('name="number-attribute"') == 5
    fewer = shop.swap(NEW, FORM | GROUP | NUMBERS | {"intent": "ungroup:0"})
    assert fewer.text.count('name="number-group" value="0"') == 2 and "100.5" not in fewer.text


def test_the_editor_names_rules_for_the_same_searches_and_which_comes_first(app: Flask, shop: Merchandiser) -> None:
    with app.app_context(), transaction():
        make_rule(db.session.get(Site, shop.site_id), "red tent")
    answer = shop.post(NEW, {"match": "contains", "term": "red", "boost": ["TENT-1"]})
    with app.app_context(), transaction():
        publishing.publish(ports.clock(), shop.site_id)
    facts = text(shop.get(answer.location))
    assert "Before this one:" in facts and "Rule for “red tent”" in facts


def test_the_json_of_rules_has_the_conditions(app: Flask, shop: Merchandiser) -> None:
    headers = {"Accept": "application/json", "X-CSRFToken": shop.pages.token}
    sent = {"term": "red", "match": "startsWith", "buryGroups": [{"stock": "out"}], "otherTerms": ["rot"]}
    call = {"base_url": shop.pages.base, "headers": headers}
    made = shop.pages.client.post(f"{LIST}/rest", json=sent, **call)
    assert made.status_code == 201
    assert {name: made.json[name] for name in sent} == sent
    wrong = {"term": "red", "buryGroups": [{"stock": "some"}, {"priceFrom": "1"}], "match": "sideways", "levels": "x"}
    refused = shop.pages.client.post(f"{LIST}/rest", json=wrong, **call)
    assert refused.status_code == 400
    pointers = {problem["pointer"] for problem in refused.json["errors"]}
    assert pointers == {"#/buryGroups/0/stock", "#/buryGroups/1/priceFrom", "#/match", "#/levels"}
