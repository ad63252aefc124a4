"""The editor's panel, review, conflict and banner, as somebody without JavaScript uses them and as htmx does."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.search.models import OutboxEntry, RebuildRun
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.domain.taxonomy import tasks
from app.domain.taxonomy.models import Taxonomy, TaxonomyTask
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.tasks.runner import work_off
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.work.context import WorkContext
from app.extensions import db
from app.jobs import events
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.factories import make_product, make_run, make_taxonomy, make_user
from tests.fakes.clock import StoppedClock
from tests.page_client import PageClient, Reading

EDITOR = "/admin/catalogue/taxonomy/kinds"
COLOUR = {
    "attributeId": "colour",
    "name": "Colour",
    "type": "SINGLE_SELECT",
    "allowedValues": ["Red", "Blue"],
    "displayOnProductPage": True,
}
WEIGHT = {"attributeId": "weight", "name": "Weight", "type": "NUMBER"}
LEVELS = [
    {
        "levelId": "camping",
        "name": "Camping",
        "attributes": [WEIGHT],
        "children": [{"levelId": "tents", "name": "Tents", "attributes": [COLOUR]}],
    }
]
RED_TENTS = 3


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    """A merchandiser whose shop has three red tents."""
    made = merchandiser(app)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, made.site_id)
        make_taxonomy(site, LEVELS, active=True, id="kinds")
        tree = active_tree(site.id)
        for _ in range(RED_TENTS):
            classify(make_product(site), tree, "tents", {"colour": "Red"})
    return made


def edit(mia: Merchandiser, form: dict[str, Any], status: int = 302) -> Any:
    return mia.post(f"{EDITOR}/draft", form, status)


def save(mia: Merchandiser, note: str = "", status: int = 302) -> Any:
    """What the editor shows now."""
    bar = next(place for place in mia.get(EDITOR).all("div") if place.get("id") == "bar")
    return mia.post(f"{EDITOR}/review", {"version": bar["data-version"], "note": note}, status)


def colour_with(*rows: tuple[str, str], **more: Any) -> dict[str, Any]:
    fields = {"edit": "attribute.change", "level": "tents", "attribute": "colour"}
    named = {"name": "Colour", "type": "SINGLE_SELECT", "displayOnProductPage": "on"}
    return fields | named | {"value": [text for text, _ in rows], "valueWas": [was for _, was in rows]} | more


def stored(app: Flask, mia: Merchandiser) -> Taxonomy:
    with app.app_context():
        return db.session.get_one(Taxonomy, (mia.site_id, "kinds"))


def texts(page: Reading) -> str:
    return " ".join(page.texts.values())


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


def follow_up(app: Flask) -> None:
    """What the worker does with the event of a save; the outbox is empty then."""
    with app.app_context():
        events.deliver()
        with transaction():
            db.session.query(OutboxEntry).delete()


def add_stoves(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    save(mia)
    follow_up(app)


def banner(mia: Merchandiser) -> str:
    return mia.fragment(f"{EDITOR}/banner?part=reindex").text


def test_the_banner_follows_the_rebuild_that_comes_of_a_save_by_itself(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    save(mia)
    assert "follow by themselves in a few seconds" in texts(mia.get(EDITOR))
    follow_up(app)
    waiting = banner(mia)
    assert "by themselves" in waiting and 'hx-trigger="every 1500ms"' in waiting
    assert "Rebuild…" not in waiting
    with app.app_context(), transaction():
        needed = db.session.query(Taxonomy).one().rebuild_needed_at
        assert needed is not None
        make_run(
            db.session.get_one(Site, mia.site_id),
            state="running",
            scope="PRODUCTS",
            started_at=needed + timedelta(seconds=5),
            lease_until=needed + timedelta(hours=1),
            done=2,
            total=5,
        )
    running = banner(mia)
    assert "Rebuilding: 40 %." in running and 'hx-trigger="every 1500ms"' in running
    with app.app_context(), transaction():
        run = db.session.query(RebuildRun).one()
        run.state, run.done, run.finished_at = "done", 3, run.started_at
    ended = mia.fragment(f"{EDITOR}/banner?part=reindex").text
    assert "Shoppers have the new filters: 3 products indexed" in ended and "every" not in ended
    assert "Shoppers’ filters are up to date: 3 products indexed" in texts(mia.get(EDITOR)), "it is no news there"


def test_a_rebuild_that_has_not_come_for_a_minute_is_offered(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    add_stoves(app, mia)
    clock.move(minutes=1)
    assert "Rebuild now" not in banner(mia)
    clock.move(seconds=1)
    late = banner(mia)
    assert "Rebuild now" in late and 'hx-trigger="every 5s"' in late
    assert "do not have the last save yet" in late and "failed" not in late
    assert 'hx-trigger="every 1500ms"' in mia.swap(f"{EDITOR}/rebuild", {}).text


def test_a_save_of_texts_alone_leaves_the_filters_up_to_date(app: Flask, mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.change", "level": "tents", "name": "Tents", "description": "To sleep in"})
    save(mia)
    follow_up(app)
    assert "Shoppers’ filters are up to date" in banner(mia) and "every" not in banner(mia)


def test_a_rebuild_that_failed_says_why_and_is_offered_again(app: Flask, mia: Merchandiser) -> None:
    add_stoves(app, mia)
    with app.app_context(), transaction():
        needed = db.session.query(Taxonomy).one().rebuild_needed_at
        assert needed is not None
        began = needed + timedelta(seconds=5)
        site = db.session.get_one(Site, mia.site_id)
        make_run(site, state="failed", scope="PRODUCTS", started_at=began, finished_at=began, error="The disk is full.")
    page = mia.get(EDITOR)
    assert "The rebuild failed: The disk is full." in texts(page)
    opener = next(button for button in page.all("button") if button.get("commandfor") == "rebuild-products")
    assert opener["command"] == "show-modal"
    assert page.texts["h2"].count("Rebuild the index of products?") == 1
    assert 'hx-trigger="every 1500ms"' in mia.swap(f"{EDITOR}/rebuild", {}).text
    with app.app_context():
        assert db.session.query(RebuildRun.state).order_by(RebuildRun.created_at.desc()).first() == ("waiting",)


def test_a_save_goes_back_to_the_level_that_was_edited_also_where_it_was_new(mia: Merchandiser) -> None:
    edit(mia, {"edit": "level.add", "parent": "camping", "name": "Stoves"})
    review = mia.get(f"{EDITOR}/review")
    answer = mia.post(f"{EDITOR}/review", {"note": "", **{name: review.value(name) for name in ("version", "level")}})
    assert answer.headers["Location"] == f"{EDITOR}?level=stoves&saved=1"
    assert 'aria-selected="true"' in mia.pages.client.get(answer.headers["Location"], base_url=mia.pages.base).text


def test_the_banner_counts_what_search_does_not_have(app: Flask, mia: Merchandiser, clock: StoppedClock) -> None:
    """ "Up to date" is told only while nothing waits and nothing was set aside."""
    with app.app_context(), transaction():
        make_run(db.session.get_one(Site, mia.site_id), started_at=clock.now() + timedelta(days=365))
        db.session.query(OutboxEntry).delete()
        for record in (1, 2):
            db.session.add(entry(mia.site_id, record, clock, attempts=0))
        db.session.add(entry(mia.site_id, 3, clock, attempts=1))
    page = mia.get(EDITOR)
    text = texts(page)
    assert "2 changes wait to get into search. 1 record could not be indexed" in text
    assert "up to date" not in text
    assert "/admin/search" in {link.get("href") for link in page.all("a")}
    clock.move(minutes=3)
    assert "2 changes wait for more than two minutes" in texts(mia.get(EDITOR))


def entry(site_id: int, record_id: int, clock: StoppedClock, attempts: int) -> OutboxEntry:
    return OutboxEntry(
        site_id=site_id, kind="product", record_id=record_id, attempts=attempts, created_at=clock.now(), error="no"
    )


def test_what_came_of_a_save_is_told_for_two_minutes_and_a_failure_for_longer(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    edit(mia, colour_with(("Crimson", "Red"), ("Blue", "Blue")))
    save(mia)
    with app.app_context():
        work_off(WorkContext(clock, transaction), mia.site_id)
    address = f"{EDITOR}/banner?part=tasks"
    result = "Renaming values on products"
    assert result in mia.fragment(address).text and "3 products have the new words now." in mia.fragment(address).text
    clock.move(minutes=1)
    assert result in mia.fragment(address).text
    assert 'hx-trigger="every 60s"' in mia.fragment(address).text
    clock.move(minutes=2)
    assert result not in mia.fragment(address).text and "hx-get" not in mia.fragment(address).text
    assert result not in texts(mia.get(EDITOR))
    with app.app_context(), transaction():
        db.session.query(TaxonomyTask).filter_by(kind="RENAME_VALUES").one().state = "failed"
    assert result in mia.fragment(address).text


def test_a_taxonomy_that_the_shop_does_not_use_has_no_banner(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, mia.site_id), LEVELS, id="spare")
    page = mia.get("/admin/catalogue/taxonomy/spare?level=tents&attribute=colour")
    assert "Rebuild…" not in texts(page)
    assert not [place for place in page.all("span") if "data-products" in place]


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


def test_a_rebuild_that_was_requested_before_the_save_and_began_after_it_brings_it(
    app: Flask, mia: Merchandiser, clock: StoppedClock
) -> None:
    with app.app_context(), transaction():
        requested = clock.now()
        make_run(db.session.get_one(Site, mia.site_id), state="waiting", scope="ALL", created_at=requested)
    clock.move(seconds=5)
    add_stoves(app, mia)
    clock.move(seconds=5)
    with app.app_context(), transaction():
        run = db.session.query(RebuildRun).one()
        run.state, run.started_at, run.finished_at = "done", clock.now(), clock.now()
    assert "Shoppers’ filters are up to date" in texts(mia.get(EDITOR))
    with app.app_context(), transaction():
        db.session.query(RebuildRun).one().started_at = requested
    assert "follow by themselves in a few seconds" in texts(mia.get(EDITOR))


@pytest.mark.parametrize(
    ("scope", "seconds_before_the_save", "is_in_it"),
    [("ALL", 5, False), ("PRODUCTS", 5, False), ("CONTENT", -5, False), ("PRODUCTS", -5, True)],
)
def test_a_rebuild_that_does_not_bring_the_save_is_not_shown_as_if_it_did(
    app: Flask, mia: Merchandiser, clock: StoppedClock, scope: str, seconds_before_the_save: int, is_in_it: bool
) -> None:
    """It began before the save, or is of something else; the products are then rebuilt right after it."""
    add_stoves(app, mia)
    with app.app_context(), transaction():
        began = clock.now() - timedelta(seconds=seconds_before_the_save)
        site = db.session.get_one(Site, mia.site_id)
        lease = clock.now() + timedelta(hours=1)
        make_run(site, state="running", scope=scope, created_at=began, started_at=began, lease_until=lease)
    assert ("Rebuilding." in texts(mia.get(EDITOR))) == is_in_it
    answer = mia.swap(f"{EDITOR}/rebuild", {})
    assert ("Products are rebuilt" in answer.text) != is_in_it and 'hx-trigger="every 1500ms"' in answer.text
    with app.app_context(), transaction():
        run = db.session.query(RebuildRun).one()
        assert run.queued_scope == (None if is_in_it else "PRODUCTS")
        run.state, run.finished_at = "done", clock.now()
        db.session.query(OutboxEntry).delete()
    assert ("Shoppers have the new filters" in mia.fragment(f"{EDITOR}/banner?part=reindex").text) == is_in_it
