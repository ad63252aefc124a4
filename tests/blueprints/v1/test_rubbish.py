"""Whatever a body holds, the answer is a problem and never a fault of ours."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from app.domain.sites.accounts import Role
from tests.blueprints.v1.conftest import LOGOUT, REFRESH, ApiClient
from tests.examples import examples

TAXONOMIES = "/v1/admin/taxonomies"
OUTDOOR = f"{TAXONOMIES}/outdoor"
STRUCTURE_OF = f"{OUTDOOR}/structure"
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT)
JSON = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))
LEVEL_NAMES = st.sampled_from(
    ("levelId", "name", "description", "parentLevelId", "displayOrder", "attributes", "children")
)
ATTRIBUTE_NAMES = st.sampled_from(("attributeId", "name", "type", "allowedValues", "validation", "helpText"))
VALIDATION = st.dictionaries(st.sampled_from(("mandatory", "minLength", "maxValue", "pattern")), JSON, max_size=3)
ATTRIBUTE = st.dictionaries(
    ATTRIBUTE_NAMES, JSON | VALIDATION | st.sampled_from(("STRING", "SINGLE_SELECT")), max_size=6
)
LEVEL = st.recursive(
    st.dictionaries(LEVEL_NAMES, JSON | st.lists(ATTRIBUTE, max_size=3), max_size=6),
    lambda inner: st.fixed_dictionaries({"name": TEXT, "children": st.lists(inner, max_size=3)}),
    max_leaves=8,
)
TREE = st.lists(LEVEL, max_size=4) | JSON
NAME = st.text("abcÄ“ -,", min_size=1, max_size=8)
KIND = st.sampled_from(("STRING", "NUMBER", "BOOLEAN", "SINGLE_SELECT"))
NEARLY_AN_ATTRIBUTE = st.fixed_dictionaries(
    {"name": NAME, "type": KIND}, optional={"allowedValues": st.lists(NAME, max_size=3), "validation": VALIDATION}
)
NEARLY_A_LEVEL = st.recursive(
    st.fixed_dictionaries({"name": NAME}, optional={"attributes": st.lists(NEARLY_AN_ATTRIBUTE, max_size=2)}),
    lambda inner: st.fixed_dictionaries({"name": NAME, "children": st.lists(inner, max_size=3)}),
    max_leaves=6,
)
NEARLY_A_TREE = st.lists(NEARLY_A_LEVEL, max_size=3)
STRUCTURE = st.fixed_dictionaries(
    {"name": TEXT | JSON, "rootLevels": TREE},
    optional={"revision": JSON, "description": JSON, "note": JSON, "valueRenames": JSON, "siteId": JSON},
)
FUZZ = settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def admin(signed_in) -> ApiClient:
    program = signed_in(Role.ADMIN)
    assert program.call("POST", TAXONOMIES, {"name": "Outdoor"}).status_code == 201
    return program


@FUZZ
@given(body=STRUCTURE | JSON)
def test_a_structure_of_rubbish_is_refused(admin: ApiClient, body: Any) -> None:
    answer = admin.client.put(
        f"{TAXONOMIES}/outdoor/structure", json=body, headers={"Authorization": f"Bearer {admin.tokens['token']}"}
    )
    assert answer.status_code in (200, 400, 409), answer.text
    assert answer.status_code == 200 or answer.content_type == "application/problem+json"


def test_a_tree_of_rubbish_is_refused_where_it_is_wrong(admin: ApiClient) -> None:
    """With all around it as it should be, so that the tree itself is read; what is taken can be sent back."""
    outcomes: Counter[str] = Counter()

    @FUZZ
    @given(tree=NEARLY_A_TREE | TREE)
    def send(tree: Any) -> None:
        revision = admin.call("GET", OUTDOOR).json["taxonomy"]["revision"]
        answer = admin.call("PUT", STRUCTURE_OF, {"name": "Outdoor", "revision": revision, "rootLevels": tree})
        assert answer.status_code in (200, 400), answer.text
        if answer.status_code == 200:
            outcomes["taken" if answer.json["taxonomy"]["rootLevels"] else "taken without a level"] += 1
            assert _sent_back(admin).status_code == 200
        else:
            pointers = [error["pointer"] for error in answer.json["errors"]]
            assert all(pointer.startswith("#/rootLevels") for pointer in pointers), answer.text
            outcomes.update({"a level" for pointer in pointers if pointer.startswith("#/rootLevels/")})

    send()
    assert outcomes["taken"] and outcomes["a level"], outcomes


def _sent_back(admin: ApiClient) -> TestResponse:
    stored = admin.call("GET", OUTDOOR).json["taxonomy"]
    return admin.call("PUT", STRUCTURE_OF, {name: stored[name] for name in ("name", "revision", "rootLevels")})


@FUZZ
@given(
    body=JSON, path=st.sampled_from((TAXONOMIES, f"{TAXONOMIES}/outdoor/activate", "/v1/auth/login", REFRESH, LOGOUT))
)
def test_any_other_body_of_rubbish_is_refused(admin: ApiClient, body: Any, path: str) -> None:
    answer = admin.client.post(path, json=body, headers={"Authorization": f"Bearer {admin.tokens['token']}"})
    assert answer.status_code in (200, 201, 204, 400, 401), answer.text


@FUZZ
@given(name=st.text(max_size=40))
def test_an_address_of_rubbish_is_not_found(admin: ApiClient, name: str) -> None:
    answer = admin.client.get(
        f"{TAXONOMIES}/{name}", headers={"Authorization": f"Bearer {admin.tokens['token']}"}, follow_redirects=True
    )
    assert answer.status_code in (200, 400, 404), answer.text


def test_an_object_of_very_many_fields_is_refused_before_each_is_looked_at(admin: ApiClient) -> None:
    """A body of 8 MB has room for hundreds of thousands."""
    many = {f"field {number}": 1 for number in range(100_000)}
    tree = {"name": "Outdoor", "rootLevels": []}
    for body, pointer in (
        (tree | many, "#"),
        (tree | {"valueRenames": [many]}, "#/valueRenames/0"),
    ):
        answer = admin.call("PUT", STRUCTURE_OF, body)
        problems = [(error["code"], error["pointer"]) for error in answer.json["errors"]]
        assert (answer.status_code, problems) == (400, [("too_many_fields", pointer)])


def test_a_revision_is_written_as_a_whole_number(admin: ApiClient) -> None:
    answer = admin.call("PUT", STRUCTURE_OF, {"name": "Outdoor", "rootLevels": [], "revision": 1.0})
    assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (400, "#/revision")
