"""Taxonomies as JSON."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.domain.catalogue.models import Product
from app.domain.merchandising.models import Node, Tree
from app.domain.sites.accounts import Role
from app.domain.sites.models import AuditEntry, Site
from app.domain.taxonomy.models import Taxonomy, TaxonomyRevision
from app.domain.taxonomy.products.classification import classify
from app.domain.taxonomy.taxonomies import active_tree
from app.extensions import db
from app.transaction import transaction
from tests.domain.taxonomy.trees import choice, level, text
from tests.factories import WHEN, make_product, make_site, make_taxonomy

BASE = "/admin/catalogue/taxonomy"
KINDS = f"{BASE}/kinds"
TREE = [level("outdoor", level("tents", attributes=[choice("colour", "Moss", "Clay")]), level("boots"))]


@pytest.fixture
def shop(app: Flask, site_id: int) -> int:
    """Two products, one of them a mossy tent."""
    app.config["WTF_CSRF_ENABLED"] = False
    with app.app_context(), transaction():
        site = db.session.get(Site, site_id)
        make_taxonomy(site, TREE, active=True, id="kinds")
        make_taxonomy(site, [level("garden")], id="garden", name="Garden")
        classify(make_product(site), active_tree(site_id), "tents", {"colour": "Moss"})
        classify(make_product(site), active_tree(site_id), "outdoor", {})
        make_taxonomy(make_site("other.localhost"), TREE, active=True, id="theirs")
    return site_id


@pytest.fixture
def client(shop: int, signed_in) -> FlaskClient:
    return signed_in().client


@pytest.fixture
def admin(shop: int, signed_in) -> FlaskClient:
    return signed_in(Role.ADMIN).client


def save(client: FlaskClient, levels: Any, revision: Any = 1, path: str = KINDS, **more: Any) -> TestResponse:
    body = {"revision": revision, "name": "Kinds", "description": "", "rootLevels": levels} | more
    return client.put(f"{path}/structure", json=body)


def pointers(answer: TestResponse) -> list[str]:
    return [error["pointer"] for error in answer.json["errors"]]


def test_data_holds_tree_revision_and_counts(client: FlaskClient) -> None:
    answer = client.get(f"{KINDS}/data")
    assert answer.headers["Cache-Control"] == "no-store"
    taxonomy = answer.json["taxonomy"]
    names = ["id", "name", "description", "catalogueId", "revision", "rootLevels", "createdAt", "updatedAt"]
    assert list(taxonomy) == names
    assert (taxonomy["id"], taxonomy["revision"], taxonomy["createdAt"]) == ("kinds", 1, "2026-11-01T00:00:00Z")
    tents = taxonomy["rootLevels"][0]["children"][0]
    assert set(tents) == {
        "levelId", "name", "description", "parentLevelId", "displayOrder", "attributes", "children",
    }  # fmt: skip
    assert (tents["parentLevelId"], tents["displayOrder"]) == ("outdoor", 0)
    assert answer.json["active"] is True
    assert answer.json["counts"] == {
        "outdoor": {"direct": 1, "rolledUp": 2},
        "tents": {"direct": 1, "rolledUp": 1},
        "boots": {"direct": 0, "rolledUp": 0},
    }


def test_another_than_the_active_one_has_no_counts(client: FlaskClient) -> None:
    answer = client.get(f"{BASE}/garden/data")
    assert (answer.json["active"], answer.json["counts"]) == (False, {})


def test_a_save_answers_with_what_was_stored_and_the_ids_of_what_is_new(client: FlaskClient) -> None:
    new = level("new-1", name=" Camp stoves ", attributes=[text("new-2", name="Fuel")])
    answer = save(client, [*TREE, new], description=" All kinds ", note="Stoves")
    assert answer.status_code == 200
    assert answer.json["revision"] == answer.json["taxonomy"]["revision"] == 2
    assert answer.json["ids"] == {"new-1": "camp-stoves", "new-2": "fuel"}
    assert answer.json["taxonomy"]["description"] == "All kinds"
    assert answer.json["taxonomy"]["rootLevels"][1]["name"] == "Camp stoves"
    assert answer.json["taxonomy"] == client.get(f"{KINDS}/data").json["taxonomy"]
    again = save(client, answer.json["taxonomy"]["rootLevels"], revision=2)
    assert again.json["taxonomy"]["rootLevels"] == answer.json["taxonomy"]["rootLevels"]


def test_a_description_that_is_left_out_stays(client: FlaskClient) -> None:
    save(client, TREE, description="All kinds")
    body = {"revision": 2, "name": "Kinds", "rootLevels": TREE}
    assert client.put(f"{KINDS}/structure", json=body).json["taxonomy"]["description"] == "All kinds"


def test_a_stale_save_is_409_with_the_present_revision(client: FlaskClient) -> None:
    save(client, TREE)
    answer = save(client, [])
    assert (answer.status_code, answer.content_type) == (409, "application/problem+json")
    assert (answer.json["code"], answer.json["currentRevision"]) == ("stale_revision", 2)
    body = {"name": "Kinds", "rootLevels": []}
    assert client.put(f"{KINDS}/structure", json=body).status_code == 409, "left out counts as 0"
    assert len(client.get(f"{KINDS}/data").json["taxonomy"]["rootLevels"]) == 1


def test_all_problems_are_told_with_their_rows(client: FlaskClient) -> None:
    wrong = [
        level("new-1", name=""),
        level("tents", attributes=[choice("size"), text("size")]),
        level("tents", name="Tents"),
    ]
    answer = save(client, wrong)
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json")
    found = {(e["code"], e["pointer"], e.get("levelId"), e.get("attributeId")) for e in answer.json["errors"]}
    assert ("name_missing", "#/rootLevels/0/name", "new-1", None) in found
    assert ("values_missing", "#/rootLevels/1/attributes/0/allowedValues", "tents", "size") in found
    assert ("duplicate_attribute_id", "#/rootLevels/1/attributes/1/attributeId", "tents", "size") in found
    assert {"duplicate_name", "duplicate_id"} <= {code for code, *_ in found}
    assert client.get(f"{KINDS}/data").json["taxonomy"]["revision"] == 1


@pytest.mark.parametrize(
    "field",
    [
        "siteId", "id", "catalogueId", "createdAt", "updatedAt", "root_levels", "active", "completenessScore",
        "archivedTaxonomyData", "maxTransactionAmount", "site_id", "catalogue_id",
    ],
)  # fmt: skip
def test_fields_that_nobody_asked_for_are_refused_by_name(client: FlaskClient, field: str) -> None:
    for answer in (
        save(client, TREE, **{field: 7}),
        client.post(f"{KINDS}/impact", json={"rootLevels": TREE, field: 7}),
        client.post(f"{BASE}/create", json={"name": "X", field: 7}),
        client.post(f"{KINDS}/duplicate", json={"name": "X", field: 7}),
    ):
        assert (answer.status_code, pointers(answer)) == (400, [f"#/{field}"])


@pytest.mark.parametrize("field", ["revision", "siteId", "completenessScore", "products", "active"])
def test_levels_and_attributes_take_no_fields_of_their_own(client: FlaskClient, field: str) -> None:
    extra = [level("tents", attributes=[text("fabric", **{field: 1}, validation={field: 1})], **{field: 1})]
    for answer in (save(client, extra), client.post(f"{KINDS}/impact", json={"rootLevels": extra})):
        assert answer.status_code == 400
        assert set(pointers(answer)) == {
            f"#/rootLevels/0/{field}",
            f"#/rootLevels/0/attributes/0/{field}",
            f"#/rootLevels/0/attributes/0/validation/{field}",
        }
    assert client.get(f"{KINDS}/data").json["taxonomy"]["revision"] == 1


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"revision": "1"}, "#/revision"),
        ({"revision": True}, "#/revision"),
        ({"revision": 1.5}, "#/revision"),
        ({"name": None}, "#/name"),
        ({"name": ["Kinds"]}, "#/name"),
        ({"rootLevels": {}}, "#/rootLevels"),
        ({"rootLevels": None}, "#/rootLevels"),
        ({"note": 7}, "#/note"),
        ({"note": "x" * 501}, "#/note"),
        ({"name": "x" * 201}, "#/name"),
        ({"description": "x" * 5_001}, "#/description"),
        ({"rootLevels": [7]}, "#/rootLevels/0"),
        ({"valueRenames": [{"levelId": "tents"}]}, "#/valueRenames/0/attributeId"),
        ({"valueRenames": [7]}, "#/valueRenames/0"),
    ],
)
def test_fields_of_another_type_or_length_are_refused(client: FlaskClient, more: Any, pointer: str) -> None:
    answer = save(client, **({"levels": TREE} | more)) if "rootLevels" not in more else save(client, TREE, **more)
    assert answer.status_code == 400
    assert pointer in pointers(answer)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b'{"rootLevels": NaN}', 400),
        (b'{"rootLevels": [], "rootLevels": []}', 400),
        (b'{"rootLevels": ["\\ud800"]}', 400),
        (b'{"rootLevels": ["\\u0000"]}', 400),
        (b'{"rootLevels": [1e999]}', 400),
        (b"\xff\xfe", 400),
        (b'{"rootLevels": ' + b"[" * 65 + b"]" * 65 + b"}", 400),
        (b"[" * 1_000_000, 400),
        (b'{"rootLevels": [' + b" " * (8 * 1024 * 1024) + b"]}", 413),
        (b"[" * 9_000_000, 413),
    ],
)
def test_json_that_is_unsound_or_too_large_is_refused(client: FlaskClient, body: bytes, status: int) -> None:
    for method, path in (("PUT", f"{KINDS}/structure"), ("POST", f"{KINDS}/impact")):
        answer = client.open(path, method=method, data=body, content_type="application/json")
        assert (answer.status_code, answer.content_type) == (status, "application/problem+json")


@pytest.mark.parametrize("path", [f"{BASE}/create", f"{KINDS}/duplicate", f"{BASE}/activate/garden"])
def test_other_bodies_are_small(admin: FlaskClient, path: str) -> None:
    answer = admin.post(path, data=b'{"name": "' + b"x" * 300_000 + b'"}', content_type="application/json")
    assert answer.status_code == 413


def test_nesting_beyond_eight_levels_and_trees_that_are_too_large_are_told(client: FlaskClient) -> None:
    deep = level("level-9")
    for depth in range(8, 0, -1):
        deep = level(f"level-{depth}", deep)
    answer = save(client, [deep])
    assert [(e["code"], e["levelId"]) for e in answer.json["errors"]] == [("too_deep", "level-9")]
    many = [level(f"level-{place}") for place in range(2_001)]
    answer = save(client, many)
    assert [(e["code"], e["pointer"]) for e in answer.json["errors"]] == [("too_many_levels", "#/rootLevels")]
    assert save(client, many[1:]).status_code == 200


def test_of_fifty_saves_at_once_one_is_200_and_the_others_409(app: Flask, client: FlaskClient, signed_in) -> None:
    answers: list[tuple[int, int]] = []
    start = threading.Barrier(50)
    cookie = client.get_cookie(app.config["SESSION_COOKIE_NAME"])

    def save_mine(number: int) -> None:
        own = app.test_client()
        own.set_cookie(cookie.key, cookie.value)
        start.wait()
        answer = save(own, [level(f"editor-{number}")])
        answers.append((answer.status_code, answer.json.get("currentRevision") or answer.json["revision"]))

    threads = [threading.Thread(target=save_mine, args=(number,)) for number in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(answers) == {(200, 2): 1, (409, 2): 49}
    with app.app_context():
        assert db.session.scalar(select(Taxonomy.revision).where(Taxonomy.id == "kinds")) == 2
        assert db.session.scalar(select(func.count()).select_from(TaxonomyRevision)) == 2
        saves = select(func.count()).select_from(AuditEntry).where(AuditEntry.action == "taxonomy.save")
        assert db.session.scalar(saves) == 1


def test_impact_tells_what_a_tree_would_leave_behind(client: FlaskClient) -> None:
    proposed = [level("outdoor"), level("tents", attributes=[choice("colour", "Clay")])]
    answer = client.post(f"{KINDS}/impact", json={"rootLevels": proposed})
    assert answer.status_code == 200
    assert answer.json == {
        "levelsRemoved": [{"levelId": "boots", "name": "Boots", "products": 0}],
        "levelsMoved": [{"levelId": "tents", "name": "Tents", "products": 1}],
        "attributesRemoved": [],
        "valuesRemoved": [{"attributeId": "colour", "value": "Moss", "products": 1}],
        "valuesTruncated": False,
        "valuesRenamed": [],
        "attributesLost": [],
        "valuesUnfit": [],
        "attributesRequired": [],
        "shoppers": {"categories": [], "landingPages": [], "rules": [], "goldenSearches": [], "truncated": False},
    }
    assert client.get(f"{KINDS}/data").json["taxonomy"]["revision"] == 1, "a preview writes nothing"


def test_impact_names_the_categories_that_shoppers_lose(app: Flask, client: FlaskClient, shop: int) -> None:
    with app.app_context(), transaction():
        tree = Tree(site_id=shop, name="Shop", primary=True, updated_at=WHEN)
        db.session.add(tree)
        db.session.flush()
        fields = {"name": "Tents", "slug": "tents", "path": "tents", "source_levels": ["tents"], "updated_at": WHEN}
        db.session.add(Node(site_id=shop, tree_id=tree.id, **fields))
    answer = client.post(f"{KINDS}/impact", json={"rootLevels": [level("outdoor", level("boots"))]})
    (category,) = answer.json["shoppers"]["categories"]
    assert (category["name"], category["path"], category["emptied"]) == ("Tents", "/c/tents", True)
    assert (category["productsBefore"], category["productsAfter"]) == (1, 0)


def test_impact_counts_renames(client: FlaskClient) -> None:
    proposed = [level("outdoor", level("tents", attributes=[choice("colour", "Fern", "Clay")]), level("boots"))]
    renames = [{"levelId": "tents", "attributeId": "colour", "value": "Moss", "renamed": "Fern"}]
    body = {"rootLevels": proposed, "valueRenames": renames}
    answer = client.post(f"{KINDS}/impact", json=body)
    assert answer.json["valuesRenamed"] == [renames[0] | {"products": 1}]
    assert answer.json["valuesRemoved"] == []
    assert save(client, proposed, valueRenames=renames).status_code == 200


def test_several_values_become_one_that_stays(client: FlaskClient) -> None:
    proposed = [level("outdoor", level("tents", attributes=[choice("colour", "Clay")]), level("boots"))]
    merges = [{"levelId": "tents", "attributeId": "colour", "value": "Moss", "renamed": "Clay"}]
    impact = client.post(f"{KINDS}/impact", json={"rootLevels": proposed, "valueRenames": merges}).json
    assert (impact["valuesRenamed"], impact["valuesRemoved"]) == ([merges[0] | {"products": 1}], [])
    assert save(client, proposed, valueRenames=merges).status_code == 200


def test_impact_of_a_tree_that_cannot_be_saved_is_its_problems(client: FlaskClient) -> None:
    answer = client.post(f"{KINDS}/impact", json={"rootLevels": [level("tents", name="")]})
    assert (answer.status_code, pointers(answer)) == (400, ["#/rootLevels/0/name"])


def test_create_blank_or_sample(client: FlaskClient) -> None:
    blank = client.post(f"{BASE}/create", json={"name": " Tools ", "description": "By hand"})
    assert blank.status_code == 201
    taxonomy = blank.json["taxonomy"]
    assert (taxonomy["name"], taxonomy["revision"], taxonomy["rootLevels"]) == ("Tools", 1, [])
    assert blank.json["id"] == taxonomy["id"]
    assert client.get(blank.location).json["taxonomy"] == taxonomy
    sample = client.post(f"{BASE}/create", json={"name": "Sample", "sample": True})
    assert sample.json["taxonomy"]["rootLevels"]
    assert pointers(client.post(f"{BASE}/create", json={"sample": "yes"})) == ["#/name", "#/sample"]
    assert pointers(client.post(f"{BASE}/create", json={"name": "  "})) == ["#/name"]


def test_duplicate_is_a_copy_at_revision_one(client: FlaskClient) -> None:
    save(client, TREE)
    answer = client.post(f"{KINDS}/duplicate", json={"name": "Kinds, again"})
    assert answer.status_code == 201
    copied, source = answer.json["taxonomy"], client.get(f"{KINDS}/data").json["taxonomy"]
    assert (copied["name"], copied["revision"]) == ("Kinds, again", 1)
    assert copied["rootLevels"] == source["rootLevels"]
    assert client.get(answer.location).json["active"] is False


def test_delete_is_an_admins_and_not_for_the_active_one(client: FlaskClient, signed_in) -> None:
    assert client.delete(f"{BASE}/garden").status_code == 403
    admin = signed_in(Role.ADMIN).client
    assert admin.delete(KINDS).status_code == 409
    assert admin.delete(f"{BASE}/garden").status_code == 204
    assert admin.get(f"{BASE}/garden/data").status_code == 404
    assert admin.delete(f"{BASE}/garden").status_code == 404


def test_activation_with_its_preview(admin: FlaskClient, app: Flask) -> None:
    preview = admin.get(f"{BASE}/garden/activation-impact")
    assert preview.json == {"switches": True, "from": {"id": "kinds", "name": "Kinds"}, "productsCleared": 2}
    same = admin.get(f"{KINDS}/activation-impact")
    assert same.json == {"switches": False, "from": None, "productsCleared": 0}
    for wrong in ({}, {"confirmName": "garden"}, {"confirmName": "Garden "}, {"confirmName": ["Garden"]}):
        answer = admin.post(f"{BASE}/activate/garden", json=wrong)
        assert (answer.status_code, pointers(answer)) == (400, ["#/confirmName"])
    assert pointers(admin.post(f"{BASE}/activate/garden", json={"force": True})) == ["#/force"]
    answer = admin.post(f"{BASE}/activate/garden", json={"confirmName": "Garden"})
    assert (answer.status_code, answer.json) == (200, {"id": "garden", "active": True, "switched": True})
    with app.app_context():
        assert db.session.scalars(select(Product.taxonomy_level_id).distinct()).all() == [None]


def test_activating_what_is_active_needs_no_body(admin: FlaskClient) -> None:
    answer = admin.post(f"{BASE}/activate/kinds")
    assert (answer.status_code, answer.json["switched"]) == (200, False)


def test_activation_is_an_admins_and_needs_the_plan(client: FlaskClient, app: Flask, shop: int, signed_in) -> None:
    assert client.post(f"{BASE}/activate/garden", json={"confirmName": "Garden"}).status_code == 403
    with app.app_context(), transaction():
        db.session.get(Site, shop).capabilities = []
    admin = signed_in(Role.ADMIN).client
    assert admin.post(f"{BASE}/activate/garden", json={"confirmName": "Garden"}).status_code == 403
    assert admin.get(f"{KINDS}/data").json["active"] is True, "what is configured, whatever the plan"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "{}/data"), ("PUT", "{}/structure"), ("POST", "{}/impact"), ("POST", "{}/duplicate"),
        ("GET", "{}/activation-impact"), ("DELETE", "{}"),
    ],
)  # fmt: skip
def test_another_sites_taxonomy_is_not_found(admin: FlaskClient, method: str, path: str) -> None:
    for taxonomy_id in ("theirs", "nothing", "%00", "x" * 300):
        body = {"name": "Kinds", "revision": 1, "rootLevels": []}
        answer = admin.open(f"{BASE}/{path.format(taxonomy_id)}", method=method, json=body)
        assert answer.status_code == (400 if taxonomy_id == "%00" else 404)
        assert answer.content_type == "application/problem+json"
    body = {"confirmName": "Kinds"}
    assert admin.post(f"{BASE}/activate/theirs", json=body).status_code == 404


def test_refusals_are_json_whoever_asks(app: Flask, client: FlaskClient) -> None:
    """A script that says nothing of what it takes gets no page."""
    assert app.test_client().get(f"{KINDS}/data").status_code == 401
    for answer in (app.test_client().get(f"{KINDS}/data"), client.get(f"{BASE}/nothing/data"), client.delete(KINDS)):
        assert answer.content_type == "application/problem+json"
        assert json.loads(answer.text)["code"] in ("not_signed_in", "not_found", "forbidden")


def test_a_change_needs_the_token_of_its_session(app: Flask, shop: int, signed_in) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    browser = signed_in()
    refused = save(browser.client, TREE)
    assert (refused.status_code, refused.json["code"]) == (403, "csrf")
    body = {"revision": 1, "name": "Kinds", "rootLevels": TREE}
    token = {"X-CSRFToken": browser.token}
    assert browser.client.put(f"{KINDS}/structure", json=body, headers=token).status_code == 200


def test_without_a_session_a_change_asks_to_sign_in_and_not_for_a_token(app: Flask, shop: int) -> None:
    app.config["WTF_CSRF_ENABLED"] = True
    stranger = app.test_client()
    for method, path in (("PUT", f"{KINDS}/structure"), ("POST", f"{BASE}/create"), ("DELETE", KINDS)):
        answer = stranger.open(path, method=method, json={"name": "Kinds"})
        assert (answer.status_code, answer.json["code"]) == (401, "not_signed_in")
    posted = stranger.post(f"{KINDS}/draft", data={"edit": "level.add"}, headers={"HX-Request": "true"})
    assert posted.headers["HX-Redirect"] == "/admin/login"
    assert stranger.post("/admin/login", data={"email": "a@b.test", "password": "x"}).status_code == 403
