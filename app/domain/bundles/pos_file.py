"""The till of pos.json, in and out: the locations of a site, and its agents by email. Payments are not exported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import selectinload

from app.domain.bundles.import_task import ImportTask, problems_at
from app.domain.bundles.parts import Part
from app.domain.bundles.reading import Document
from app.domain.pos import access, agents, locations
from app.domain.pos.locations import account_problems
from app.domain.pos.models import PosAgent, PosLocation
from app.domain.pos.processor import Address
from app.domain.pos.rules import (
    AgentFields,
    LocationFields,
    agent_problems,
    clean_location,
    id_problems,
    location_problems,
)
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.schema import Flag, Items, One, Record, Text, Texts, Whole
from app.domain.sites import accounts
from app.domain.sites.models import RoleGrant, User
from app.extensions import db

FILE = "pos.json"
USERS, SETTINGS = "users.json", "site.json"
LOCATIONS, AGENTS = "locations", "agents"
POS = Record(locations=Items(), agents=Items())
ADDRESS = Record(
    line1=Text(allow_none=True),
    line2=Text(allow_none=True),
    city=Text(allow_none=True),
    state=Text(allow_none=True),
    postalCode=Text(allow_none=True),
    country=Text(required=True),
)
LOCATION = Record(
    id=Text(required=True),
    displayName=Text(required=True),
    address=One(ADDRESS, required=True),
    processorAccountId=Text(allow_none=True),
    enabled=Flag(),
)
PERMISSIONS = {
    "canProcessQuickPayments": "can_process_quick_payments",
    "canBuildOrders": "can_build_orders",
    "canRefund": "can_refund",
    "canDiscount": "can_discount",
    "canTakeCash": "can_take_cash",
    "canMoveCash": "can_move_cash",
}
AGENT = Record(
    email=Text(required=True),
    displayName=Text(),
    enabled=Flag(),
    **{name: Flag() for name in PERMISSIONS},
    maxTransactionAmount=Whole(allow_none=True),
    locations=Texts(),
)


def import_pos(task: ImportTask) -> None:
    """Import the file of the till. What the file does not name stays; what a row leaves out stays, too. The location
    that the settings name is added where the file has none of its id. The operator of the server may share accounts
    among sites."""
    document = task.documents.get(FILE)
    if document is not None:
        _import_document(task, document)
    if not task.dry_run and Part.TILL in task.parts and task.documents.keys() & {FILE, SETTINGS}:
        with task.writing():
            locations.seed_first(task.author)


def agents_of(task: ImportTask) -> set[str]:
    """Return the email addresses of the enabled agents in the file of the till, whose users get the role of an
    agent."""
    document = task.documents.get(FILE)
    listed = document.content.get(AGENTS) if document else None
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    return {accounts.normal_email(str(row.get("email"))) for row in rows if row.get("enabled") is not False}


def _import_document(task: ImportTask, document: Document) -> None:
    problems: list[Problem] = []
    content = POS.read(document.content, "#", problems)
    if problems:
        task.refuse("pos", document, problems)
    places = _KnownLocations(task.site_id)
    for index, raw in enumerate(content.get(LOCATIONS, [])):
        _import_row(task, document, f"#/{LOCATIONS}/{index}", raw, partial(_import_location, task, places))
    people = _KnownUsers(task, places)
    for index, raw in enumerate(content.get(AGENTS, [])):
        _import_row(task, document, f"#/{AGENTS}/{index}", raw, partial(_import_agent, task, people))


def _import_row(task: ImportTask, document: Document, at: str, raw: Any, import_one: Callable[[Any, str], str]) -> None:
    """Import a row of the file. `import_one` says what it did: added, changed or unchanged."""
    kind = at.split("/")[1]
    counts = task.report.of(kind)
    try:
        with task.writing():
            done = import_one(raw, at)
    except Invalid as refused:
        task.refuse(kind, document, refused.problems)
    else:
        counts.note(done, str(raw.get("displayName") or raw.get("email") or raw.get("id")))


class _KnownLocations:
    """The ids of the locations of the site and of the file so far, also in a dry run; `seen` are those of the file."""

    def __init__(self, site_id: int) -> None:
        self.ids = {place.location_id for place in locations.list_locations(site_id)}
        self.seen: set[str] = set()


class _KnownUsers:
    """The users who may become agents: those of the site, and in a dry run those of the bundle (`to_come`). `seen` are
    the email addresses of agents in the file so far."""

    def __init__(self, task: ImportTask, places: _KnownLocations) -> None:
        self.places, self.seen = places, set[str]()
        users = task.documents.get(USERS)
        rows = users.content if users and task.dry_run else []
        self.to_come = {accounts.normal_email(str(row.get("email"))) for row in rows if isinstance(row, dict)}


def _import_location(task: ImportTask, places: _KnownLocations, raw: Any, at: str) -> str:
    row, fields = _read_location(places, raw, at)
    location = locations.find_location(task.site_id, row["id"])
    account_id = fields.processor_account_id
    is_new = location is None or location.processor_account_id != account_id
    if is_new and not task.importer.may_share_accounts:
        _raise_at(account_problems(task.site_id, account_id, "#/processorAccountId"), at)
    places.seen.add(row["id"])
    places.ids.add(row["id"])
    enabled = row.get("enabled", True if location is None else location.enabled)
    if location is None:
        if not task.dry_run:
            locations.take_over(
                task.author, row["id"], fields, may_share=task.importer.may_share_accounts
            ).enabled = enabled
        return "added"
    if location.fields == fields and location.enabled == enabled:
        return "unchanged"
    if not task.dry_run:
        locations.edit(
            task.author, row["id"], location.revision, fields, enabled, may_share=task.importer.may_share_accounts
        )
    return "changed"


def _read_location(places: _KnownLocations, raw: Any, at: str) -> tuple[dict[str, Any], LocationFields]:
    problems: list[Problem] = []
    row = LOCATION.read(raw, at, problems)
    if problems:
        raise Invalid(problems)
    address = {name: text or "" for name, text in row["address"].items()}
    postal_code = address.pop("postalCode", "")
    place = Address(**address, postal_code=postal_code)
    fields = clean_location(LocationFields(row["displayName"], place, row.get("processorAccountId")))
    found = [*id_problems(row["id"], "The id", "#/id"), *location_problems(fields)]
    if row["id"] in places.seen:
        found.append(Problem("duplicate_id", f"“{row['id'][:80]}” stands in the file twice.", "#/id"))
    _raise_at(found, at)
    return row, fields


def _import_agent(task: ImportTask, people: _KnownUsers, raw: Any, at: str) -> str:
    row = _read_agent(people, raw, at)
    user = _find_member(task.site_id, row["email"])
    if user is None and row["email"] not in people.to_come:
        _raise_at([Problem("unknown_user", f"The shop has no user {row['email'][:80]}.", "#/email")], at)
    agent = access.find_agent(task.site_id, user.id) if user else None
    fields = _agent_fields(row, agent, user)
    _raise_at(agent_problems(fields), at)
    enabled = row.get("enabled", True if agent is None else agent.enabled)
    if agent is None:
        if not task.dry_run and user is not None:
            agent = agents.enable_user(task.author, user, fields)
            _set_enabled(task, agent, enabled)
        return "added"
    if agents.fields_of(agent) == fields and agent.enabled == enabled:
        return "unchanged"
    if not task.dry_run:
        agents.save(task.author, agent.id, agent.revision, fields)
        _set_enabled(task, agent, enabled)
    return "changed"


def _read_agent(people: _KnownUsers, raw: Any, at: str) -> dict[str, Any]:
    problems: list[Problem] = []
    row = AGENT.read(raw, at, problems)
    if problems:
        raise Invalid(problems)
    email = row["email"] = accounts.normal_email(row["email"])
    found = []
    if email in people.seen:
        found.append(Problem("duplicate_email", f"“{email[:80]}” stands in the file twice.", "#/email"))
    for place, location_id in enumerate(row.get("locations", [])):
        if location_id not in people.places.ids:
            message = f"There is no location “{location_id[:80]}”."
            found.append(Problem("unknown_location", message, f"#/locations/{place}"))
    people.seen.add(email)
    _raise_at(found, at)
    return row


def _agent_fields(row: Mapping[str, Any], agent: PosAgent | None, user: User | None) -> AgentFields:
    name = user.display_name if user else row["email"]
    before = AgentFields(name) if agent is None else agents.fields_of(agent)
    allowed = {field: row.get(name, getattr(before, field)) for name, field in PERMISSIONS.items()}
    return AgentFields(
        display_name=row.get("displayName", before.display_name).strip() or before.display_name,
        max_transaction_amount=row.get("maxTransactionAmount", before.max_transaction_amount),
        location_ids=tuple(sorted(set(row.get("locations", before.location_ids)))),
        **allowed,
    )


def _set_enabled(task: ImportTask, agent: PosAgent, enabled: bool) -> None:
    if enabled:
        agents.enable(task.author, agent.id, agent.revision)
    else:
        agents.disable(task.author, agent.id, agent.revision)


def _find_member(site_id: int, email: str) -> User | None:
    """Return the user with this email address, if they have a role on the site."""
    user = accounts.find_user(email)
    if user is None:
        return None
    is_member = db.session.scalar(select(exists().where(RoleGrant.user_id == user.id, RoleGrant.site_id == site_id)))
    return user if is_member else None


def _raise_at(problems: list[Problem], at: str) -> None:
    if problems:
        raise Invalid(problems_at(at, problems))


def pos_document(site_id: int) -> dict[str, Any]:
    query = select(PosAgent, User.email).join(User, User.id == PosAgent.user_id).where(PosAgent.site_id == site_id)
    rows = db.session.execute(query.options(selectinload(PosAgent.locations)).order_by(User.email))
    places = sorted(locations.list_locations(site_id), key=lambda place: place.location_id)
    return {"locations": [_location_json(place) for place in places], "agents": [_agent_json(*row) for row in rows]}


def _location_json(place: PosLocation) -> dict[str, Any]:
    address = place.address
    return {
        "id": place.location_id,
        "displayName": place.display_name,
        "address": {
            "line1": address.line1,
            "line2": address.line2,
            "city": address.city,
            "state": address.state,
            "postalCode": address.postal_code,
            "country": address.country,
        },
        "processorAccountId": place.processor_account_id,
        "enabled": place.enabled,
    }


def _agent_json(agent: PosAgent, email: str) -> dict[str, Any]:
    fields = agents.fields_of(agent)
    return {
        "email": email,
        "displayName": fields.display_name,
        "enabled": agent.enabled,
        **{name: getattr(fields, field) for name, field in PERMISSIONS.items()},
        "maxTransactionAmount": fields.max_transaction_amount,
        "locations": list(fields.location_ids),
    }
