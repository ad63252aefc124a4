"""The tool of redirects."""

from __future__ import annotations

from flask import Flask
from sqlalchemy import select

from app.domain.seo.models import Redirect
from app.domain.sites.models import AuditEntry
from app.extensions import db
from tests.mcp.agent import Agent

TOOL = "manageRedirects"


def stored(app: Flask) -> dict[str, str]:
    with app.app_context():
        return {row.old_path: row.new_path for row in db.session.scalars(select(Redirect))}


def test_a_redirect_is_added_listed_edited_and_deleted(app: Flask, agent: Agent) -> None:
    (added,) = agent.call(TOOL, action="add", oldAddress="/Old.html", newAddress="/p/mug?x=1").body["redirects"]
    assert (added["oldAddress"], added["newAddress"], added["source"]) == ("/old.html", "/p/mug?x=1", "agent")
    listed = agent.call(TOOL, action="list", words="OLD").body
    assert [one["id"] for one in listed["redirects"]] == [added["id"]]
    assert agent.call(TOOL, action="list", source="product").body["paging"]["totalItems"] == 0
    known = {"id": added["id"], "revision": added["revision"]}
    edited = agent.call(TOOL, action="edit", **known, oldAddress="/old.html", newAddress="/p/cup").body
    assert (edited["changed"], edited["redirects"][0]["newAddress"]) == (True, "/p/cup")
    assert agent.call(TOOL, action="delete", **known).codes == ["stale_revision"]
    gone = agent.call(TOOL, action="delete", id=added["id"], revision=edited["redirects"][0]["revision"]).body
    assert (gone["deleted"], stored(app)) == ("/old.html", {})
    with app.app_context():
        actions = list(db.session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))
    assert actions == ["redirect.create", "redirect.save", "redirect.delete"]


def test_a_dry_run_says_where_a_redirect_would_end_and_stores_nothing(app: Flask, agent: Agent) -> None:
    agent.call(TOOL, action="add", oldAddress="/b", newAddress="/p/mug")
    tried = agent.call(TOOL, action="add", oldAddress="/a", newAddress="/b", dryRun=True).body
    assert (tried["redirects"][0]["id"], tried["redirects"][0]["newAddress"]) == (None, "/p/mug")
    assert stored(app) == {"/b": "/p/mug"}


def test_what_cannot_be_is_refused_at_its_place(agent: Agent, mug: int) -> None:
    refused = agent.call(TOOL, action="add", oldAddress="/admin", newAddress="//evil.test")
    assert [(one["code"], one["pointer"]) for one in refused.body["errors"]] == [
        ("reserved_path", "#/oldAddress"),
        ("invalid_path", "#/newAddress"),
    ]
    name = agent.call(TOOL, action="add", oldAddress="/a", newAddress="/a")
    assert name.codes == ["redirect_loop"]
