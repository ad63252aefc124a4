"""The tool of search terms."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.sites.models import AuditEntry
from app.extensions import db
from tests.mcp.agent import Agent

TOOL = "manageProductSearchTerms"
pytestmark = pytest.mark.usefixtures("mug")


def stored(app: Flask) -> list[str]:
    with app.app_context():
        return db.session.scalars(select(Product.search_terms).where(Product.sku == "MUG-01")).one()


def origins(app: Flask) -> list[str | None]:
    with app.app_context():
        return list(db.session.scalars(select(AuditEntry.origin).where(AuditEntry.subject_type == "product")))


def test_terms_are_read_replaced_added_and_cleared(app: Flask, agent: Agent, mug: int) -> None:
    read = agent.call(TOOL, action="get", product="MUG-01")
    assert not read.is_error
    assert read.body == {
        "productId": str(mug),
        "sku": "MUG-01",
        "name": "Stone mug",
        "revision": 1,
        "before": ["beaker"],
        "terms": ["beaker"],
        "changed": False,
        "dryRun": False,
    }
    assert agent.call(TOOL, action="add", product="mug-01", terms=["Cup ", "BEAKER"]).body["terms"] == ["beaker", "Cup"]
    assert agent.call(TOOL, action="replace", product=str(mug), terms=["tea cup"]).body["before"] == ["beaker", "Cup"]
    assert stored(app) == ["tea cup"]
    assert agent.call(TOOL, action="clear", product="MUG-01").body["terms"] == []
    assert stored(app) == []
    assert origins(app) == ["MCP"] * 3


@pytest.mark.parametrize("action", [{"action": "clear"}, {"action": "add", "terms": ["cup"]}])
def test_a_change_is_made_only_at_the_revision_that_is_given(app: Flask, agent: Agent, action: dict[str, Any]) -> None:
    replaced = agent.call(TOOL, action="replace", product="MUG-01", terms=["tea cup"], revision=1)
    assert (replaced.body["terms"], replaced.body["revision"]) == (["tea cup"], 2)
    stale = agent.call(TOOL, product="MUG-01", revision=1, **action)
    assert (stale.codes, stale.pointers, stale.body["currentRevision"]) == (["stale_revision"], ["#/revision"], 2)
    assert "send your change with revision 2" in stale.text and stored(app) == ["tea cup"]
    assert not agent.call(TOOL, product="MUG-01", revision=2, **action).is_error


def test_a_dry_run_says_what_would_change_and_changes_nothing(app: Flask, agent: Agent) -> None:
    result = agent.call(TOOL, action="replace", product="MUG-01", terms=["cup"], dryRun=True)
    assert (result.body["terms"], result.body["changed"], result.body["dryRun"]) == (["cup"], True, True)
    assert result.body["revision"] == 1
    assert stored(app) == ["beaker"]
    assert origins(app) == []


def test_every_problem_is_named_at_once_and_nothing_is_changed(app: Flask, agent: Agent) -> None:
    result = agent.call(TOOL, action="replace", product="MUG-01", terms=["a,b", "x" * 51, "fine", "tea\ncup"])
    assert result.is_error
    assert result.codes == ["comma_in_term", "term_too_long", "line_break_in_term"]
    assert result.pointers == ["#/terms/0", "#/terms/1", "#/terms/3"]
    assert "“a,b” contains a comma." in result.text
    assert stored(app) == ["beaker"]
