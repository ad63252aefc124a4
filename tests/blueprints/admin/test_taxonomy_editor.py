"""The taxonomy editor's page, and what it answers to edits, with htmx and without."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from sqlalchemy import delete
from werkzeug.test import TestResponse

from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy, TaxonomyRevision
from app.domain.taxonomy.validation.structure import check_structure
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.taxonomy.trees import choice, level
from tests.factories import make_product, make_taxonomy
from tests.statements import statements

CAMPING = [
    level("camping", level("tents", attributes=[choice("colour", "Moss", "Clay")]), level("stoves")),
    level("home"),
]
EDITOR = "/admin/catalogue/taxonomy/kinds"


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    mia = merchandiser(app)
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        make_taxonomy(site, CAMPING, active=True, id="kinds", name="Kinds of things")
        make_product(site, taxonomy_level_id="tents")
        make_product(site, taxonomy_level_id="camping")
    return mia


def edit(mia: Merchandiser, what: str, /, **fields: str) -> TestResponse:
    return mia.swap(f"{EDITOR}/draft", {"edit": what} | fields)


def version(mia: Merchandiser) -> str:
    page = mia.get(EDITOR)
    return next(tag["data-version"] for tag in page.all("div") if "data-version" in tag)


def shown_levels(mia: Merchandiser) -> list[str]:
    return [item["data-id"] for item in mia.get(EDITOR).all("li") if item.get("role") == "treeitem"]


def test_the_page_shows_the_tree_with_counts_and_the_chosen_level(mia: Merchandiser):
    page = mia.get(f"{EDITOR}?level=tents")
    items = [item for item in page.all("li") if item.get("role") == "treeitem"]
    assert [item["data-id"] for item in items] == ["camping", "tents", "stoves", "home"]
    assert [item["data-id"] for item in items if item["aria-selected"] == "true"] == ["tents"]
    html = mia.pages.client.get(EDITOR, base_url=mia.pages.base).text
    assert "1 here, 2 with the levels below" in html


def test_an_unknown_level_shows_the_taxonomy_itself(mia: Merchandiser):
    assert mia.get(f"{EDITOR}?level=gone").value("name") == "Kinds of things"


def test_an_edit_is_answered_with_what_changed_and_nothing_else(mia: Merchandiser):
    answer = edit(mia, "level.add", parent="camping", after="tents", name="Lamps")
    assert answer.status_code == 200
    assert 'hx-target="#l-tents" hx-swap="afterend"' in answer.text and 'data-id="new-1"' in answer.text
    assert 'data-id="stoves"' not in answer.text and 'data-id="home"' not in answer.text
    for part in ("#bar", "#panel", "#problems", "#done", "#refusal"):
        assert f'hx-target="{part}"' in answer.text
    assert answer.headers["HX-Replace-Url"] == f"{EDITOR}?level=new-1"
    assert "Added the level “Lamps”." in answer.text


def test_several_lines_are_several_levels_in_their_order(mia: Merchandiser):
    edit(mia, "level.add", parent="camping", after="tents", name="Lamps\r\n\r\n Axes \r\nMaps")
    assert shown_levels(mia) == ["camping", "tents", "new-1", "new-2", "new-3", "stoves", "home"]
    page = mia.pages.client.get(f"{EDITOR}?level=new-1", base_url=mia.pages.base).text
    assert '<h2 id="panel-heading" tabindex="-1">Lamps</h2>' in page


def test_names_that_were_added_at_the_top_are_not_there_to_be_added_again(mia: Merchandiser):
    emptied = '<textarea id="top-names" name="name" rows="2" required aria-describedby="top-names-help"></textarea>'
    answer = edit(mia, "level.add", name="Shoes\r\nBoots").text
    assert answer.count('hx-target="#top-names" hx-swap="outerHTML"') == answer.count(emptied) == 1
    for other in (edit(mia, "level.add", name=""), edit(mia, "level.add", level="home", parent="home", name="Lamps")):
        assert "top-names" not in other.text
    assert "top-names" not in mia.swap(f"{EDITOR}/draft/undo", {}).text


def test_lines_nest_as_they_are_indented_and_what_was_made_is_told(mia: Merchandiser):
    answer = edit(mia, "level.add", name="Shoes\r\n  Boots\r\n\tWinter boots\r\nCamping > Lamps")
    assert "Added 4 levels, 2 of them below the others; 1 was there already." in answer.text
    assert shown_levels(mia) == ["camping", "tents", "stoves", "new-4", "home", "new-1", "new-2", "new-3"]
    too_deep = edit(mia, "level.add", parent="tents", name=" > ".join("ABCDEFG"))
    assert too_deep.status_code == 400 and "Line 1, “G”, would be 9 deep." in too_deep.text


def test_a_name_changes_and_the_description_stays(mia: Merchandiser):
    edit(mia, "level.change", level="tents", name="Tents", description="To sleep in")
    answer = edit(mia, "level.rename", level="tents", name="Shelters")
    assert 'hx-target="#r-tents"' in answer.text and "To sleep in" in answer.text


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"parent": ""}, ["camping", "stoves", "home", "tents"]),
        ({"parent": "", "before": "camping"}, ["tents", "camping", "stoves", "home"]),
        ({"parent": "camping", "after": "stoves"}, ["camping", "stoves", "tents", "home"]),
        ({"parent": "home"}, ["camping", "stoves", "home", "tents"]),
    ],
)
def test_a_level_moves_to_a_place(mia: Merchandiser, fields: dict[str, str], expected: list[str]):
    assert edit(mia, "level.move", level="tents", **fields).status_code == 200
    assert shown_levels(mia) == expected


def test_a_level_is_shifted_and_deleted(mia: Merchandiser):
    edit(mia, "level.up", level="stoves")
    edit(mia, "level.indent", level="home")
    assert shown_levels(mia) == ["camping", "stoves", "tents", "home"]
    edit(mia, "level.outdent", level="home")
    edit(mia, "level.delete", level="camping")
    assert shown_levels(mia) == ["home"]


def test_only_products_of_the_levels_that_an_edit_draws_are_counted(app: Flask, mia: Merchandiser):
    with statements(app) as seen:
        rename = edit(mia, "level.change", level="tents", name="Big tents")
        chosen = mia.fragment(f"{EDITOR}/level?level=tents")
    counts = [statement for statement in seen if "count(*)" in statement and "taxonomy_level_id" in statement]
    assert "1 product" in rename.text and "1 product" in chosen.text
    assert len(counts) == 2 and all("taxonomy_level_id IN" in statement for statement in counts)


def test_who_deletes_a_level_is_told_how_many_products_lose_theirs(mia: Merchandiser):
    text = edit(mia, "level.delete", level="camping").text
    assert "Deleted the level “Camping” and 2 below it: 2 products lose their level when you save." in text
    assert '<button class="link" form="turn-undo">Undo</button>' in text and '<form id="turn-undo"' in text
    mia.swap(f"{EDITOR}/draft/undo", {})
    assert "Deleted the level “Stoves”.</p>" in edit(mia, "level.delete", level="stoves").text


def test_the_question_before_an_attribute_goes_has_the_focus_on_cancel(mia: Merchandiser):
    page = mia.get(f"{EDITOR}?level=tents&attribute=colour")
    (cancel,) = [button for button in page.all("button") if "autofocus" in button]
    assert (cancel["command"], cancel["commandfor"]) == ("close", "delete-attribute")


def test_undo_and_redo_tell_what_they_did(mia: Merchandiser):
    edit(mia, "level.delete", level="stoves")
    assert "Undone: Deleted the level “Stoves”." in mia.swap(f"{EDITOR}/draft/undo", {}).text
    assert shown_levels(mia) == ["camping", "tents", "stoves", "home"]
    assert "Redone" in mia.swap(f"{EDITOR}/draft/redo", {}).text
    assert "There is nothing to redo" in mia.swap(f"{EDITOR}/draft/redo", {}).text


def test_when_a_new_level_is_taken_back_the_one_before_it_is_looked_at(mia: Merchandiser):
    edit(mia, "level.add", parent="camping", after="tents", name="Lamps")
    assert mia.swap(f"{EDITOR}/draft/undo", {}).headers["HX-Replace-Url"] == f"{EDITOR}?level=tents"
    edit(mia, "level.add", parent="home", name="Lamps")
    assert mia.swap(f"{EDITOR}/draft/undo", {}).headers["HX-Replace-Url"] == f"{EDITOR}?level=home"


def test_a_level_that_is_mended_elsewhere_loses_its_sign(mia: Merchandiser):
    """The window says which rows carry the sign; two siblings of one name are both a problem of the second."""
    answer = edit(mia, "level.add", parent="camping", after="tents", name="Tents")
    assert "1 error" in answer.text
    answer = edit(mia, "level.rename", level="tents", name="Shelters", marked="new-1")
    assert 'hx-target="#r-new-1"' in answer.text and "to fix" not in answer.text


def test_an_edit_that_cannot_be_done_says_why_and_leaves_all_else(mia: Merchandiser):
    answer = edit(mia, "level.move", level="camping", parent="tents")
    assert answer.status_code == 400
    assert re.search(r'<p class="bad-ink" role="alert">[^<]*cannot stand below itself', answer.text)
    assert 'hx-target="#panel"' not in answer.text and 'hx-target="#l-' not in answer.text


def test_the_reason_of_a_refusal_is_an_alert_and_no_part_of_the_status(mia: Merchandiser):
    page = mia.pages.client.get(EDITOR, base_url=mia.pages.base).text
    assert re.search(
        r'id="said" class="said"[^>]*><div\s+id="done" role="status"></div><div id="refusal"></div></div>', page
    )
    refused = edit(mia, "level.move", level="camping", parent="tents").text
    assert '<hx-partial hx-target="#done" hx-swap="innerHTML"></hx-partial>' in refused, "nothing was done"
    done = edit(mia, "level.rename", level="tents", name="Shelters").text
    assert '<hx-partial hx-target="#refusal" hx-swap="innerHTML"></hx-partial>' in done, "the reason before is gone"
    assert 'role="alert"' not in done


@pytest.mark.parametrize("name", ["", "level.explode", "nonsense"])
def test_an_unknown_edit_is_refused(mia: Merchandiser, name: str):
    assert edit(mia, name, level="tents").status_code == 400


def test_a_refused_form_of_the_panel_comes_back_as_it_was_typed(mia: Merchandiser):
    answer = edit(mia, "level.change", level="gone", name="Anything", description="x")
    assert answer.status_code == 400 and "There is no level “gone” any more." in answer.text


def test_a_window_that_is_behind_gets_the_tree_and_keeps_its_panel(mia: Merchandiser):
    early = version(mia)
    edit(mia, "level.add", parent="", name="Toys", version=early)
    answer = edit(mia, "level.change", level="tents", name="Typed with care", description="", version=early)
    assert answer.status_code == 409
    assert "another window" in answer.text
    assert 'hx-target="#tree"' in answer.text and 'data-id="new-1"' in answer.text
    assert 'hx-target="#panel"' not in answer.text
    assert edit(mia, "level.rename", level="tents", name="Now", version=version(mia)).status_code == 200


def test_what_somebody_types_is_kept_while_the_tree_changes(mia: Merchandiser):
    answer = edit(mia, "level.delete", level="home", keep="1")
    assert 'hx-target="#panel"' not in answer.text and "HX-Replace-Url" not in answer.headers


def test_without_scripts_an_edit_leads_back_to_the_page(mia: Merchandiser):
    mia.get(f"{EDITOR}?level=tents")
    answer = mia.post(f"{EDITOR}/draft", {"edit": "level.down", "level": "tents"})
    assert answer.headers["Location"] == f"{EDITOR}?level=tents"
    page = mia.get(f"{EDITOR}?level=tents")
    assert "Moved “Tents” among its neighbours." in page.texts["p"]
    mia.post(f"{EDITOR}/draft", {"edit": "level.indent", "level": "camping"}, status=400)


def test_without_scripts_a_late_form_keeps_what_was_typed(mia: Merchandiser):
    early = version(mia)
    mia.post(f"{EDITOR}/draft", {"edit": "level.down", "level": "tents"})
    form = {"edit": "level.change", "level": "tents", "name": "Typed with care", "description": "", "version": early}
    assert mia.post(f"{EDITOR}/draft", form, status=409).value("name") == "Typed with care"


def test_the_panel_of_a_level_is_fetched_alone(mia: Merchandiser):
    answer = mia.fragment(f"{EDITOR}/level?level=tents")
    assert 'hx-target="#panel"' in answer.text and "Colour" in answer.text and 'role="tree"' not in answer.text
    assert answer.headers["HX-Replace-Url"] == f"{EDITOR}?level=tents"
    without = mia.pages.client.get(f"{EDITOR}/level?level=tents", base_url=mia.pages.base)
    assert (without.status_code, without.headers["Location"]) == (302, f"{EDITOR}?level=tents")


def test_a_level_is_moved_to_a_level_found_by_words(mia: Merchandiser):
    page = mia.get(f"{EDITOR}/move?level=tents")
    assert [button["value"] for button in page.all("button") if button.get("name") == "parent"] == [
        "",
        "stoves",
        "home",
    ]
    found = mia.fragment(f"{EDITOR}/move?level=tents&q=HO").text
    assert 'value="home"' in found and 'value="stoves"' not in found and "<dialog" in found
    assert "No level of that name" in mia.fragment(f"{EDITOR}/move?level=tents&q=zzz").text
    mia.get(f"{EDITOR}/move?level=gone", status=404)


def test_a_level_is_not_offered_a_place_where_what_is_below_it_would_be_too_deep(app: Flask, mia: Merchandiser):
    way = level("l8")
    for number in range(7, 0, -1):
        way = level(f"l{number}", way)
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, mia.site_id), [way, level("pair", level("low"))], id="deep")
    page = mia.get("/admin/catalogue/taxonomy/deep/move?level=pair")
    offered = [button["value"] for button in page.all("button") if button.get("name") == "parent"]
    assert offered == [f"l{number}" for number in range(1, 7)]


def test_discarding_forgets_everything(mia: Merchandiser):
    edit(mia, "level.delete", level="home")
    mia.get(EDITOR)
    mia.post(f"{EDITOR}/draft/discard", {})
    assert "home" in shown_levels(mia)


def test_the_taxonomys_own_words_are_saved_at_once(mia: Merchandiser):
    mia.get(EDITOR)
    mia.post(f"{EDITOR}/details", details(mia) | {"name": "All kinds", "description": "Everything"})
    assert mia.get(EDITOR).texts["h1"] == "All kinds"
    refused = mia.post(f"{EDITOR}/details", details(mia) | {"name": "", "description": "Kept"}, status=400)
    assert refused.texts["textarea"].endswith("Kept") or "Kept" in refused.texts["textarea"]


def details(mia: Merchandiser) -> dict[str, str]:
    """What the form of the taxonomy's own words sends as it stands."""
    page = mia.get(EDITOR)
    return {name: page.value(name) for name in ("name", "revision")} | {"description": page.texts["textarea"].strip()}


def test_words_that_another_user_saved_meanwhile_are_overwritten_only_after_they_were_shown(mia: Merchandiser):
    old = details(mia)
    mia.post(f"{EDITOR}/details", old | {"description": "<i>Theirs</i>"})
    late = old | {"name": "Mine", "description": "Of mine"}
    page = mia.post(f"{EDITOR}/details", late, status=409)
    assert "Mia Moss saved this taxonomy while you worked on it" in page.texts["strong"]
    assert "Stored now: “Kinds of things”, described as “<i>Theirs</i>”." in " ".join(page.texts["p"].split())
    assert page.value("name") == "Mine"
    fragment = mia.swap(f"{EDITOR}/details", late)
    assert fragment.status_code == 409
    for part in ("#panel", "#tree"):
        assert f'hx-target="{part}"' in fragment.text
    stored = details(mia)
    assert (stored["name"], stored["description"]) == ("Kinds of things", "<i>Theirs</i>")
    mia.post(f"{EDITOR}/details", late | {"revision": page.value("revision")})
    stored = details(mia)
    assert (stored["name"], stored["description"]) == ("Mine", "Of mine")


def test_ids_of_another_form_can_be_named_by_selectors(app: Flask, mia: Merchandiser):
    checked = check_structure([level("a.b c"), level("a_b")], {"a.b c"})
    with app.app_context(), transaction():
        make_taxonomy(db.session.get_one(Site, mia.site_id), id="odd").root_levels = checked.levels
    page = mia.get("/admin/catalogue/taxonomy/odd")
    items = [item["id"] for item in page.all("li") if item.get("role") == "treeitem"]
    assert items == ["l-a_2e_b_20_c", "l-a_5f_b"]


def test_the_page_takes_as_many_queries_for_many_levels_as_for_few(app: Flask, mia: Merchandiser):
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        make_taxonomy(site, [level(f"l{number}") for number in range(200)], id="many")
        make_taxonomy(site, [level("one")], id="few")
    counts = []
    for name in ("few", "many"):
        with statements(app) as seen:
            mia.get(f"/admin/catalogue/taxonomy/{name}")
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 12


def test_edits_that_can_no_longer_be_shown_are_told_and_wait_to_be_discarded(app: Flask, mia: Merchandiser):
    edit(mia, "level.add", name="Toys", version=version(mia))
    with app.app_context(), transaction():
        taxonomy = db.session.get_one(Taxonomy, (mia.site_id, "kinds"))
        taxonomy.revision += 1
        db.session.execute(delete(TaxonomyRevision))
    assert "Added the level “Toys”" in html_of(mia)
    assert "Your earlier edits cannot be done again" in edit(mia, "level.add", name="Games", version=version(mia)).text
    assert "Added the level “Toys”" in html_of(mia)
    mia.post(f"{EDITOR}/draft/discard", {})
    assert "cannot be shown" not in html_of(mia)


def html_of(mia: Merchandiser) -> str:
    return mia.pages.client.get(EDITOR, base_url=mia.pages.base).text


def test_a_window_that_is_behind_gets_the_tree_with_the_level_that_it_asks_for(mia: Merchandiser):
    early = version(mia)
    known = mia.fragment(f"{EDITOR}/level?level=tents&version={early}").text
    assert 'hx-target="#tree"' not in known and f'data-version="{early}"' in known
    edit(mia, "level.add", parent="", name="Toys", version=early)
    late = mia.fragment(f"{EDITOR}/level?level=tents&version={early}").text
    assert "in another window" in late and 'data-id="new-1"' in late
    assert 'hx-target="#panel"' in late and "Colour" in late


def test_a_level_that_is_gone_gives_the_page_no_address(mia: Merchandiser):
    answer = mia.fragment(f"{EDITOR}/level?level=gone&attribute=colour")
    assert answer.headers["HX-Replace-Url"] == EDITOR
