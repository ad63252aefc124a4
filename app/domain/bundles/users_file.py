"""The users of a bundle's site and their roles on it."""

from __future__ import annotations

from typing import Any

from app.domain.bundles.pos_file import agents_of
from app.domain.bundles.task import ImportTask
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Record, Text, Texts
from app.domain.sites import accounts, staff
from app.domain.sites.models import User
from app.domain.sites.passwords import password_problems
from app.domain.sites.roles import Role
from app.domain.sites.staff_rules import NOT_ADDABLE, StaffRights, may_adopt, role_problems

FILE = "users.json"
KIND = "users"
USER = Record(
    email=Text(required=True),
    displayName=Text(),
    roles=Texts(required=True),
    password=Text(allow_none=True),
)


def import_users(task: ImportTask) -> None:
    """Import the users, matched by email. A known user keeps name and password, since the account may be used on other
    sites; only the roles on this site become those of the bundle."""
    document = task.documents.get(FILE)
    if document is None:
        return
    task.report.of(KIND)
    seen: set[str] = set()
    for index, raw in enumerate(document.content):
        at = f"#/{index}"
        try:
            fields = _checked(raw, at, seen)
            with task.writing():
                _import_user(task, fields, at)
        except Invalid as refused:
            task.refuse(KIND, document, refused.problems)


def _checked(raw: Any, at: str, seen: set[str]) -> dict[str, Any]:
    problems: list[Problem] = []
    fields = USER.read(raw, at, problems)
    if problems:
        raise Invalid(problems)
    email = accounts.normal_email(fields["email"])
    fields["email"] = email
    fields.setdefault("displayName", email)
    found = accounts.user_problems(email, fields["displayName"])
    found += password_problems(fields["password"]) if fields.get("password") is not None else []
    problems += [Problem(problem.code, problem.message, f"{at}/{problem.pointer[2:]}") for problem in found]
    for place, role in enumerate(fields["roles"]):
        if role not in Role.__members__:
            problems.append(Problem("unknown_role", f"There is no role “{role[:40]}”.", f"{at}/roles/{place}"))
    if email in seen:
        problems.append(Problem("duplicate_email", f"“{email[:80]}” stands in the file twice.", f"{at}/email"))
    seen.add(email)
    if problems:
        raise Invalid(problems)
    return fields


def _import_user(task: ImportTask, fields: dict[str, Any], at: str) -> None:
    """Import a user. Raises Invalid for what the importer may not do in the admin either."""
    counts = task.report.of(KIND)
    user = accounts.find_user(fields["email"])
    wanted = {Role(role) for role in fields["roles"]}
    if fields["email"] in agents_of(task):
        wanted.add(Role.POS_AGENT)
    if user is not None and staff.holds_just(user, task.site_id, wanted):
        counts.note("unchanged", fields["email"])
        return
    if task.importer.user_id is not None and (problems := _forbidden(task, user, wanted)):
        who = fields["email"]
        raise Invalid([Problem(problem.code, f"{who}: {problem.message}", f"{at}/roles") for problem in problems])
    if user is None:
        counts.note("added", fields["email"])
        if not task.dry_run:
            user = _create(task, fields)
    else:
        counts.note("changed", fields["email"])
    if not task.dry_run and user is not None:
        staff.set_roles(task.author, user, wanted)


def _forbidden(task: ImportTask, user: User | None, wanted: set[Role]) -> list[Problem]:
    importer = task.importer
    problems = role_problems({role.value for role in wanted}, importer.roles)
    if user is None or importer.user_id is None:
        return problems
    rights = StaffRights(importer.user_id, importer.roles, user.id, accounts.roles_of(user.id, task.site_id))
    if not rights.may_change_roles:
        problems.append(Problem("not_allowed", rights.why_not or ""))
    if not rights.user_roles and not may_adopt(importer.roles):
        problems.append(Problem("address_not_addable", NOT_ADDABLE))
    return problems


def _create(task: ImportTask, fields: dict[str, Any]) -> User:
    password = fields.get("password")
    if password is None:
        task.report.note("Users without a password cannot sign in until one is set.")
    memory_kib = task.password_memory_kib
    return accounts.create_user(task.clock, memory_kib, fields["email"], fields["displayName"], password)
