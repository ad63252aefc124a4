"""Who may use which tool: a row for each, and an agent for each role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, get_args

import pytest
from flask import Flask

from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience
from app.domain.sites.models import Site
from app.extensions import db
from app.mcp import registry
from app.mcp.arguments import Answer, Arguments
from app.mcp.registry import Call, Tool, all_tools, reads, tool
from app.transaction import transaction
from app.web.permissions import Permission
from tests.factories import make_user
from tests.mcp.agent import Agent, token_for

MANAGERS = frozenset({Role.MERCHANDISER, Role.ADMIN, Role.SUPERADMIN})
# A call of each tool with arguments that are refused only after the permission, and the roles that get so far.
MATRIX: dict[str, tuple[dict[str, Any], frozenset[Role]]] = {
    "judgementLists": ({"action": "lists"}, MANAGERS),
    "manageProductRanking": ({"action": "remove", "term": "none"}, MANAGERS),
    "manageProductSearchTerms": ({"action": "get", "product": "none"}, MANAGERS),
    "manageProductTaxonomy": ({"action": "get", "product": "none"}, MANAGERS),
    "manageRedirects": ({"action": "list"}, MANAGERS),
    "manageSynonyms": ({"action": "list"}, MANAGERS),
    "productRanking": ({"action": "rules"}, MANAGERS),
    "searchDiagnose": ({"query": "tent"}, MANAGERS),
    "searchInsights": ({}, MANAGERS),
    "searchRanking": ({"action": "settings"}, MANAGERS),
    "taxonomyImpact": ({"taxonomyId": "none"}, MANAGERS),
}


class GuardedArguments(Arguments):
    action: Literal["look", "dismiss"]


class GuardedAnswer(Answer):
    done: bool


@pytest.fixture
def guarded_tool() -> Iterator[str]:
    """A tool of which merchandisers may use one action and superadmins both."""
    actions = {"look": reads(), "dismiss": reads(permission=Permission.MANAGE_SITES)}

    @tool("guarded", "Guarded", Permission.MANAGE_SEARCH, actions)
    def guarded(call: Call, sent: GuardedArguments) -> GuardedAnswer:
        """Look or dismiss."""
        return GuardedAnswer(done=True)

    yield "guarded"
    del registry._TOOLS["guarded"]


def test_every_tool_has_a_row() -> None:
    assert set(MATRIX) == set(all_tools())


@pytest.mark.parametrize("role", Role)
def test_each_role_may_use_the_tools_of_its_rows(agent_of: Callable[..., Agent], role: Role) -> None:
    result = agent_of(role).calls(*((name, arguments) for name, (arguments, _) in MATRIX.items()))
    let_in = {name for name, one in zip(MATRIX, result, strict=True) if one.body.get("code") != "forbidden"}
    assert let_in == {name for name, (_, roles) in MATRIX.items() if role in roles}


@pytest.mark.parametrize("tool", all_tools().values(), ids=all_tools().keys())
def test_actions_are_those_of_the_schema_and_name_fields_that_there_are(tool: Tool) -> None:
    if tool.actions:
        assert set(get_args(tool.arguments.model_fields[tool.chosen_by].annotation)) == set(tool.actions)
    fields = {field.alias for field in tool.arguments.model_fields.values()}
    for action in tool.actions.values():
        assert fields.issuperset((*action.needs, *action.takes))


def test_an_action_may_need_more_than_its_tool(agent_of: Callable[..., Agent], guarded_tool: str) -> None:
    result = agent_of(Role.MERCHANDISER).calls(
        (guarded_tool, {"action": "look"}), (guarded_tool, {"action": "dismiss"})
    )
    assert [one.body.get("code", "done") for one in result] == ["done", "forbidden"]
    assert agent_of(Role.SUPERADMIN).call(guarded_tool, action="dismiss").body == {"done": True}


def test_changing_landing_pages_is_merchandising_on_top_of_search() -> None:
    """No role has one without the other today, so only the declarations show it."""
    needed = {
        (name, wanted): action.permission
        for name, tool in all_tools().items()
        for wanted, action in tool.actions.items()
        if action.permission
    }
    assert needed == {
        ("manageProductRanking", "setLanding"): Permission.MANAGE_MERCHANDISING,
        ("manageProductRanking", "inheritLanding"): Permission.MANAGE_MERCHANDISING,
        ("productRanking", "landing"): Permission.MANAGE_MERCHANDISING,
    }


def test_a_tills_token_opens_nothing(app: Flask, site_id: int) -> None:
    with app.app_context():
        site = db.session.get_one(Site, site_id)
        with transaction():
            user = make_user(site, Role.ADMIN, Role.POS_AGENT)
        agent = Agent(app, token_for(app, user, site, Audience.POS))
    assert agent.call("taxonomyImpact").body["code"] == "forbidden"
