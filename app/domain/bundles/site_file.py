"""Import of site.json: the site that a bundle goes to, its settings and its hosts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from zoneinfo import available_timezones

from app.domain.bundles.parts import Part, part_of_setting
from app.domain.bundles.reading import Document
from app.domain.bundles.report import BrokenBundle
from app.domain.bundles.task import NO_SITE, ImportTask
from app.domain.pos.locations import ACCOUNT_SETTING, account_problems
from app.domain.search import settings as search_settings
from app.domain.shared.problems import Conflict, DomainError, Invalid, Problem
from app.domain.shared.schema import Flag, Items, Object, Record, Text, Texts
from app.domain.sites import sites
from app.domain.sites.models import Domain, Site
from app.domain.sites.settings import SETTINGS, change_settings, settings_of

FILE = "site.json"
KIND = "site"
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
ACTIVE_TAXONOMY = "taxonomy-active-id"
MOST_CAPABILITIES = 20
CAPABILITY = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)


def host_of(document: Document | None, wanted: str | None) -> str:
    """The host of the site to write to: `wanted`, else the primary domain of site.json. Raises Invalid."""
    if wanted is not None:
        return sites.clean_host(wanted)
    if document is None:
        message = f"The bundle has no {FILE} that names the shop's host; say which site it goes to."
        raise Invalid.one("site_missing", message)
    listed = document.content.get("domains")
    domains = [domain for domain in listed if isinstance(domain, dict)] if isinstance(listed, list) else []
    primary = [domain for domain in domains if domain.get("primary")] or domains[:1]
    if not primary or not isinstance(primary[0].get("host"), str):
        raise BrokenBundle.at(document.name, "No primary domain is named under “domains”.")
    return sites.clean_host(primary[0]["host"])


def import_site(task: ImportTask, host: str) -> None:
    """Find or add the site, then give it what site.json says; each field that cannot be taken is left out."""
    document = task.documents.get(FILE)
    counts = task.report.of(KIND)
    with task.writing():
        site = sites.site_by_host(host)
        if site is None:
            counts.note("added", host)
            site = _unsaved(host) if task.dry_run else sites.create_site(task.clock, host, host)
            task.site_id = site.id
            SiteFile(task, document, site).apply()
            return
        task.site_id = site.id
        changed = SiteFile(task, document, site).apply()
        counts.note("changed" if changed else "unchanged", ", ".join(changed))


def _unsaved(host: str) -> Site:
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
            self._take_own(fields)
        self._take_settings(fields.get("settings") or {})
        if Part.SITE in self._task.parts:
            self._take_domains(fields.get("domains") or [])
        return self._changed

    def _take_own(self, fields: dict[str, Any]) -> None:
        self._take("name", fields.get("name"), sites.name_problems)
        self._take("currency", fields.get("currency"), sites.currency_problems)
        self._take("time_zone", fields.get("timeZone"), _time_zone_problems)
        self._take("staging", fields.get("staging"), lambda _: [])
        self._take("capabilities", fields.get("capabilities"), _capability_problems)

    def _take(self, column: str, value: Any, problems_of: Callable[[Any], list[Problem]]) -> None:
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
            self._task.refuse(KIND, self._document, problems)


def _time_zone_problems(name: str) -> list[Problem]:
    if name in available_timezones():
        return []
    return [Problem("invalid_time_zone", f"There is no time zone “{name[:64]}”.", "#/timeZone")]


def _capability_problems(names: list[str]) -> list[Problem]:
    if len(names) <= MOST_CAPABILITIES and all(CAPABILITY.fullmatch(name) for name in names):
        return []
    return [Problem("invalid_capability", "Capabilities are words such as TAXONOMY_ENGINE.", "#/capabilities")]


def _setting_problem(key: str, value: Any) -> Problem | None:
    pointer = f"#/settings/{key}"
    if key == ACTIVE_TAXONOMY:
        message = "Which taxonomy is active stands in taxonomy.json, at its “active”."
        return Problem("not_here", message, pointer)
    setting = SETTINGS.get(key)
    if setting is None:
        return Problem("unknown_setting", f"There is no setting “{key[:64]}”.", pointer)
    if not setting.accepts(value):
        return Problem("invalid_setting", f"The setting {key} does not take this value.", pointer)
    return None
