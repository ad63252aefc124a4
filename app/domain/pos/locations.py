"""The places where a site takes payments, and the processor's accounts that receive their money.

A location exists at the processor too, under the id by which clients name it. Sites share an account only where a
superadmin allows it, as for a merchant with two shops, since a site reads and compares all that its account holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.domain.pos.models import PosLocation, PosTransaction
from app.domain.pos.processor import AccountRef, Address, PaymentProcessor
from app.domain.pos.rules import LocationFields, clean_location, id_problems, location_problems
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem, StaleRevision
from app.domain.shared.records import existing, flush_or_conflict
from app.domain.sites import activity
from app.domain.sites.models import Setting, Site
from app.domain.sites.settings import SiteSettings, settings_of
from app.extensions import db

ACCOUNT_SETTING = "posProcessorAccountId"
OWN_ACCOUNT = ""  # The platform's own, which every site without a setting uses.
LOCATION_SETTING = "posProcessorLocationId"
HERE_ALREADY = "This shop has a location of this id already."
TAKEN = "Another shop has this location. A superadmin may enter it, if the shops are of one merchant."
ACCOUNT = "#/processorAccountId"
MISSING = "There is no such location in this shop."
STALE = "Another user changed this location at the same moment. Look at it again and repeat your change."
# The country of the first location, of which only the id is known.
COUNTRY_OF = {"gbp": "GB", "usd": "US", "cad": "CA", "aud": "AU", "nzd": "NZ", "chf": "CH"}
Transaction = Callable[[], AbstractContextManager[None]]


def list_locations(site_id: int, enabled_only: bool = False) -> Sequence[PosLocation]:
    """Return the locations of a site by name."""
    query = select(PosLocation).where(PosLocation.site_id == site_id)
    if enabled_only:
        query = query.where(PosLocation.enabled)
    return db.session.scalars(query.order_by(PosLocation.display_name, PosLocation.id)).all()


def find_location(site_id: int, location_id: str, to_change: bool = False) -> PosLocation | None:
    """Return the location of the id that clients know, None where there is none."""
    wanted = (PosLocation.site_id == site_id, PosLocation.location_id == location_id)
    query = select(PosLocation).where(*wanted)
    return db.session.scalar(query.with_for_update() if to_change else query)


def location_at(site_id: int, location_id: str, to_change: bool = False) -> PosLocation:
    """Return the location of the id that clients know. Raises NotFound."""
    found = find_location(site_id, location_id, to_change)
    if found is None:
        raise NotFound(MISSING, "location_not_found")
    return found


def taken_problems(site_id: int, location_id: str, pointer: str) -> list[Problem]:
    """Return the problems of the id of a location that is new to a site: the processor's ids are unique, so one that
    another shop has is that shop's place."""
    others = select(PosLocation.id).where(PosLocation.location_id == location_id, PosLocation.site_id != site_id)
    taken = db.session.scalar(others.limit(1)) is not None
    return [Problem("location_taken", TAKEN, pointer)] if taken else []


def add(
    author: Author,
    transaction: Transaction,
    processor: PaymentProcessor,
    fields: LocationFields,
    location_id: str | None = None,
    may_share: bool = False,
) -> PosLocation:
    """Create a location at the processor, outside any transaction, or take over the one that has `location_id` there.
    `may_share`: also with an account that another site uses. Raises Invalid, Conflict and ProcessorError."""
    if location_id is None:
        fields = _cleaned_fields(fields)
        with transaction():
            _check_account(author.site_id, fields, may_share)
            account = account_of(fields.processor_account_id, settings_of(author.site_id))
        location_id = processor.create_location(AccountRef(account), fields.display_name, fields.address)
    with transaction():
        return take_over(author, location_id, fields, may_share)


def take_over(author: Author, location_id: str, fields: LocationFields, may_share: bool = False) -> PosLocation:
    """Add a location that exists at the processor. `may_share`: also one that another site has, or with its account.
    Raises Invalid and Conflict."""
    fields = clean_location(fields)
    problems = [*location_problems(fields), *id_problems(location_id, "The id of the location", "#/id")]
    if not may_share:
        problems += taken_problems(author.site_id, location_id, "#/id")
        problems += account_problems(author.site_id, fields.processor_account_id, ACCOUNT)
    if problems:
        raise Invalid(problems)
    if find_location(author.site_id, location_id) is not None:
        raise Conflict(HERE_ALREADY)
    now = author.now()
    location = PosLocation(site_id=author.site_id, location_id=location_id, created_at=now, updated_at=now)
    _write_fields(location, fields)
    db.session.add(location)
    flush_or_conflict(HERE_ALREADY)
    _record(
        author,
        location,
        "pos_location.add",
        f"Added the location {location.display_name}",
        after=logged_location(location),
    )
    return location


def edit(
    author: Author, location_id: str, revision: int, fields: LocationFields, enabled: bool, may_share: bool = False
) -> bool:
    """Save a location; return whether anything changed. `may_share`: also with an account that another site uses.
    Raises NotFound, Invalid and StaleRevision."""
    location = location_at(author.site_id, location_id, to_change=True)
    if location.revision != revision:
        raise StaleRevision(STALE, location.revision)
    fields, before = _cleaned_fields(fields), logged_location(location)
    _check_account(author.site_id, fields, may_share or fields.processor_account_id == location.processor_account_id)
    _write_fields(location, fields)
    location.enabled = enabled
    after = logged_location(location)
    changed = [name for name in after if after[name] != before[name]]
    if changed:
        location.revision, location.updated_at = location.revision + 1, author.now()
        old, new = ({name: facts[name] for name in changed} for facts in (before, after))
        _record(author, location, "pos_location.save", f"Changed the location {location.display_name}", old, new)
    return bool(changed)


def seed_first(author: Author) -> PosLocation | None:
    """Add the location that the setting names; return None where it names none or the site has it already. The till's
    app needs one. Sharing is not checked again: it was when the setting was saved."""
    location_id = settings_of(author.site_id)[LOCATION_SETTING]
    site = existing(db.session.get(Site, author.site_id), "There is no such site.")
    if not location_id or find_location(site.id, location_id) is not None:
        return None
    country = COUNTRY_OF.get(site.currency, "GB" if site.time_zone == "Europe/London" else "IE")
    return take_over(author, location_id, LocationFields(site.name[:100], Address(country=country)), may_share=True)


def _cleaned_fields(fields: LocationFields) -> LocationFields:
    """Return the fields as they are stored. Raises Invalid with every problem."""
    fields = clean_location(fields)
    if problems := location_problems(fields):
        raise Invalid(problems)
    return fields


def _check_account(site_id: int, fields: LocationFields, may_share: bool) -> None:
    problems = [] if may_share else account_problems(site_id, fields.processor_account_id, ACCOUNT)
    if problems:
        raise Invalid(problems)


def _write_fields(location: PosLocation, fields: LocationFields) -> None:
    location.display_name, location.processor_account_id = fields.display_name, fields.processor_account_id
    for part, text in asdict(fields.address).items():
        setattr(location, part, text)


def logged_location(location: PosLocation) -> dict[str, Any]:
    """Return the fields of a location as the activity log has them."""
    address = location.address
    return {
        "displayName": location.display_name,
        "line1": address.line1,
        "line2": address.line2,
        "city": address.city,
        "state": address.state,
        "postalCode": address.postal_code,
        "country": address.country,
        "processorAccountId": location.processor_account_id,
        "enabled": location.enabled,
    }


def read_logged(values: Mapping[str, Any]) -> tuple[LocationFields, bool]:
    """Return the fields of a location of their form in the activity log, and whether it is enabled."""
    parts = (values[name] for name in ("line1", "line2", "city", "state", "postalCode", "country"))
    fields = LocationFields(values["displayName"], Address(*parts), values["processorAccountId"])
    return fields, values["enabled"]


def _record(
    author: Author, location: PosLocation, action: str, summary: str, before: object = None, after: object = None
) -> None:
    activity.record(author, action, ("pos_location", location.location_id[:120]), summary, before, after)


def account_of(own: str | None, settings: SiteSettings) -> str:
    """Return the account for payments at a location: `own` of the location, else the site's, else "", the platform's
    own."""
    return own or settings[ACCOUNT_SETTING] or ""


def account_problems(site_id: int, account_id: str | None, pointer: str) -> list[Problem]:
    """Return the problems of an account that is new to a site: no other site may use it, or have taken payments on
    it."""
    if not account_id or not _is_of_another(site_id, account_id):
        return []
    message = "Another shop uses this account. A superadmin may enter it, if the shops are of one merchant."
    return [Problem("account_taken", message, pointer)]


def _is_of_another(site_id: int, account_id: str) -> bool:
    settings = select(Setting.value).where(Setting.key == ACCOUNT_SETTING, Setting.site_id != site_id)
    if account_id in db.session.scalars(settings).all():
        return True
    located = PosLocation.site_id != site_id, PosLocation.processor_account_id == account_id
    used = PosTransaction.site_id != site_id, PosTransaction.processor_account_id == account_id
    of_others = select(PosLocation.id).where(*located), select(PosTransaction.id).where(*used)
    return any(db.session.scalar(query.limit(1)) is not None for query in of_others)


def site_of_account(account_id: str) -> int | None:
    """Return the site that an account belongs to: by the site's setting, or by a location. None for an account of
    no site, and for the platform's own, which belongs to all."""
    if account_id == OWN_ACCOUNT:
        return None
    settings = select(Setting.site_id, Setting.value).where(Setting.key == ACCOUNT_SETTING).order_by(Setting.site_id)
    for site_id, value in db.session.execute(settings):
        if value == account_id:
            return int(site_id)
    located = select(PosLocation.site_id).where(PosLocation.processor_account_id == account_id)
    used = select(PosTransaction.site_id).where(PosTransaction.processor_account_id == account_id)
    return db.session.scalar(located.limit(1)) or db.session.scalar(used.limit(1))


def accounts_of(site_id: int, processor: str, since: datetime, until: datetime) -> list[str]:
    """Return the accounts, sorted, that payments of the site were made on between two times, and those of its earlier
    or later payments that the site still uses."""
    of_site = PosTransaction.site_id == site_id, PosTransaction.processor == processor
    within = PosTransaction.created_at >= since, PosTransaction.created_at < until
    used = select(PosTransaction.processor_account_id).where(*of_site).distinct()
    lately = set(db.session.scalars(used.where(*within)))
    setting = select(Setting.value).where(Setting.site_id == site_id, Setting.key == ACCOUNT_SETTING)
    located = select(PosLocation.processor_account_id).where(PosLocation.site_id == site_id)
    current = {str(db.session.scalar(setting) or OWN_ACCOUNT), *filter(None, db.session.scalars(located))}
    return sorted(lately | (set(db.session.scalars(used)) & current))
