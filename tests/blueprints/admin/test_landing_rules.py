"""The editor of landing rules: of a category, and of a tree."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from flask import Flask
from sqlalchemy import select

from app.adapters.null_engine import NullEngine
from app.domain.merchandising.models import Node, Tree
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.ports import EXTENSION
from app.transaction import transaction
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.blueprints.storefront import small_shop
from tests.factories import make_user
from tests.page_client import PageClient, Reading
from tests.snapshots import built

BRAND = {"facetId": "manufacturer"}
TENTS = "/admin/merchandising/category/2/landing"
TREE = "/admin/merchandising/1/landing"


def _small_shop_with_merchandiser() -> int:
    site_id = small_shop.build()
    with transaction():
        make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
    return site_id


@pytest.fixture
def mia(app: Flask) -> Merchandiser:
    site_id = built(app, _small_shop_with_merchandiser)
    return Merchandiser(PageClient(app, "shop.test").signed_in("mia@shop.test"), site_id)


def rules_of(app: Flask, path: str = "camping/tents") -> list | None:
    with app.app_context():
        return db.session.scalars(select(Node.landing_rules).where(Node.path == path)).one()


def default_of(app: Flask) -> list:
    with app.app_context():
        return db.session.scalars(select(Tree.default_landing_rules)).one()


def set_rules(app: Flask, path: str | None, rules: list | None) -> None:
    with app.app_context(), transaction():
        if path is None:
            db.session.scalars(select(Tree)).one().default_landing_rules = rules or []
        else:
            db.session.scalars(select(Node).where(Node.path == path)).one().landing_rules = rules


def form_of(page: Reading) -> dict[str, str]:
    """What the form of the editor sends as it stands, but for its chosen facets."""
    fields = [field for field in page.all("input", "textarea") if field.get("name", "").startswith(("rules/", "seen"))]
    sent = {field["name"]: field.get("value", "") for field in fields if field.get("type") != "checkbox"}
    ticked = {field["name"]: "on" for field in fields if field.get("type") == "checkbox" and "checked" in field}
    modes = [field["value"] for field in page.all("input") if field.get("name") == "mode" and "checked" in field]
    return sent | ticked | ({"mode": modes[0]} if modes else {})


def values(text: str) -> dict[str, str]:
    """The rows of the pages: the value, and the text of its row."""
    rows = re.findall(r'<li><span class="named">(.*?)</li>', text, re.DOTALL)
    spoken = (re.sub('<span class="unseen">.*?</span>', "", row) for row in rows)
    plain = [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in spoken]
    names = [unescape(re.sub(r"<[^>]+>", "", row.partition("<span")[0])).strip() for row in rows]
    return dict(zip(names, plain, strict=True))


def test_a_category_that_inherits_shows_the_rules_of_its_tree_and_its_pages(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, None, [BRAND])
    page = mia.get(TENTS)
    assert page.texts["h1"] == "Landing pages of Tents"
    assert form_of(page)["mode"] == "inherit"
    text = mia.fragment(f"{TENTS}/pages").text
    assert values(text) == {
        "Fell & Fern": "Fell & Fern 5 62 % Exclude",
        "Moor": "Moor 3 38 % Exclude",
    }
    assert 'href="http://shop.test/c/camping/tents/brand/moor"' in text or "/c/camping/tents/brand/moor" in text


def test_the_three_choices_are_saved(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, None, [BRAND])
    mia.post(TENTS, {"mode": "off", "seen": form_of(mia.get(TENTS))["seen"]})
    assert rules_of(app) == []
    own = {"mode": "own", "rules/0/facetId": "colour", "rules/0/minProducts": "2", "rules/0/pathSegment": " In-Colour "}
    mia.post(TENTS, own | {"seen": form_of(mia.get(TENTS))["seen"]})
    assert rules_of(app) == [{"facetId": "colour", "pathSegment": "in-colour", "minProducts": 2}]
    mia.post(TENTS, form_of(mia.get(TENTS)) | own | {"mode": "inherit"})
    assert rules_of(app) is None
    with app.app_context():
        entries = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
        assert [entry.summary for entry in entries if entry.action == "category.landing_rules"] == [
            "Switched off the landing pages of the category Tents",
            "Changed the landing rules of the category Tents",
            "Took the tree’s landing rules for the category Tents",
        ]


def test_rows_are_added_and_removed_without_saving_and_without_javascript(app: Flask, mia: Merchandiser) -> None:
    page = mia.post(TENTS, {"mode": "inherit", "intent": "add-rule"}, 200)
    assert form_of(page)["mode"] == "own" and "rules/0/minProducts" in form_of(page)
    typed = form_of(page) | {"rules/0/facetId": "manufacturer", "rules/0/minProducts": "many"}
    page = mia.post(TENTS, typed | {"intent": "add-override:0"}, 200)
    assert form_of(page)["rules/0/minProducts"] == "many" and "rules/0/overrides/0/value" in form_of(page)
    page = mia.post(TENTS, form_of(page) | {"intent": "remove-override:0:0"}, 200)
    assert "rules/0/overrides/0/value" not in form_of(page)
    page = mia.post(TENTS, form_of(page) | {"intent": "remove-rule:" + "9" * 5_000}, 200)
    assert "rules/0/minProducts" in form_of(page)
    page = mia.post(TENTS, form_of(page) | {"intent": "remove-rule:0"}, 200)
    assert "rules/0/minProducts" not in form_of(page)
    assert rules_of(app) is None
    for nonsense in ("add-override:9", "remove-override:0", "remove-rule:x", "exclude:", "minimum:", "what"):
        mia.post(TENTS, {"mode": "own", "intent": nonsense}, 200)


def test_rows_that_were_left_empty_are_no_rules(app: Flask, mia: Merchandiser) -> None:
    sent = {
        "mode": "own",
        "rules/0/facetId": "",
        "rules/0/minProducts": "",
        "rules/3/facetId": "manufacturer",
        "rules/3/overrides/1/value": " ",
        "rules/3/overrides/4/value": "Moor",
        "rules/3/overrides/4/heading": "Moor tents",
        "rules/3/overrides/4/excluded": "on",
    }
    mia.post(TENTS, sent | {"seen": form_of(mia.get(TENTS))["seen"]})
    assert rules_of(app) == [BRAND | {"overrides": [{"value": "Moor", "heading": "Moor tents", "excluded": True}]}]
    page = form_of(mia.get(TENTS))
    assert (page["rules/0/overrides/0/value"], page["rules/0/overrides/0/excluded"]) == ("Moor", "on")


def test_what_is_refused_is_named_at_its_field_and_nothing_is_saved(app: Flask, mia: Merchandiser) -> None:
    sent = {
        "mode": "own",
        "rules/0/facetId": "weight",
        "rules/0/minProducts": "0",
        "rules/0/pathSegment": "a b",
        "rules/0/overrides/0/heading": "Of nothing",
        "rules/1/facetId": "manufacturer",
        "rules/1/minProducts": "many",
    }
    page = mia.post(TENTS, sent | {"seen": form_of(mia.get(TENTS))["seen"]}, 400)
    invalid = {field["id"] for field in page.all("input", "select") if field.get("aria-invalid")}
    assert invalid == {
        "f-rules-0-facetId",
        "f-rules-0-minProducts",
        "f-rules-0-pathSegment",
        "f-rules-0-overrides-0-value",
        "f-rules-1-minProducts",
    }
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = {link["href"][1:] for link in page.all("a") if link.get("href", "").startswith("#f-")}
    assert links and links <= ids
    assert form_of(page)["rules/1/minProducts"] == "many" and rules_of(app) is None


def test_refusals_call_fields_as_the_form_does(mia: Merchandiser) -> None:
    sent = {"mode": "own", "rules/0/facetId": "manufacturer", "rules/0/minProducts": "many"}
    sent |= {"rules/0/overrides/0/value": "x\x07", "rules/0/overrides/1/metaTitle": "y"}
    said = mia.swap(TENTS, sent | {"seen": form_of(mia.get(TENTS))["seen"]}).text
    assert "“Minimum” must be a whole number" in said and "“Value” contains characters" in said
    assert "The override has no value." in said and "minProducts”" not in said


def test_an_override_of_a_value_that_no_product_carries_says_so(app: Flask, mia: Merchandiser) -> None:
    overrides = [{"value": "moor", "heading": "Moor tents"}, {"value": "Gone", "excluded": True}]
    set_rules(app, "camping/tents", [BRAND | {"overrides": overrides}])
    shown = mia.get(TENTS)
    assert shown.texts["small"].count("No products with this value") == 1
    text = mia.pages.client.get(TENTS, base_url="http://shop.test").text
    assert re.search(r'class="cut">Gone<[^/]*/span>.*?No products with', text, re.DOTALL)
    assert not re.search(r'class="cut">moor<(?:(?!class="cut").)*No products with', text, re.DOTALL)


@pytest.mark.parametrize(
    "sent",
    [
        {f"rules/{number}/facetId": "manufacturer" for number in range(12)},
        {"rules/0/facetId": "manufacturer"} | {f"rules/0/overrides/{n}/value": f"v{n}" for n in range(201)},
        {"rules/0/facetId": "manufacturer", "rules/0/minProducts": "9" * 200},
        {"rules/0/facetId": "manufacturer", "rules/0/minProducts": "١"},
        {"rules/0/facetId": "x" * 5_000, "rules/0/pathSegment": "<script>"},
        {"rules/0/facetId": "manufacturer", "rules/0/overrides/0/intro": "x\x07"},
        {"rules/999/facetId": "x", "rules/1000/facetId": "y", "rules/x/facetId": "z", "rules/0/what": "1"},
    ],
)
def test_whatever_is_sent_is_refused_in_its_place(app: Flask, mia: Merchandiser, sent: dict[str, str]) -> None:
    mia.post(TENTS, sent | {"mode": "own", "seen": form_of(mia.get(TENTS))["seen"]}, 400)
    mia.post(TENTS, sent | {"mode": "what", "seen": "x" * 400}, 409)
    assert rules_of(app) is None


def test_own_rules_without_a_rule_are_refused_but_a_tree_can_have_none(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, None, [BRAND])
    page = mia.post(TENTS, {"mode": "own", "seen": form_of(mia.get(TENTS))["seen"]}, 400)
    assert "Add a rule" in page.texts["a"] + page.texts["li"]
    mia.post(TREE, {"seen": form_of(mia.get(TREE))["seen"]})
    assert default_of(app) == []


def test_another_segment_says_which_addresses_are_lost(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, None, [BRAND])
    makers = {"rules/0/facetId": "manufacturer", "rules/0/pathSegment": "makers"}
    own = makers | {"mode": "own", "seen": form_of(mia.get(TENTS))["seen"]}
    text = mia.swap(TENTS, own).text
    assert "below /c/camping/tents/brand/ moved to /c/camping/tents/makers/. The old addresses lead there" in text
    mia.post(TREE, makers | {"seen": form_of(mia.get(TREE))["seen"]})
    page = mia.get(TREE).texts["p"]
    assert "The pages below /c/…/brand/ moved to /c/…/makers/." in page and "Saved." in page
    again = form_of(mia.get(TREE)) | makers | {"rules/0/minProducts": "4"}
    assert "from now on" not in mia.swap(TREE, again).text


def test_rules_that_changed_meanwhile_are_not_overwritten_unseen(app: Flask, mia: Merchandiser) -> None:
    seen = form_of(mia.get(TENTS))["seen"]
    set_rules(app, "camping/tents", [])
    own = {"mode": "own", "rules/0/facetId": "manufacturer"}
    page = mia.post(TENTS, own | {"seen": seen}, 409)
    assert rules_of(app) == [] and "Another user changed these landing rules" in page.texts["strong"]
    mia.post(TENTS, own | {"seen": form_of(page)["seen"]})
    assert rules_of(app) == [BRAND]


def test_htmx_swaps_the_rules_while_editing_and_form_and_pages_when_saved(app: Flask, mia: Merchandiser) -> None:
    added = mia.swap(TENTS, form_of(mia.get(TENTS)) | {"intent": "add-rule"})
    assert added.text.lstrip().startswith("<section") and 'id="rules"' in added.text and "<form" not in added.text
    assert "data-focus" in added.text
    seen = re.findall(r'name="seen" value="(\w+)"', added.text)[0]
    saved = mia.swap(TENTS, {"mode": "own", "rules/0/facetId": "manufacturer", "seen": seen})
    assert saved.status_code == 200 and 'hx-target="#landing-pages"' in saved.text and "Saved." in saved.text
    assert list(values(saved.text)) == ["Fell & Fern", "Moor"]
    refused = mia.swap(TENTS, {"mode": "own", "rules/0/facetId": "price", "seen": seen})
    assert refused.status_code == 409 and "<html" not in refused.text


def test_another_threshold_shows_who_would_get_a_page_and_who_would_lose_it(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, "camping/tents", [BRAND | {"minProducts": 5}])
    assert list(values(mia.fragment(f"{TENTS}/pages").text)) == ["Fell & Fern"]
    lower = mia.fragment(f"{TENTS}/pages?least=2").text
    assert values(lower)["Moor"] == "Moor Would get a page 3 38 % Exclude"
    assert 'value="minimum:2"' in lower
    assert "Would lose its page" in values(mia.fragment(f"{TENTS}/pages?least=6").text)["Fell & Fern"]
    assert mia.pages.client.get(f"{TENTS}/pages?least=2", base_url="http://shop.test").location == f"{TENTS}?least=2"
    mia.get(f"{TENTS}?least=2")
    for nonsense in ("x", "-1", "0", "9" * 30):
        mia.get(f"{TENTS}?least={nonsense}")
    page = mia.post(TENTS, form_of(mia.get(TENTS)) | {"rules/0/facetId": "manufacturer", "intent": "minimum:2"}, 200)
    assert form_of(page)["rules/0/minProducts"] == "2"


def test_a_value_is_excluded_and_included_again_beside_its_page(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, None, [BRAND | {"minProducts": 2}])
    page = mia.post(TENTS, form_of(mia.get(TENTS)) | {"intent": "exclude:manufacturer:Moor"}, 200)
    form = form_of(page)
    assert (form["mode"], form["rules/0/minProducts"], form["rules/0/overrides/0/value"]) == ("own", "2", "Moor")
    mia.post(TENTS, form | {"rules/0/facetId": "manufacturer"})
    excluded = [BRAND | {"minProducts": 2, "overrides": [{"value": "Moor", "excluded": True}]}]
    assert (rules_of(app), default_of(app)) == (excluded, [BRAND | {"minProducts": 2}])
    assert values(mia.fragment(f"{TENTS}/pages").text)["Moor"] == "Moor Excluded 3 38 % Include"
    included = {"rules/0/facetId": "manufacturer", "intent": "include:manufacturer:Moor"}
    page = mia.post(TENTS, form_of(mia.get(TENTS)) | included, 200)
    assert "rules/0/overrides/0/value" not in form_of(page)


def test_warnings_and_obstacles_are_named(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, "camping", [BRAND | {"pathSegment": "tents"}])
    taken = mia.fragment("/admin/merchandising/category/1/landing/pages?least=1").text
    assert "so the rule of this segment is skipped" in taken
    assert all("No address" in row for row in values(taken).values()), "none would get a page"
    set_rules(app, None, [BRAND])
    assert "is hidden" in mia.fragment("/admin/merchandising/category/4/landing/pages").text
    with app.app_context(), transaction():
        db.session.get_one(Node, 2).canonical_override = "/c/camping"
    assert "/c/camping." in mia.fragment(f"{TENTS}/pages").text


def test_a_rule_that_its_facet_has_left_behind_is_named(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, "camping/tents", [BRAND, {"facetId": "colour"}, {"facetId": "gone"}])
    with app.app_context(), transaction():
        db.session.get_one(Node, 2).facets = [{"facetId": "colour", "display": "range"}]
    text = mia.fragment(f"{TENTS}/pages").text
    assert text.count("A rule is ignored") == 2 and "shown as a number range" in text and "no attribute “gone”" in text
    assert list(values(text)) == ["Fell & Fern", "Moor"]


def test_a_page_with_nearly_all_products_of_the_category_is_marked(app: Flask, mia: Merchandiser) -> None:
    with app.app_context(), transaction():
        tents = db.session.scalars(select(small_shop.Product).where(small_shop.Product.taxonomy_level_id == "tents"))
        for product in list(tents)[:-1]:
            product.manufacturer = "Moor"
        for number in range(20, 24):
            db.session.add(small_shop.product(mia.site_id, number, "tents", manufacturer="Moor"))
        small_shop.index(mia.site_id)
    set_rules(app, "camping/tents", [BRAND])
    assert "Nearly the same as the category" in values(mia.fragment(f"{TENTS}/pages").text)["Moor"]


def test_near_twins_of_other_facets_are_found_when_the_page_is_there(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, "camping/tents", [BRAND | {"minProducts": 1}, {"facetId": "colour", "minProducts": 1}])
    with app.app_context(), transaction():
        for product in db.session.scalars(select(small_shop.Product)):
            colour = "Navy" if product.manufacturer == "Moor" else "Odd"
            product.taxonomy_attributes = product.taxonomy_attributes | {"colour": colour}
        small_shop.index(mia.site_id)
    assert f'hx-get="{TENTS}/twins"' in mia.fragment(f"{TENTS}/pages").text
    twins = mia.fragment(f"{TENTS}/twins").text
    assert "2 pairs of near-twins" in twins and "Moor Tents" in twins and "100 % of their products" in twins
    set_rules(app, "camping/tents", [BRAND])
    assert "twins" not in mia.fragment(f"{TENTS}/pages").text


def test_while_search_is_away_the_rules_can_be_edited(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, "camping/tents", [BRAND])
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    assert "Search is unavailable, so pages cannot be counted now." in mia.get(TENTS).texts["p"]
    mia.get(TREE)


def test_the_tree_lists_the_categories_that_do_not_take_its_rules(app: Flask, mia: Merchandiser) -> None:
    set_rules(app, "camping/tents", [BRAND])
    set_rules(app, "gifts", [])
    page = mia.get(TREE)
    assert page.texts["h1"] == "Landing pages of Shop"
    assert {"Tents", "Gifts"} <= set(page.texts["a"].split())
    mia.post(TREE, {"rules/0/facetId": "colour", "seen": form_of(page)["seen"]})
    assert default_of(app) == [{"facetId": "colour"}]
    mia.post(TREE, {"rules/0/facetId": "price", "seen": form_of(mia.get(TREE))["seen"]}, 400)


def test_unknown_records_are_not_found(mia: Merchandiser) -> None:
    for path in ("/admin/merchandising/category/99/landing", "/admin/merchandising/99/landing"):
        mia.get(path, 404)


LONG = {"value": "Brand", "heading": "A heading", "metaTitle": "", "metaDescription": "", "intro": "é, " * 300 + "."}


def full_form(*facets: str, texts: dict[str, str]) -> dict[str, str]:
    """A form of rules that have as many overrides as may be."""
    sent = {"mode": "own"}
    for index, facet in enumerate(facets):
        sent[f"rules/{index}/facetId"] = facet
        for number in range(200):
            at = f"rules/{index}/overrides/{number}"
            sent |= {f"{at}/{name}": text for name, text in texts.items()} | {f"{at}/value": f"Brand {number}"}
    return sent


@pytest.mark.parametrize("address", [TENTS, TREE])
def test_long_rules_are_changed_and_saved(app: Flask, mia: Merchandiser, address: str) -> None:
    seen = form_of(mia.get(address))["seen"]
    sent = full_form("manufacturer", texts=LONG) | {"seen": seen}
    assert mia.swap(address, sent | {"intent": "remove-override:0:199"}).status_code == 200
    mia.post(address, sent)
    [rule] = (rules_of(app) or []) if address == TENTS else default_of(app)
    assert len(rule["overrides"]) == 200
    assert rule["overrides"][199] == {"value": "Brand 199", "heading": LONG["heading"], "intro": LONG["intro"]}


def test_a_form_of_many_short_fields_is_saved_in_either_encoding(app: Flask, mia: Merchandiser) -> None:
    short = dict.fromkeys(LONG, "") | {"excluded": "on"}
    for encoding in ("application/x-www-form-urlencoded", "multipart/form-data"):
        set_rules(app, "camping/tents", None)
        sent = full_form("manufacturer", "colour", texts=short) | {"seen": form_of(mia.get(TENTS))["seen"]}
        sent["csrf_token"] = mia.pages.token
        answer = mia.pages.client.post(TENTS, data=sent, base_url=mia.pages.base, content_type=encoding)
        assert answer.status_code == 302
        assert [len(rule["overrides"]) for rule in rules_of(app) or []] == [200, 200]


def test_a_form_that_is_huge_or_has_countless_fields_is_refused_in_words(app: Flask, mia: Merchandiser) -> None:
    huge = mia.swap(TENTS, {"mode": "own", "rules/0/facetId": "x" * 9 * 1024 * 1024})
    assert huge.status_code == 413 and "larger than the 9 MB that this address takes" in huge.text
    form = "application/x-www-form-urlencoded"
    for client in (mia.pages.client, app.test_client()):
        flood = client.post(TENTS, data=b"a&" * 1_000_000, base_url=mia.pages.base, content_type=form)
        assert flood.status_code == 413 and "at most 20,000 fields" in flood.text
        assert "X-Request-ID" in flood.headers, "a refusal is logged"
    assert rules_of(app) is None


def offered(text: str, rule: int = 0) -> list[str]:
    """The values that the fields of a rule offer, each with the products that have it."""
    found = re.search(rf'<datalist id="rules-{rule}-values">(.*?)</datalist>', text, re.DOTALL)
    return re.findall(r"<option value=\"(.*?)\">(.*?)</option>", unescape(found[1])) if found else []


def test_the_values_of_a_filter_are_offered_with_how_many_products_of_the_category_have_them(
    app: Flask, mia: Merchandiser
) -> None:
    set_rules(app, "camping/tents", [BRAND])
    set_rules(app, None, [BRAND])
    here = dict(offered(mia.pages.client.get(TENTS, base_url=mia.pages.base).text))
    everywhere = dict(offered(mia.pages.client.get(TREE, base_url=mia.pages.base).text))
    assert here.keys() == everywhere.keys() == {"Fell & Fern", "Moor"}
    assert here["Moor"] != everywhere["Moor"] and here["Moor"].endswith(" products")


def test_another_filter_offers_its_values_and_one_that_has_a_row_is_offered_no_more(mia: Merchandiser) -> None:
    mia.get(TENTS)
    sent = {"mode": "own", "rules/0/facetId": "colour", "intent": "values"}
    assert "Navy" in dict(offered(mia.swap(TENTS, sent).text))
    assert "Navy" not in dict(offered(mia.swap(TENTS, sent | {"rules/0/overrides/0/value": "navy"}).text))
    assert offered(mia.swap(TENTS, sent | {"rules/0/facetId": "price"}).text) == []


def test_without_search_values_are_typed(app: Flask, mia: Merchandiser) -> None:
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], search_engine=NullEngine())
    set_rules(app, None, [BRAND | {"overrides": [{"value": "Moor", "excluded": True}]}])
    page = mia.get(TREE)
    assert page.value("rules/0/overrides/0/value") == "Moor"
    assert page.all("datalist") and not [one for one in page.all("option") if one["value"] == "Fell & Fern"]
