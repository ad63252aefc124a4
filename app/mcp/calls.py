"""One call of a tool, from the token to the answer, whatever goes wrong on the way."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import structlog
from flask import Flask
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from app.domain.shared.problems import (
    Conflict,
    DomainError,
    Forbidden,
    Invalid,
    NotFound,
    Problem,
    StaleRevision,
    TooManyRequests,
)
from app.domain.shared.rate_limit import Rate
from app.domain.shared.redaction import error_summary
from app.extensions import db
from app.mcp.arguments import LONGEST_SHOWN, Arguments, WriteArguments, read_arguments
from app.mcp.registry import Action, Call, Caller, Tool, caller_of
from app.operations.storage import REMOVED_MEANWHILE, is_busy_or_away, note_storage_fault
from app.transaction import rehearsal, transaction
from app.web.callers import refuse_beyond, user_key
from app.web.errors import REMOVED, STORAGE_FAILS
from app.web.permissions import WHO_MAY, Permission, allowed

log = structlog.get_logger()

CALLS = ("mcp", Rate(120))  # A minute, of a user on a site.
UNKNOWN_TOOL = "unknown_tool"
NOT_ALLOWED = "Your role on this site does not allow this."
BUSY = "The database is busy. Nothing was saved. Try again in a moment."
REFERENCES = ("product", "category", "id", "taxonomyId", "term")  # Arguments that name a thing; an action takes one.
READING = Action(writes=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call: the answer as JSON, or the refusal, whose `text` says it in plain words."""

    is_error: bool
    body: dict[str, Any]
    text: str


def perform(app: Flask, tool: Tool, token: str, sent: Mapping[str, Any]) -> Outcome:
    """Perform a call in a context of its own, with a database session that ends with it, and return its outcome. Raises
    nothing."""
    with app.app_context(), _request_id() as request_id:
        try:
            outcome = Outcome(False, _answer(tool, token, sent), "")
        except DomainError as error:
            outcome = refusal(error, sent)
        except Exception as error:
            outcome = _trouble(tool, error, request_id)
        log.info("tool_call", tool=tool.name, refused=outcome.body["code"] if outcome.is_error else None)
        return outcome


def refuse_unknown_tool(name: str, known: Sequence[str]) -> Outcome:
    """Return the outcome of a call of no tool."""
    shown = name[:LONGEST_SHOWN]
    log.info("tool_call", tool=shown, refused=UNKNOWN_TOOL)
    return _refused(UNKNOWN_TOOL, f"There is no tool “{shown}”. There are {', '.join(known)}.")


def refusal(error: DomainError, sent: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a refusal, as a problem document has it (RFC 9457)."""
    problem = Problem(error.code, error.detail, _pointer(error, sent))
    problems = error.problems if isinstance(error, Invalid) else (problem,)
    details = dict(error.details)
    if isinstance(error, TooManyRequests):
        details["retryAfter"] = error.retry_after
    return _refused(error.code, error.detail, problems, details)


def _pointer(error: DomainError, sent: Mapping[str, Any]) -> str:
    """Return the JSON pointer of the argument that an error of the domain, which knows no arguments, is about; `#`
    where that is not clear."""
    if isinstance(error, StaleRevision) and "revision" in sent:
        return "#/revision"
    if isinstance(error, NotFound):
        named = [name for name in REFERENCES if sent.get(name) is not None]
        return f"#/{named[0]}" if len(named) == 1 else "#"
    return "#"


def _answer(tool: Tool, token: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    caller = caller_of(token)
    _check_permission(caller, tool.permission)
    refuse_beyond(user_key(CALLS[0], caller.site_id, caller.user_id), CALLS[1])
    action, arguments = _read(tool, caller, sent)
    call = Call(caller, isinstance(arguments, WriteArguments) and arguments.dry_run)
    with _writing(action, call):
        return tool.run(call, arguments).as_json()


def _writing(action: Action, call: Call) -> AbstractContextManager[None]:
    if not action.writes:
        return nullcontext()
    return rehearsal() if call.dry_run else transaction()


def _read(tool: Tool, caller: Caller, sent: Mapping[str, Any]) -> tuple[Action, Arguments]:
    """Return the chosen action, and the arguments with fields that it needs or takes and no others. Raises Forbidden,
    and Invalid with every problem of the fields as such and of the action's need of them."""
    wanted = sent.get(tool.chosen_by, tool.default_action)
    action = tool.actions.get(wanted) if isinstance(wanted, str) else None
    if action is None:
        return READING, read_arguments(tool.arguments, sent)
    if action.permission:
        _check_permission(caller, action.permission)
    label = f"The {tool.chosen_by} {wanted}"
    return action, read_arguments(tool.arguments, sent, _field_problems(tool, label, action, sent))


def _field_problems(tool: Tool, action_label: str, action: Action, sent: Mapping[str, Any]) -> Iterator[Problem]:
    known = {field.alias for field in tool.arguments.model_fields.values()} - {tool.chosen_by, "dryRun"}
    given = {name for name, value in sent.items() if name in known and value is not None}
    for name in action.needs:
        if name not in given:
            yield Problem("required", f"{action_label} needs the field “{name}”.", f"#/{name}")
    for name in sorted(given.difference(action.needs, action.takes)):
        yield Problem("unknown_field", f"{action_label} takes no field “{name}”.", f"#/{name}")


def _check_permission(caller: Caller, permission: Permission) -> None:
    if not allowed(caller.roles, permission):
        raise Forbidden(WHO_MAY.get(permission, NOT_ALLOWED))


@contextmanager
def _request_id() -> Iterator[str]:
    request_id = uuid.uuid4().hex
    with structlog.contextvars.bound_contextvars(request_id=request_id):
        yield request_id


def _trouble(tool: Tool, error: Exception, request_id: str) -> Outcome:
    """Return the outcome of an unexpected error, of which nothing reaches the caller but the name under which it was
    logged."""
    with suppress(SQLAlchemyError):
        db.session.rollback()
    if isinstance(error, OperationalError) and is_busy_or_away(error):
        log.warning("database_unavailable", error=error_summary(error))
        return _refused("database_unavailable", BUSY)
    if isinstance(error, DBAPIError | OSError) and note_storage_fault(error):
        return _refused("storage_unavailable", STORAGE_FAILS.format(", so nothing was saved"))
    if isinstance(error, REMOVED_MEANWHILE):
        log.warning("removed_meanwhile", tool=tool.name, exc_info=error)
        return _refused(Conflict.code, REMOVED.format(", so nothing was saved"))
    log.error("unexpected_error", tool=tool.name, exc_info=error)
    message = f"Internal error. It was noted under the request id {request_id}. Nothing was saved."
    return _refused("internal_error", message, details={"requestId": request_id})


def _refused(
    code: str, message: str, problems: tuple[Problem, ...] = (), details: Mapping[str, object] | None = None
) -> Outcome:
    listed = problems or (Problem(code, message),)
    body = {**(details or {}), "code": code, "detail": message, "errors": [each.as_json() for each in listed]}
    lines = [f"{each.message} ({each.pointer})" if each.pointer != "#" else each.message for each in listed]
    text = lines[0] if len(lines) == 1 else "\n".join([message, *(f"- {line}" for line in lines)])
    return Outcome(True, body, text)
