"""The editor's panel, review and conflict, as somebody without JavaScript uses them and as htmx does."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.taxonomy import tasks
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.work.context import WorkContext
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.admin.taxonomy_editor import (
    EDITOR,
    colour_with,
    edit,
    merchandiser_of_tents,
    save,
    stored,
    texts,
)
from tests.factories import make_product, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    return merchandiser_of_tents(app)


def test_the_panel_shows_a_levels_own_attributes_and_where_the_others_come_from(mia: Merchandiser) -> None:
    page = mia.get(f"{EDITOR}?level=tents")
    links = [link.get("data-attribute") for link in page.all("a")]
    assert "colour" in links
    assert "Inherited from the levels above" in page.texts["h3"]
    assert "Weight" in page.texts["span"]


def test_an_attribute_is_opened_with_the_number_of_products_that_hold_each_value(mia: Merchandiser) -> None:
    page = mia.get(f"{EDITOR}?level=tents&attribute=colour")
    values = [field["value"] for field in page.all("input") if field.get("name") == "value"]
    assert values == ["Red", "Blue"]
    held = [place.get("data-products") for place in page.all("span") if "data-products" in place]
    assert held == ["3 products", ""]


def test_another_type_shows_only_the_fields_that_matter_for_it_without_javascript(mia: Merchandiser) -> None:
    form = colour_with(("Red", "Red"), type="NUMBER", intent="type")
    names = {field.get("name") for field in mia.post(f"{EDITOR}/attribute", form, 200).all("input")}
    assert {"minValue", "maxValue"} <= names and not {"minLength", "pattern"} & names
    assert "value" in names, "the values wait, should the type become a choice again"


def test_a_button_of_the_form_changes_nothing_but_the_form(app: Flask, mia: Merchandiser) -> None:
    mia.get(EDITOR)
    form = colour_with(("Red", "Red"), ("Blue", "Blue"), level="tents", intent="remove:0")
    answer = mia.swap(f"{EDITOR}/attribute", form)
    assert answer.status_code == 200
    assert "3 products would lose a value" in answer.text
    assert "Not applied yet" in answer.text and "Couldn’t apply" not in answer.text
    assert 'value="Red"' in answer.text, "it can be put back"
    assert "All changes saved" in mia.fragment(f"{EDITOR}/level?level=tents").text


def test_pasted_lines_are_told_apart_before_they_do_harm(mia: Merchandiser) -> None:
    mia.get(EDITOR)
    form = colour_with(("Red", "Red"), newValues="red\nGreen\n\nlight, dark", intent="paste")
    text = mia.swap(f"{EDITOR}/attribute", form).text
    assert "Added 1 value." in text and "in the list already: “red”" in text and "1 blank line left out" in text
    assert "“light, dark” contains a comma" in text and "Split at the commas" in text


def test_an_attribute_is_added_moved_overridden_and_removed(mia: Merchandiser) -> None:
    edit(mia, {"edit": "attribute.add", "level": "tents", "name": "Persons", "type": "NUMBER", "minValue": "1"})
    edit(mia, {"edit": "attribute.move", "level": "tents", "attribute": "new-a1", "position": "0"})
    edit(mia, {"edit": "attribute.override", "level": "tents", "attribute": "weight"})
    edit(mia, {"edit": "attribute.delete", "level": "tents", "attribute": "colour"})
    page = mia.get(f"{EDITOR}?level=tents")
    shown = [link["data-attribute"] for link in page.all("a") if link.get("class") == "to-level strong"]
    assert shown == ["new-a1", "weight"]
    assert "Weight (Tents)" not in page.texts["li"]


def test_a_unit_is_typed_shown_and_reviewed(app: Flask, mia: Merchandiser) -> None:
    weight = {"edit": "attribute.change", "level": "camping", "attribute": "weight", "name": "Weight", "type": "NUMBER"}
    assert 'list="common-units"' in mia.swap(f"{EDITOR}/attribute", weight | {"unit": "kg", "intent": "type"}).text
    edit(mia, weight | {"unit": "kg"})
    assert "Number · in kg" in texts(mia.get(f"{EDITOR}?level=camping"))
    assert "Changed the unit of “Weight” (Camping)." in texts(mia.get(f"{EDITOR}/review"))
    save(mia)
    with app.app_context():
        (stored,) = active_tree(mia.site_id).levels["camping"].attributes
        assert stored.unit == "kg"


def test_a_refused_form_comes_back_with_what_was_typed_and_why(mia: Merchandiser) -> None:
    form = {"edit": "attribute.add", "level": "tents", "name": "Persons", "type": "NUMBER", "minValue": "some"}
    page = edit(mia, form, 400)
    assert page.value("name") == "Persons" and page.value("minValue") == "some"
    assert "“some” is not a number." in texts(page)


def test_the_review_tells_how_many_products_a_renamed_value_changes_and_the_save_asks_for_it(
    app: Flask, mia: Merchandiser
) -> None:
    edit(mia, colour_with(("Crimson", "Red"), ("Blue", "Blue")))
    review = mia.get(f"{EDITOR}/review")
    assert "becomes “Crimson”: 3 products will be updated." in review.texts["span"]
    save(mia, "Nobody says red")
    after = stored(app, mia)
    assert after.revision == 2
    assert after.root_levels[0]["children"][0]["attributes"][0]["allowedValues"] == ["Crimson", "Blue"]
    with app.app_context():
        kinds = [task.kind for task in tasks.unfinished(mia.site_id)]
    assert tasks.Kind.RENAME_VALUES in kinds


def test_two_values_are_merged_with_the_products_counted_first_and_products_follow(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    rows = (("Red", "Red"), ("Blue", "Blue"))
    assert "Red (3 products)" in texts(mia.get(f"{EDITOR}?level=tents&attribute=colour"))
    merging = colour_with(*rows, intent="merge", mergeFrom="Red", mergeInto="Blue")
    form = mia.post(f"{EDITOR}/attribute", merging, 200)
    assert [one["value"] for one in form.all("input") if one.get("name") == "value"] == ["Blue"]
    assert "“Red” is merged into it; 3 products will be updated" in texts(form)
    edit(mia, colour_with(("Blue", "Blue"), valueMerged=["Red"]))
    assert "“Red” of “Colour” becomes “Blue”: 3 products will be updated." in texts(mia.get(f"{EDITOR}/review"))
    save(mia)
    assert stored(app, mia).root_levels[0]["children"][0]["attributes"][0]["allowedValues"] == ["Blue"]
    with app.app_context():
        work_off(WorkContext(clock, transaction), mia.site_id)
        db.session.rollback()
        assert {product.taxonomy_attributes["colour"] for product in db.session.scalars(db.select(Product))} == {"Blue"}


def test_two_values_that_were_chosen_are_merged_when_the_form_is_applied(app: Flask, mia: Merchandiser) -> None:
    edit(mia, colour_with(("Red", "Red"), ("Blue", "Blue"), mergeFrom="Red", mergeInto="Blue"))
    save(mia)
    assert stored(app, mia).root_levels[0]["children"][0]["attributes"][0]["allowedValues"] == ["Blue"]


def test_a_merge_is_undone_in_the_form_and_refused_without_two_values(mia: Merchandiser) -> None:
    rows = (("Red", "Red"), ("Blue", "Blue"))
    path = f"{EDITOR}/attribute"
    mia.get(EDITOR)
    undone = mia.post(path, colour_with(("Blue", "Blue"), valueMerged=["Red"], intent="unmerge:Red"), 200)
    assert [one["value"] for one in undone.all("input") if one.get("name") == "value"] == ["Blue", "Red"]
    same = mia.post(path, colour_with(*rows, intent="merge", mergeFrom="Red", mergeInto="Red"), 400)
    assert "Choose another value" in texts(same)
    none = mia.post(path, colour_with(*rows, intent="merge", mergeFrom="", mergeInto="Red"), 400)
    assert "Choose one of the values" in texts(none)


def test_the_review_links_to_the_products_that_lose_a_value(mia: Merchandiser) -> None:
    edit(mia, colour_with(("Blue", "Blue")))
    review = mia.get(f"{EDITOR}/review")
    links = [link["href"] for link in review.all("a") if "attribute=colour" in link.get("href", "")]
    assert links == ["/admin/catalogue/products?level=tents&attribute=colour&value=Red"]


def test_the_review_tells_of_values_that_break_new_rules_and_of_what_becomes_mandatory(
    app: Flask, mia: Merchandiser
) -> None:
    with app.app_context(), transaction():
        heavy = make_product(db.session.get_one(Site, mia.site_id))
        classify(heavy, active_tree(mia.site_id), "tents", {"weight": 7})
    weight = {"edit": "attribute.change", "level": "camping", "attribute": "weight", "name": "Weight", "type": "NUMBER"}
    edit(mia, weight | {"maxValue": "5", "mandatory": "1"})
    answer = mia.pages.client.get(f"{EDITOR}/review", base_url=mia.pages.base).text
    assert "“Weight” gets other rules; products whose value does not fit have no valid one then." in answer
    assert "“Weight” becomes required; products without it count as incomplete." in answer
    assert "3 products" in answer and "1 product<" in answer


def test_nothing_to_save_is_said_so(mia: Merchandiser) -> None:
    mia.get(EDITOR)
    save(mia)
    assert "There is nothing to save" in texts(mia.get(EDITOR))


def test_a_draft_with_problems_is_not_saved_and_leads_to_them(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "tents"})
    page = save(mia, "x", 400)
    assert any("level=" in link.get("href", "") for link in page.all("a"))
    assert page.texts["strong"] == "Couldn’t save: 1 error"
    assert stored(app, mia).revision == 1


def test_other_names_of_a_level_are_typed_with_commas_and_saved(app: Flask, mia: Merchandiser) -> None:
    typed = {"edit": "level.change", "level": "tents", "name": "Tents", "description": ""}
    edit(mia, typed | {"otherNames": "Shelters, Pods,"})
    inputs = mia.get(f"{EDITOR}?level=tents").all("input")
    assert [field["value"] for field in inputs if field.get("name") == "otherNames"] == ["Shelters, Pods"]
    review = texts(mia.get(f"{EDITOR}/review"))
    assert "Changed the other names of the level “Tents” to “Shelters” and “Pods”." in review
    save(mia)
    [tents, *_] = stored(app, mia).root_levels[0]["children"]
    assert tents["otherNames"] == ["Shelters", "Pods"]


def test_a_wrong_other_name_leads_from_the_problems_to_its_field(mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.change", "level": "tents", "name": "Tents", "description": "", "otherNames": "TENTS"})
    page = mia.get(f"{EDITOR}?level=tents")
    assert "“Tents” and “TENTS” are the same name of the level." in texts(page)
    assert any(link.get("href", "").endswith("#f-otherNames") for link in page.all("a"))


def colleague(app: Flask, mia: Merchandiser) -> Merchandiser:
    with app.app_context(), transaction():
        email = make_user(db.session.get_one(Site, mia.site_id), Role.MERCHANDISER, name="Noah Nash").email
    return Merchandiser(PageClient(app).signed_in(email), mia.site_id)


def test_who_saves_second_sees_both_sides_and_does_the_edits_again(app: Flask, mia: Merchandiser) -> None:
    noah = colleague(app, mia)
    edit(mia, {"edit": "level.change", "level": "camping", "name": "Outdoors", "description": ""})
    edit(noah, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    save(noah, "Stoves are new")
    refused = save(mia)
    assert refused.headers["Location"].endswith("/conflict")
    page = mia.get(f"{EDITOR}/conflict")
    assert "Noah Nash" in texts(page) and "Stoves are new" in texts(page)
    assert "Added the level “Stoves” below “Camping”." in texts(page)
    assert "Renamed the level “Camping” to “Outdoors”." in texts(page)
    mia.post(f"{EDITOR}/conflict", {})
    save(mia)
    after = stored(app, mia)
    assert after.revision == 3
    assert after.root_levels[0]["name"] == "Outdoors"
    assert [level["name"] for level in after.root_levels[0]["children"]] == ["Tents", "Stoves"]


def test_what_cannot_be_done_again_is_named(app: Flask, mia: Merchandiser) -> None:
    noah = colleague(app, mia)
    edit(mia, {"edit": "level.change", "level": "tents", "name": "Big tents", "description": ""})
    edit(noah, {"edit": "level.delete", "level": "tents"})
    save(noah)
    page = mia.get(f"{EDITOR}/conflict")
    assert "cannot be reapplied on the newest revision" in texts(page)
    mia.post(f"{EDITOR}/conflict", {})
    assert "Not reapplied" in texts(mia.get(EDITOR))


def test_a_save_goes_back_to_the_level_that_was_edited_also_where_it_was_new(mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    review = mia.get(f"{EDITOR}/review")
    answer = mia.post(f"{EDITOR}/review", {"note": "", **{name: review.value(name) for name in ("version", "level")}})
    assert answer.headers["Location"] == f"{EDITOR}?level=stoves&saved=1"
    assert 'aria-selected="true"' in mia.pages.client.get(answer.headers["Location"], base_url=mia.pages.base).text


def test_one_filter_that_mixes_kinds_of_values_is_warned_of_and_does_not_hinder(app: Flask, mia: Merchandiser) -> None:
    add = {"edit": "attribute.add", "level": "camping", "name": "Colour", "type": "NUMBER", "attributeId": "colour"}
    edit(mia, add)
    page = mia.get(EDITOR)
    assert "1 filter mixes kinds of values" in page.texts["summary"]
    save(mia)
    assert stored(app, mia).revision == 2


def test_products_counted_are_those_for_whom_the_definition_is_the_nearest(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        product = make_product(db.session.get_one(Site, mia.site_id))
        classify(product, active_tree(mia.site_id), "camping", {"weight": "7"})
        assert db.session.get_one(Product, product.id).taxonomy_level_id == "camping"
    edit(mia, {"edit": "attribute.override", "level": "tents", "attribute": "weight"})
    assert "1 product" in texts(mia.get(f"{EDITOR}?level=camping&attribute=weight"))
    assert "No product holds a value of it." in texts(mia.get(f"{EDITOR}?level=tents&attribute=weight"))


def test_a_thousand_values_fit_into_the_form(app: Flask, mia: Merchandiser) -> None:
    many = [(f"Colour number {number} of a thousand", "") for number in range(1_000)]
    assert mia.swap(f"{EDITOR}/attribute", colour_with(*many, intent="sort")).status_code == 200
    edit(mia, colour_with(*many))
    save(mia)
    assert len(stored(app, mia).root_levels[0]["children"][0]["attributes"][0]["allowedValues"]) == 1_000


def test_a_form_of_far_too_many_values_is_refused_briefly(mia: Merchandiser) -> None:
    mia.get(f"{EDITOR}?level=tents&attribute=colour")
    lines = "\n".join(f"Colour {number}" for number in range(60_000))
    pasted = mia.swap(f"{EDITOR}/attribute", colour_with(("Red", "Red"), intent="paste", newValues=lines))
    assert pasted.status_code == 400 and pasted.text.count('name="valueWas"') == 1
    assert "at most 1,000 values; these would be 60,001" in pasted.text and "Colour 59999" in pasted.text
    many = colour_with(*[("a", "")] * 20_000)
    for address, form in ((f"{EDITOR}/attribute", many), (f"{EDITOR}/draft", many)):
        answer = mia.swap(address, form)
        assert (answer.status_code, len(answer.data) < 100_000) == (400, True)
        assert "at most 1,000 values" in answer.text


def test_a_definition_of_its_own_may_rename_what_products_hold_under_the_inherited_one(
    app: Flask, mia: Merchandiser
) -> None:
    edit(mia, {"edit": "level.add", "parent": "tents", "name": "Tunnel tents"})
    save(mia)
    edit(mia, {"edit": "attribute.override", "level": "tunnel-tents", "attribute": "colour"})
    page = mia.get(f"{EDITOR}?level=tunnel-tents&attribute=colour")
    assert [field["value"] for field in page.all("input") if field.get("name") == "valueWas"] == ["Red", "Blue"]


def test_a_save_does_only_what_the_review_has_shown(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    seen = mia.get(f"{EDITOR}/review").value("version")
    edit(mia, {"edit": "level.delete", "level": "tents"})
    page = mia.post(f"{EDITOR}/review", {"version": seen, "note": "Stoves"}, 409)
    assert "changed in another window" in texts(page) and "Removed the level “Tents” below “Camping”" in texts(page)
    mia.post(f"{EDITOR}/review", {"note": "It does not say what it saw"}, 409)
    assert stored(app, mia).revision == 1
    mia.post(f"{EDITOR}/review", {"version": page.value("version")})
    assert stored(app, mia).revision == 2
