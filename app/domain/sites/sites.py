"""Sites and the hosts they answer to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from zoneinfo import available_timezones

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, selectinload

from app.domain.shared import currencies
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.shared.records import existing, flush_or_conflict
from app.domain.shared.text import line_problems, one_line
from app.domain.sites.models import Domain, Site
from app.events import publish
from app.extensions import db

LONGEST_NAME = 200
LONGEST_HOST = 253
TIME_ZONE = "Europe/London"  # Of a new site that names none.
HOST = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*", re.ASCII)
TAKEN = "Another user took this host at the same moment. Nothing was saved."
# What a new site may use unless its plan says otherwise.
CAPABILITIES = ("TAXONOMY_ENGINE",)


@dataclass(frozen=True, slots=True)
class SiteCreated:
    """A site was made. It has nothing yet but its host and name."""

    site_id: int


def clean_host(typed: str) -> str:
    """Return a host as it is stored: lower-case, without final dot; international names in their ASCII form. Raises
    Invalid, also for one with a port, a scheme or a path."""
    host = typed.strip().removesuffix(".").lower()
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            host = ""
    if len(host) > LONGEST_HOST or not HOST.fullmatch(host):
        raise Invalid.one("invalid_host", f"“{typed[:80]}” is not a host name such as shop.example.", "#/host")
    return host


def site_by_host(host: str) -> Site | None:
    """Return the site that answers to a host (as `clean_host` returns it), primary or not; None where there is none."""
    query = select(Site).join(Domain).where(Domain.host == host).options(selectinload(Site.domains))
    return db.session.scalar(query)


def site_at(host: str) -> Site:
    """Return the site at a host. Raises NotFound."""
    return existing(site_by_host(clean_host(host)), f"There is no site at {host[:80]}.")


def all_sites() -> Sequence[Site]:
    """Return all sites in the order in which they were made."""
    return db.session.scalars(select(Site).options(selectinload(Site.domains)).order_by(Site.id)).all()


def currency_of(site_id: int) -> str:
    """Return the currency of a site, an ISO 4217 code in lower case. Raises NotFound."""
    return _value_of(site_id, Site.currency)


def time_zone_of(site_id: int) -> str:
    """Return the time zone of a site, an IANA name. Raises NotFound."""
    return _value_of(site_id, Site.time_zone)


def _value_of(site_id: int, column: InstrumentedAttribute[str]) -> str:
    return existing(db.session.scalar(select(column).where(Site.id == site_id)), "There is no such site.")


def create_site(
    clock: Clock,
    host: str,
    name: str,
    currency: str = "gbp",
    capabilities: Sequence[str] = CAPABILITIES,
    *,
    time_zone: str = TIME_ZONE,
    staging: bool = False,
) -> Site:
    """Return a new site with its primary host. Call it in a transaction. Raises Invalid, and Conflict when the host has
    a site."""
    name, currency = one_line(name), currency.lower()
    of_fields = name_problems(name), currency_problems(currency), time_zone_problems(time_zone)
    if problems := [*host_problems(host), *chain.from_iterable(of_fields)]:
        raise Invalid(problems)
    host = clean_host(host)
    _check_free(host)
    site = Site(name=name, currency=currency, time_zone=time_zone, staging=staging, created_at=clock.now())
    site.capabilities = list(capabilities)
    site.domains = [Domain(host=host, primary=True)]
    db.session.add(site)
    flush_or_conflict(TAKEN)
    publish(SiteCreated(site.id))
    return site


def add_domain(site: Site, host: str) -> None:
    """Add a further host to a site; one that it has already is left as it is. Raises Invalid, Conflict."""
    host = clean_host(host)
    if all(domain.host != host for domain in site.domains):
        _check_free(host)
        site.domains.append(Domain(host=host, primary=False))
        flush_or_conflict(TAKEN)


def make_primary(site: Site, host: str) -> None:
    """Make a host of the site the primary one, to which canonical addresses point. Raises NotFound."""
    if all(domain.host != host for domain in site.domains):
        raise NotFound(f"{host} is not a host of {site.name}.")
    for chosen in (False, True):  # No more than one is primary at any moment.
        for domain in site.domains:
            domain.primary = chosen and domain.host == host
        db.session.flush()


def host_problems(typed: str) -> list[Problem]:
    """Return the problem of a host that `clean_host` refuses."""
    try:
        clean_host(typed)
    except Invalid as refused:
        return list(refused.problems)
    return []


def time_zone_problems(name: str) -> list[Problem]:
    """Return the problem of a time zone that is no IANA name."""
    if name in available_timezones():
        return []
    return [Problem("invalid_time_zone", f"There is no time zone “{name[:64]}”.", "#/timeZone")]


def name_problems(name: str) -> list[Problem]:
    return line_problems(name, "The name of the site", LONGEST_NAME, "#/name", required=True)


def currency_problems(code: str) -> list[Problem]:
    """Return the problem of a currency that does not exist, or that is not written as everywhere here: another form
    would count as another currency, with other decimal places."""
    if code in currencies.NAMES:
        return []
    if code.lower() in currencies.NAMES:
        return [Problem("invalid_currency", f"Write the currency in lower case: {code.lower()}.", "#/currency")]
    message = f"There is no currency “{code[:10]}”. Give the three letters of ISO 4217, such as gbp."
    return [Problem("invalid_currency", message, "#/currency")]


def _check_free(host: str) -> None:
    if db.session.scalar(select(Domain.id).where(Domain.host == host)) is not None:
        raise Conflict(f"{host} belongs to another site.")
