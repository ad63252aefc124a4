"""Every tool with what it takes, what it answers and who may call it. A tool is one function in a file of its own below
`tools`, under the decorator `tool`. Each caller is the user of a bearer token, a personal one or that of a session, and
acts on the token's site."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from app import ports
from app.domain.changes.history import latest_entry_of
from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import Forbidden, Unauthenticated
from app.domain.sites import api_sessions
from app.domain.sites.accounts import Role
from app.domain.sites.api_sessions import Audience
from app.domain.sites.personal_tokens import is_personal
from app.mcp.arguments import Answer, Arguments, WriteArguments
from app.web.callers import token_caller
from app.web.permissions import Permission
from app.web.tokens import read_access_token

UNDO = "The page in the admin that takes this change back, where the activity log can; null where nothing was written."


@dataclass(frozen=True, slots=True)
class Caller:
    user_id: int
    display_name: str
    site_id: int
    roles: frozenset[Role]

    @property
    def author(self) -> Author:
        """The caller as the author of a change."""
        return Author(self.site_id, self.display_name, ports.clock(), Origin.MCP)


def caller_of(token: str) -> Caller:
    """Return the user and the site of a token that holds now; token and user are read at each call. Raises
    Unauthenticated, and Forbidden for a till's token."""
    if is_personal(token):
        holder = token_caller(token)
        return Caller(holder.user_id, holder.display_name, holder.site_id, holder.roles)
    claims = read_access_token(token)
    if claims.is_over(ports.clock().now()):
        raise Unauthenticated("token_expired", "This token is over. Get another one.")
    found = api_sessions.find_caller(ports.clock(), claims.session_id, claims.user_id, None, claims.roles)
    if found.audience is not Audience.API:
        raise Forbidden("A till's token opens no tools.")
    return Caller(found.user_id, found.display_name, found.site_id, found.roles)


@dataclass(frozen=True, slots=True)
class Call:
    """The caller of a tool. `dry_run`: what the tool writes is rolled back, which is no concern of the tool."""

    caller: Caller
    dry_run: bool = False

    @property
    def site_id(self) -> int:
        return self.caller.site_id

    @property
    def author(self) -> Author:
        return self.caller.author


@dataclass(frozen=True, slots=True)
class Action:
    """One of the things that a tool does. `needs` are the fields without which it cannot, `takes` those that it may be
    given besides; others are refused. `permission` is needed on top of the tool's own."""

    writes: bool
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    permission: Permission | None = None


def reads(*needs: str, takes: tuple[str, ...] = (), permission: Permission | None = None) -> Action:
    return Action(False, needs, takes, permission)


def writes(*needs: str, takes: tuple[str, ...] = (), permission: Permission | None = None) -> Action:
    return Action(True, needs, takes, permission)


Run = Callable[[Call, Any], Answer]
RunFunction = TypeVar("RunFunction", bound=Callable[..., Answer])


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the MCP server. `actions` are by the values of the argument `chosen_by`; without any, the tool only
    reads. `is_destructive`: it can take away a user's work."""

    name: str
    title: str
    description: str
    permission: Permission
    run: Run
    arguments: type[Arguments]
    answer: type[Answer]
    actions: Mapping[str, Action] = field(default_factory=lambda: MappingProxyType({}))
    is_destructive: bool = False
    is_idempotent: bool = True
    chosen_by: str = "action"

    @property
    def default_action(self) -> object:
        """The action of a call that names none; not a text where each call must name one."""
        field = self.arguments.model_fields.get(self.chosen_by)
        return field.default if field else None

    @property
    def only_reads(self) -> bool:
        return not any(action.writes for action in self.actions.values())


_TOOLS: dict[str, Tool] = {}


def tool(
    name: str,
    title: str,
    permission: Permission,
    actions: Mapping[str, Action] = MappingProxyType({}),
    *,
    is_destructive: bool = False,
    is_idempotent: bool = True,
    chosen_by: str = "action",
) -> Callable[[RunFunction], RunFunction]:
    """Register a function `(call, arguments) -> answer`; its docstring is the description that agents read. What an
    action that writes does stands within one transaction, which a dry run takes back."""

    def register(run: RunFunction) -> RunFunction:
        hints = get_type_hints(run)
        arguments, answer = (hints[each] for each in (list(inspect.signature(run).parameters)[1], "return"))
        if name in _TOOLS:
            raise RuntimeError(f"There is a tool {name} already.")
        if any(action.writes for action in actions.values()) and not issubclass(arguments, WriteArguments):
            raise RuntimeError(f"The tool {name} writes, so it takes WriteArguments.")
        paragraphs = (inspect.getdoc(run) or "").split("\n\n")
        description = "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
        flags = (is_destructive, is_idempotent, chosen_by)
        _TOOLS[name] = Tool(name, title, description, permission, run, arguments, answer, actions, *flags)
        return run

    return register


def all_tools() -> Mapping[str, Tool]:
    """Return all tools by name, in alphabetical order."""
    package = import_module("app.mcp.tools")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_TOOLS.items()))


def undo_address(call: Call, kind: str, record_id: int | str) -> str | None:
    """Return the address of the latest activity entry about a record of the Search section; None in a dry run and
    without an entry."""
    entry = None if call.dry_run else latest_entry_of(call.site_id, kind, str(record_id))
    return f"/admin/search/activity/{entry}" if entry else None
