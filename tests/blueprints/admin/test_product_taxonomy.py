"""The Taxonomy part of the product form."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from app.domain.catalogue.models import Product
from app.domain.sites.models import Site
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser, merchandiser
from tests.domain.taxonomy.classified_shop import LEVELS, add_taxonomy, make_classified, make_shop

FIELDS = "/admin/catalogue/product/taxonomy/fields"
XSS = '"><script>alert(1)</script>'


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    found = merchandiser(app)
    with app.app_context(), transaction():
        add_taxonomy(db.session.get_one(Site, found.site_id))
    return found


def tent(app: Flask, mia: Merchandiser, level_id: str | None = "tents", values: Any = None, **more: Any) -> str:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, mia.site_id)
        fields = {"sku": "T-1", "name": "Ridge tent"} | more
        return f"/admin/catalogue/product/{make_classified(site, level_id, values, **fields).id}"


def stored(app: Flask, path: str) -> tuple[Any, ...]:
    with app.app_context():
        found = db.session.get_one(Product, int(path.rsplit("/", 1)[1]))
        return found.taxonomy_level_id, found.taxonomy_attributes, found.completeness_score


def form(level_id: str = "tents", revision: int = 1, **more: Any) -> dict[str, Any]:
    details = {"name": "Ridge tent", "sku": "T-1", "price": "12.50", "enabled": "on", "revision": str(revision)}
    part = {"taxonomyPanelSubmitted": "true", "taxonomyId": "outdoor", "levelId": level_id}
    return details | part | {f"attr:{name}" if name in ATTRIBUTES else name: value for name, value in more.items()}


ATTRIBUTES = set(TaxonomyTree.parse(LEVELS).attributes_by_id())


def test_the_unit_of_a_number_stands_beside_its_input(app: Flask, mia: Merchandiser) -> None:
    page = mia.get(tent(app, mia, values={"sleeps": 2}))
    assert "in people" in page.texts["span"]
    assert "People who fit in." in page.texts["p"]


def test_the_form_has_an_input_for_each_attribute_and_links_what_is_missing(app: Flask, mia: Merchandiser) -> None:
    page = mia.get(tent(app, mia, values={"sleeps": 2, "material": XSS}))
    assert page.value("attr:sleeps") == "2"
    assert page.value("attr:material") == XSS
    assert page.value("levelId") == "tents"
    assert "#f-attr-free" in {link.get("href") for link in page.all("a")}
    assert {"f-attr-weight", "f-attr-free", "f-attr-colour", "f-attr-season"} <= {
        tag.get("id") for tag in page.all("input", "select", "fieldset")
    }


def test_one_save_saves_details_and_classification(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia)
    mia.get(path)
    answer = mia.swap(path, form(name="Dome tent", sleeps="3", free="false", colour=["Moss", "Clay"]))
    assert "Saved. Search shows it" in answer.text
    assert "100 % complete" in answer.text
    assert stored(app, path) == ("tents", {"sleeps": 3, "free": False, "colour": ["Moss", "Clay"]}, 100)


def test_what_is_not_kept_is_told_one_by_one_and_stays_to_be_mended(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia)
    mia.get(path)
    answer = mia.swap(path, form(name="Dome tent", sleeps="many", weight="70", fuel="Gas"))
    assert answer.status_code == 200
    for words in ("Saved, but not all of it", "takes a number", "at most 50", "does not have this attribute"):
        assert words in answer.text
    assert 'value="many"' in answer.text
    assert 'value="70"' in answer.text
    assert stored(app, path) == ("tents", {}, 0)
    with app.app_context():
        assert db.session.scalars(db.select(Product.name)).one() == "Dome tent"


def test_a_value_that_does_not_fit_leaves_the_stored_one_and_says_so(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    mia.get(path)
    answer = mia.swap(path, form(name="Dome tent", sleeps="many"))
    assert "The product keeps “2”." in answer.text
    assert "50 % complete" in answer.text
    assert 'value="many"' in answer.text
    assert stored(app, path) == ("tents", {"sleeps": 2}, 50)


def test_without_javascript_what_is_not_kept_stays_too(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia)
    mia.get(path)
    page = mia.post(path, form(sleeps="many"), 200)
    assert page.value("attr:sleeps") == "many"
    assert page.value("revision") == "1"
    assert mia.post(path, form(sleeps="2")).location == path


def test_a_page_made_without_an_active_taxonomy_clears_nothing(app: Flask) -> None:
    mia = merchandiser(app)
    path = tent(app, mia, values={"sleeps": 2})
    page = mia.get(path)
    names = {field.get("name") for field in page.all("input")}
    assert "taxonomyPanelSubmitted" not in names
    sent = {name: value for name, value in form(name="New name").items() if not name.startswith(("taxonomy", "level"))}
    mia.post(path, sent)
    assert stored(app, path) == ("tents", {"sleeps": 2}, 50)


def test_without_the_flag_of_the_panel_a_form_classifies_nothing_while_a_taxonomy_is_active(
    app: Flask, mia: Merchandiser
) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    mia.get(path)
    for sent in (form(name="New name", sleeps="5"), form("stoves", 2, name="Newer name"), form("", 3, name="Newest")):
        sent.pop("taxonomyPanelSubmitted")
        mia.post(path, sent)
        assert stored(app, path) == ("tents", {"sleeps": 2}, 50)
    with app.app_context():
        assert db.session.scalars(db.select(Product.name)).one() == "Newest"


def test_with_the_flag_of_the_panel_the_same_form_classifies(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    mia.get(path)
    mia.post(path, form(sleeps="5"))
    assert stored(app, path) == ("tents", {"sleeps": 5}, 50)
    mia.post(path, form("stoves", 2))
    assert stored(app, path)[0] == "stoves"
    mia.post(path, form("", 3))
    assert stored(app, path) == (None, {}, None)


def test_a_form_made_for_another_taxonomy_says_that_it_was_not_applied(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    mia.get(path)
    answer = mia.swap(path, form(levelId="", taxonomyId="fashion", name="New name"))
    assert "Another taxonomy was made the active one" in answer.text
    assert stored(app, path) == ("tents", {"sleeps": 2}, 50)


def test_an_unknown_level_is_refused_at_its_field_with_everything_typed_kept(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia)
    mia.get(path)
    page = mia.post(path, form("kayaks", weight="2", name="New name"), 400)
    assert "#f-levelId" in {link.get("href") for link in page.all("a")}
    assert page.value("name") == "New name"


def test_a_level_that_is_gone_is_kept_and_said(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    with app.app_context(), transaction():
        db.session.scalars(db.select(Product)).one().taxonomy_level_id = "kayaks"
    assert mia.get(path).value("attr:sleeps") == "2"
    assert "no longer in the taxonomy" in mia.swap(path, form("kayaks", sleeps="2", name="New name")).text
    assert stored(app, path)[:2] == ("kayaks", {"sleeps": 2})


def test_a_stale_form_shows_how_the_classification_differs(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    mia.get(path)
    mia.swap(path, form("stoves", fuel="Gas"))
    answer = mia.swap(path, form(sleeps="4"))
    assert answer.status_code == 409
    assert "Camping › Stoves" in answer.text
    for label in ("Level", "Fuel", "Sleeps"):
        assert f'<th scope="row">{label}</th>' in answer.text
    assert 'value="4"' in answer.text


def test_another_level_gets_its_inputs_with_what_was_typed(app: Flask, mia: Merchandiser) -> None:
    mia.get(tent(app, mia))
    sent = form(chosenLevel="stoves", weight="2", sleeps="3", colour=["Moss"])
    text = mia.swap(FIELDS, sent).text
    assert 'name="levelId" value="stoves"' in text
    assert 'id="f-attr-fuel"' in text
    assert 'name="attr:weight" value="2"' in text
    assert 'type="hidden" name="attr:sleeps" value="3"' in text
    assert "They go when you save" in text
    assert "Not saved yet" in text


def test_the_fields_of_a_level_come_with_the_values_of_a_product(app: Flask, mia: Merchandiser) -> None:
    product_id = tent(app, mia, values={"sleeps": 2}).rsplit("/", 1)[1]
    text = mia.fragment(f"{FIELDS}?levelId=tents&productId={product_id}&attr:weight=7").text
    assert 'name="attr:sleeps" value="2"' in text
    assert 'name="attr:weight" value="7"' in text
    assert "People who fit in." in text
    assert "<html" not in text


@pytest.mark.parametrize("query", ["levelId=kayaks", "levelId=tents&productId=99999", "levelId=tents&productId=x"])
def test_fields_of_nothing_are_not_found(mia: Merchandiser, query: str) -> None:
    assert mia.fragment(f"{FIELDS}?{query}").status_code == 404


def test_fields_show_nothing_of_another_shop(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        other = make_classified(make_shop("other.localhost"), "tents", {"material": "Secret cloth"}).id
    assert mia.fragment(f"{FIELDS}?levelId=tents&productId={other}").status_code == 404


def test_levels_are_found_by_words(mia: Merchandiser) -> None:
    text = mia.fragment("/admin/catalogue/product/taxonomy/levels?levelWords=sto").text
    assert "Stoves" in text
    assert "Tents" not in text
    assert "No level" in mia.fragment("/admin/catalogue/product/taxonomy/levels?levelWords=<b>").text


def test_without_javascript_a_level_is_chosen_from_a_list(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, values={"sleeps": 2})
    mia.get(path)
    page = mia.post(path, form(sleeps="4", intent="pick-level"), 200)
    assert [field.get("name") for field in page.all("select")].count("levelId") == 1
    page = mia.post(path, form("stoves", sleeps="4", intent="show-level"), 200)
    assert "f-attr-fuel" in {field.get("id") for field in page.all("select")}
    assert page.value("attr:sleeps") == "4"
    assert stored(app, path)[0] == "tents"


def test_a_new_product_can_have_its_level_at_once(app: Flask, mia: Merchandiser) -> None:
    mia.get("/admin/catalogue/product/new")
    answer = mia.post("/admin/catalogue/product/new", form("stoves", revision=0, fuel="wood"))
    assert stored(app, answer.location) == ("stoves", {"fuel": "Wood"}, 100)


def test_what_another_taxonomy_knew_is_shown(app: Flask, mia: Merchandiser) -> None:
    path = tent(app, mia, None)
    slot = {"taxonomyId": "old", "levelId": "igloos", "attributes": {"beds": ["One", "Two"]}, "archivedAt": "x"}
    with app.app_context(), transaction():
        db.session.scalars(db.select(Product)).one().archived_taxonomy_data = slot
    page = mia.get(path)
    assert "igloos" in page.texts["dd"]
    assert "One, Two" in page.texts["dd"]
