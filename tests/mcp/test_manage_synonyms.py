"""The tool of synonyms."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance.models import Synonym
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site, make_synonym
from tests.fakes.queue import RecordingQueue
from tests.mcp.agent import Agent
from tests.mcp.indexed import add_tents

TOOL = "manageSynonyms"
PAIR = {"type": "EQUIVALENT", "synonyms": ["parasol", "umbrella"]}


def stored(app: Flask) -> list[tuple[list[str], str]]:
    with app.app_context():
        return [(row.words, row.status) for row in db.session.scalars(select(Synonym).order_by(Synonym.id))]


@pytest.fixture
def suggestion(app: Flask, site_id: int) -> dict[str, Any]:
    with app.app_context(), transaction():
        made = make_synonym(
            db.session.get_one(Site, site_id), "parasol", "umbrella", status="SUGGESTED", source="MINED"
        )
        return {"id": str(made.id), "revision": made.revision}


def test_a_synonym_is_added_listed_edited_and_removed(app: Flask, agent: Agent) -> None:
    (added,) = agent.call(TOOL, action="add", **PAIR).body["synonyms"]
    assert (added["status"], added["source"], added["revision"]) == ("LIVE", "MANUAL", 1)
    listed = agent.call(TOOL, action="list", words="PARA").body
    assert [one["id"] for one in listed["synonyms"]] == [added["id"]]
    assert listed["synonyms"][0]["synced"]
    assert agent.call(TOOL, action="list", words="tent").body["paging"]["totalItems"] == 0
    known = {"id": added["id"], "revision": 1}
    edited = agent.call(TOOL, action="edit", **known, type="ONE_WAY", root="brolly", synonyms=["umbrella"])
    assert (edited.body["changed"], edited.body["synonyms"][0]["root"]) == (True, "brolly")
    same = agent.call(
        TOOL, action="edit", id=added["id"], revision=2, type="ONE_WAY", root="brolly", synonyms=["umbrella"]
    )
    assert (same.body["changed"], same.body["undo"]) == (False, None)
    assert agent.call(TOOL, action="remove", **known).codes == ["stale_revision"]
    tried = agent.call(TOOL, action="remove", id=added["id"], revision=2, dryRun=True).body
    assert (tried["removed"], tried["undo"]) == ("brolly → umbrella", None)
    gone = agent.call(TOOL, action="remove", id=added["id"], revision=2).body
    assert (gone["removed"], gone["synonyms"]) == ("brolly → umbrella", [])
    assert gone["undo"].startswith("/admin/search/activity/")
    assert stored(app) == []
    with app.app_context():
        entries = db.session.execute(select(AuditEntry.action, AuditEntry.origin)).all()
    assert [tuple(row) for row in entries] == [(f"synonym.{act}", "MCP") for act in ("add", "change", "delete")]


def test_suggestions_are_accepted_as_they_are_edited_or_rejected(
    app: Flask, agent: Agent, suggestion: dict[str, Any]
) -> None:
    (listed,) = agent.call(TOOL, action="list", status="SUGGESTED").body["synonyms"]
    assert (listed["id"], listed["source"]) == (suggestion["id"], "MINED")
    assert agent.call(TOOL, action="list").body["synonyms"] == []
    (rejected,) = agent.call(TOOL, action="reject", **suggestion).body["synonyms"]
    assert rejected["status"] == "REJECTED"
    again = {"id": suggestion["id"], "revision": rejected["revision"]}
    assert agent.call(TOOL, action="reject", **again).is_error
    agent.call(TOOL, action="accept", **again, type="EQUIVALENT", synonyms=["parasol", "sunshade"])
    assert stored(app) == [(["parasol", "sunshade"], "LIVE")]


def test_an_edited_suggestion_keeps_what_was_not_sent(app: Flask, agent: Agent, site_id: int) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        suggested = make_synonym(site, "parasol", root="shade", status="SUGGESTED")
        edited = {"id": str(suggested.id), "revision": suggested.revision}
    (accepted,) = agent.call(TOOL, action="accept", **edited, synonyms=["parasol", "sunshade"]).body["synonyms"]
    assert (accepted["type"], accepted["root"], accepted["synonyms"]) == ("ONE_WAY", "shade", ["parasol", "sunshade"])


def test_a_suggestion_of_one_way_becomes_one_of_both_ways_where_that_is_sent(
    app: Flask, agent: Agent, site_id: int
) -> None:
    with app.app_context(), transaction():
        site = db.session.get_one(Site, site_id)
        suggested = make_synonym(site, "parasol", root="shade", status="SUGGESTED")
        edited = {"id": str(suggested.id), "revision": suggested.revision}
    words = {"type": "EQUIVALENT", "synonyms": ["parasol", "sunshade"]}
    (accepted,) = agent.call(TOOL, action="accept", **edited, **words).body["synonyms"]
    assert (accepted["type"], accepted["root"], accepted["synonyms"]) == ("EQUIVALENT", None, words["synonyms"])


def test_a_dry_run_previews_the_searches_and_writes_nothing(app: Flask, agent: Agent, site_id: int) -> None:
    add_tents(app, site_id)
    result = agent.call(TOOL, action="add", **PAIR, dryRun=True).body
    searches = {one["query"]: one for one in result["preview"]["searches"]}
    assert (searches["parasol"]["before"]["found"], searches["parasol"]["after"]["found"]) == (0, 1)
    assert (result["dryRun"], result["undo"], stored(app)) == (True, None, [])
    assert result["synonyms"][0]["id"] is None, "an id that nothing has would mislead"


def test_every_problem_is_named_at_once(app: Flask, agent: Agent) -> None:
    result = agent.call(TOOL, action="add", type="EQUIVALENT", root="x", synonyms=["a,b", "??"])
    assert set(result.pointers) == {"#/root", "#/synonyms/0", "#/synonyms/1"}
    agent.call(TOOL, action="add", **PAIR)
    taken = agent.call(TOOL, action="add", type="EQUIVALENT", synonyms=["Parasols", "tarp"])
    assert (taken.codes, taken.pointers) == (["word_taken"], ["#/synonyms/0"])
    missing = agent.call(TOOL, action="edit", status="LIVE")
    assert set(missing.pointers) == {"#/id", "#/revision", "#/type", "#/synonyms", "#/status"}
    assert len(stored(app)) == 1


def test_another_sites_synonym_is_not_found(app: Flask, agent: Agent) -> None:
    with app.app_context(), transaction():
        theirs = str(make_synonym(make_site("other.localhost", "Other"), "a", "b").id)
    for synonym_id in (theirs, "9" * 19, "x", ""):
        assert agent.call(TOOL, action="remove", id=synonym_id, revision=1).codes == ["not_found"]
    assert len(stored(app)) == 1


def test_more_suggestions_are_looked_for_in_the_background(app: Flask, agent: Agent, queue: RecordingQueue) -> None:
    assert agent.call(TOOL, action="list").body["search"] is None
    assert agent.call(TOOL, action="suggest", dryRun=True).body["search"]["state"] == "waiting"
    assert agent.call(TOOL, action="list").body["search"] is None, "a dry run looks for nothing"
    before = len(queue.jobs)
    result = agent.call(TOOL, action="suggest").body
    assert (result["changed"], result["search"]["state"]) == (True, "waiting")
    assert len(queue.jobs) > before
    assert not agent.call(TOOL, action="suggest").body["changed"], "one at a time"
