"""Whatever a body holds, the answer is a problem and never a fault of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.sites.roles import Role
from tests.blueprints.v1.conftest import LOGOUT, REFRESH, ApiClient

TAXONOMIES = "/v1/admin/taxonomies"
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
STRUCTURE = st.fixed_dictionaries(
    {"name": TEXT | JSON, "rootLevels": TREE},
    optional={"revision": JSON, "description": JSON, "note": JSON, "valueRenames": JSON, "siteId": JSON},
)
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


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
