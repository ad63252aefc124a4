"""site.json and users.json, in and out: the site that a bundle goes to, its settings and its hosts; the users of the
site and their roles on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import select

from app.domain.bundles.import_task import NO_SITE, ImportTask, problems_at
from app.domain.bundles.parts import Part, part_of_setting
from app.domain.bundles.pos_file import agents_of
from app.domain.bundles.reading import Document
from app.domain.bundles.report import BrokenBundle
from app.domain.pos.locations import ACCOUNT_SETTING, account_problems
from app.domain.search import settings as search_settings
from app.domain.shared.problems import Conflict, DomainError, Invalid, Problem
from app.domain.shared.schema import Flag, Items, Object, Record, Text, Texts
from app.domain.sites import accounts, sites, staff
from app.domain.sites.accounts import Role, password_problems
from app.domain.sites.models import Domain, RoleGrant, Site, User
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.settings import change_settings, settings_of
from app.domain.sites.staff import NOT_ADDABLE, StaffRights, may_adopt, role_problems
from app.extensions import db

SITE_FILE = "site.json"
SITE_KIND = "site"
SITE = Record(
    name=Text(),
    domains=Items(),
    currency=Text(),
    timeZone=Text(),
    staging=Flag(),
    capabilities=Texts(),
    settings=Object(),
)
DOMAIN = Record(host=Text(required=True), primary=Flag())
USERS_FILE = "users.json"
USERS_KIND = "users"
USER = Record(
    email=Text(required=True),
    displayName=Text(),
    roles=Texts(required=True),
    password=Text(allow_none=True),
)
MOST_CAPABILITIES = 20
CAPABILITY = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)


def host_of(document: Document | None, wanted: str | None) -> str:
    """Return the host of the site to write to: `wanted`, else the primary domain of site.json. Raises Invalid."""
    if wanted is not None:
        return sites.clean_host(wanted)
    if document is None:
        message = f"The bundle has no {SITE_FILE} that names the shop's host; say which site it goes to."
        raise Invalid.one("site_missing", message)
    listed = document.content.get("domains")
    domains = [domain for domain in listed if isinstance(domain, dict)] if isinstance(listed, list) else []
    primary = [domain for domain in domains if domain.get("primary")] or domains[:1]
    if not primary or not isinstance(primary[0].get("host"), str):
        raise BrokenBundle.at(document.name, "No primary domain is named under “domains”.")
    return sites.clean_host(primary[0]["host"])


def import_site(task: ImportTask, host: str) -> None:
    """Find or add the site, then give it what site.json says; each field that cannot be taken is left out."""
    document = task.documents.get(SITE_FILE)
    counts = task.report.of(SITE_KIND)
    with task.writing():
        site = sites.site_by_host(host)
        if site is None:
            counts.note("added", host)
            site = _unsaved_site(host) if task.dry_run else sites.create_site(task.clock, host, host)
            task.site_id = site.id
            SiteFile(task, document, site).apply()
            return
        task.site_id = site.id
        changed = SiteFile(task, document, site).apply()
        counts.note("changed" if changed else "unchanged", ", ".join(changed))


def _unsaved_site(host: str) -> Site:
    """Return an unsaved site in place of the one that a dry run does not make."""
    site = Site(id=NO_SITE, name=host, currency="gbp", time_zone="Europe/London", staging=False)
    site.capabilities = list(sites.CAPABILITIES)
    site.domains = [Domain(host=host, primary=True)]
    return site


class SiteFile:
    """The contents of site.json, applied to a site; in a dry run only what would change is collected."""

    def __init__(self, task: ImportTask, document: Document | None, site: Site) -> None:
        self._task = task
        self._document = document
        self._site = site
        self._changed: list[str] = []

    def apply(self) -> list[str]:
        """Return the names of what changes."""
        if self._document is None:
            return []
        problems: list[Problem] = []
        fields = SITE.read(self._document.content, "#", problems)
        self._refuse(problems)
        if Part.SITE in self._task.parts:
            self._take_columns(fields)
        self._take_settings(fields.get("settings") or {})
        if Part.SITE in self._task.parts:
            self._take_domains(fields.get("domains") or [])
        return self._changed

    def _take_columns(self, fields: dict[str, Any]) -> None:
        self._take_column("name", fields.get("name"), sites.name_problems)
        self._take_column("currency", fields.get("currency"), sites.currency_problems)
        self._take_column("time_zone", fields.get("timeZone"), sites.time_zone_problems)
        self._take_column("staging", fields.get("staging"), lambda _: [])
        self._take_column("capabilities", fields.get("capabilities"), _capability_problems)

    def _take_column(self, column: str, value: Any, problems_of: Callable[[Any], list[Problem]]) -> None:
        if value is None:
            return
        if problems := problems_of(value):
            self._refuse(problems)
        elif value != getattr(self._site, column):
            self._changed.append(column.replace("_", " "))
            if not self._task.dry_run:
                setattr(self._site, column, value)

    def _take_settings(self, wanted: dict[str, Any]) -> None:
        current, stored = settings_of(self._site.id), set[str]()
        for key, value in wanted.items():
            if part_of_setting(key) not in self._task.parts:
                continue
            if problems := self._setting_problems(key, value, current):
                self._refuse(problems)
            elif current[key] != value:
                self._changed.append(key)
                if not self._task.dry_run:
                    change_settings(self._site.id, {key: value})
                    stored.add(key)
        search_settings.follow(self._site.id, stored)

    def _setting_problems(self, key: str, value: Any, current: Mapping[str, Any]) -> list[Problem]:
        if problem := _setting_problem(key, value):
            return [problem]
        if key == ACCOUNT_SETTING and value != current[key] and not self._task.importer.may_share_accounts:
            return account_problems(self._site.id, value, f"#/settings/{key}")
        return []

    def _take_domains(self, listed: list[Any]) -> None:
        """Take the domains, only where the site's own host is among them: a bundle that goes to another shop than it
        came from must not carry the first one's hosts away."""
        problems: list[Problem] = []
        found = [DOMAIN.read(item, f"#/domains/{index}", problems) for index, item in enumerate(listed)]
        self._refuse(problems)
        hosts = [(index, fields) for index, fields in enumerate(found) if "host" in fields]
        own = {domain.host for domain in self._site.domains}
        if not any(fields["host"] in own for _, fields in hosts):
            return
        for index, fields in hosts:
            try:
                self._take_host(sites.clean_host(fields["host"]), bool(fields.get("primary")))
            except DomainError as refused:
                self._refuse([Problem(refused.code, refused.message, f"#/domains/{index}/host")])

    def _take_host(self, host: str, primary: bool) -> None:
        if all(domain.host != host for domain in self._site.domains):
            self._changed.append(host)
            if self._task.dry_run:
                if sites.site_by_host(host) is not None:
                    raise Conflict(f"{host} belongs to another site.")
                return
            sites.add_domain(self._site, host)
        if primary and self._site.primary_host != host:
            self._changed.append(f"primary host {host}")
            if not self._task.dry_run:
                sites.make_primary(self._site, host)

    def _refuse(self, problems: list[Problem]) -> None:
        if problems and self._document is not None:
            self._task.refuse(SITE_KIND, self._document, problems)


def _capability_problems(names: list[str]) -> list[Problem]:
    if len(names) <= MOST_CAPABILITIES and all(CAPABILITY.fullmatch(name) for name in names):
        return []
    return [Problem("invalid_capability", "Capabilities are words such as TAXONOMY_ENGINE.", "#/capabilities")]


def _setting_problem(key: str, value: Any) -> Problem | None:
    pointer = f"#/settings/{key}"
    setting = SETTINGS.get(key)
    if setting is None:
        return Problem("unknown_setting", f"There is no setting “{key[:64]}”.", pointer)
    if not setting.in_bundles:
        message = "Which taxonomy is active stands in taxonomy.json, at its “active”."
        return Problem("not_here", message, pointer)
    if not setting.accepts(value):
        return Problem("invalid_setting", f"The setting {key} does not take this value.", pointer)
    return None


def site_document(site_id: int, parts: frozenset[Part]) -> dict[str, Any]:
    stored = settings_of(site_id)
    settings = {
        key: stored[key]
        for key, setting in SETTINGS.items()
        if stored[key] != setting.default and setting.in_bundles and part_of_setting(key) in parts
    }
    own = _site_json(db.session.get_one(Site, site_id)) if Part.SITE in parts else {}
    return own | ({"settings": settings} if parts & {Part.SETTINGS, Part.TILL} else {})


def _site_json(site: Site) -> dict[str, Any]:
    return {
        "name": site.name,
        "domains": [{"host": domain.host, "primary": domain.primary} for domain in site.domains],
        "currency": site.currency,
        "timeZone": site.time_zone,
        "staging": site.staging,
        "capabilities": site.capabilities,
    }


def import_users(task: ImportTask) -> None:
    """Import the users, matched by email. A known user keeps name and password, since the account may be used on other
    sites; only the roles on this site become those of the bundle."""
    document = task.documents.get(USERS_FILE)
    if document is None:
        return
    task.report.of(USERS_KIND)
    seen: set[str] = set()
    for index, raw in enumerate(document.content):
        at = f"#/{index}"
        try:
            fields = _read_user(raw, at, seen)
            with task.writing():
                _import_user(task, fields, at)
        except Invalid as refused:
            task.refuse(USERS_KIND, document, refused.problems)


def _read_user(raw: Any, at: str, seen: set[str]) -> dict[str, Any]:
    problems: list[Problem] = []
    fields = USER.read(raw, at, problems)
    if problems:
        raise Invalid(problems)
    email = accounts.normal_email(fields["email"])
    fields["email"] = email
    fields.setdefault("displayName", email)
    found = accounts.user_problems(email, fields["displayName"])
    found += password_problems(fields["password"]) if fields.get("password") is not None else []
    problems += problems_at(at, found)
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
    counts = task.report.of(USERS_KIND)
    user = accounts.find_user(fields["email"])
    wanted = {Role(role) for role in fields["roles"]}
    if fields["email"] in agents_of(task):
        wanted.add(Role.POS_AGENT)
    if user is not None and staff.holds_just(user, task.site_id, wanted):
        counts.note("unchanged", fields["email"])
        return
    if task.importer.user_id is not None and (problems := _rights_problems(task, user, wanted)):
        who = fields["email"]
        raise Invalid([Problem(problem.code, f"{who}: {problem.message}", f"{at}/roles") for problem in problems])
    if user is None:
        counts.note("added", fields["email"])
        if not task.dry_run:
            user = _create_user(task, fields)
    else:
        counts.note("changed", fields["email"])
    if not task.dry_run and user is not None:
        staff.set_roles(task.author, user, wanted)


def _rights_problems(task: ImportTask, user: User | None, wanted: set[Role]) -> list[Problem]:
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


def _create_user(task: ImportTask, fields: dict[str, Any]) -> User:
    password = fields.get("password")
    if password is None:
        task.report.note("Users without a password cannot sign in until one is set.")
    memory_kib = task.password_memory_kib
    return accounts.create_user(task.clock, memory_kib, fields["email"], fields["displayName"], password)


def users_document(site_id: int) -> list[dict[str, Any]]:
    """Return the users of a site with their roles, without passwords."""
    query = (
        select(User.email, User.display_name, RoleGrant.role)
        .join(RoleGrant, RoleGrant.user_id == User.id)
        .where(RoleGrant.site_id == site_id)
        .order_by(User.email, RoleGrant.role)
    )
    users: dict[str, dict[str, Any]] = {}
    for email, display_name, role in db.session.execute(query):
        users.setdefault(email, {"email": email, "displayName": display_name, "roles": []})["roles"].append(role)
    return list(users.values())
