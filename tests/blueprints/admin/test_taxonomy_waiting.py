"""Looking at a tree keeps nobody from writing: whoever writes elsewhere does not matter before the tree is right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from app.domain.sites.models import Site
from app.domain.taxonomy.models import Taxonomy, TaxonomyDraft
from app.extensions import db
from app.transaction import WRITING, transaction
from tests.domain.taxonomy.trees import level
from tests.factories import make_taxonomy

KINDS = "/admin/catalogue/taxonomy/kinds"
WRONG = {"revision": 1, "name": "Kinds", "rootLevels": [level("", name="")]}


@pytest.fixture
def client(app: Flask, site_id: int, signed_in) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    with app.app_context(), transaction():
        make_taxonomy(db.session.get(Site, site_id), [level("tents")], active=True, id="kinds")
    client: FlaskClient = signed_in().client
    return client


@pytest.fixture
def another_user_writes(app: Flask, client: FlaskClient) -> Iterator[None]:
    """The database (or, where that is possible, the taxonomy alone) is locked by a transaction that does not end."""
    with app.app_context(), db.engine.connect().execution_options(**{WRITING: True}) as other:
        other.execute(update(Taxonomy).values(name=Taxonomy.name))
        yield
        other.rollback()


@pytest.mark.usefixtures("another_user_writes")
def test_a_tree_that_cannot_be_saved_is_answered_while_others_write(client: FlaskClient) -> None:
    answer = client.put(f"{KINDS}/structure", json=WRONG)
    assert (answer.status_code, answer.json["errors"][0]["code"]) == (400, "name_missing")


def test_a_draft_that_cannot_be_saved_is_answered_while_others_write(
    app: Flask, client: FlaskClient, request: pytest.FixtureRequest
) -> None:
    edit = {"edit": "level.rename", "level": "tents", "name": ""}
    assert client.post(f"{KINDS}/draft", data=edit).status_code in (200, 302)
    with app.app_context():
        draft = db.session.scalars(select(TaxonomyDraft)).one()
        token = f"{draft.base_revision}.{draft.version}"
    request.getfixturevalue("another_user_writes")
    answer = client.post(f"{KINDS}/review", data={"version": token})
    assert answer.status_code == 400
    assert "has no name" in answer.text
