"""The places where a site takes cards. Each exists at the processor too, under the id by which clients name it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from sqlalchemy import select

from app.domain.pos.location_rules import LocationFields, cleaned, id_problems, location_problems
from app.domain.pos.merchant_accounts import account_of, account_problems
from app.domain.pos.models import PosLocation
from app.domain.pos.processor import AccountRef, Address, PaymentProcessor
from app.domain.shared.author import Author
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem, StaleRevision
from app.domain.shared.records import existing
from app.domain.sites import audit
from app.domain.sites.models import Site
from app.domain.sites.settings import settings_of
from app.extensions import db

LOCATION_SETTING = "posProcessorLocationId"
HERE_ALREADY = "This shop has a location of this id already."
TAKEN = "Another shop has this location. A superadmin may enter it, if the shops are of one merchant."
ACCOUNT = "#/processorAccountId"
MISSING = "There is no such location in this shop."
STALE = "Another user changed this location at the same moment. Look at it again and repeat your change."
# The country of the first location, of which only the id is known.
COUNTRY_OF = {"gbp": "GB", "usd": "US", "cad": "CA", "aud": "AU", "nzd": "NZ", "chf": "CH"}
Transaction = Callable[[], AbstractContextManager[None]]


def locations(site_id: int, enabled_only: bool = False) -> Sequence[PosLocation]:
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
        fields = _checked(fields)
        with transaction():
            _check_account(author.site_id, fields, may_share)
            account = account_of(fields.processor_account_id, settings_of(author.site_id))
        location_id = processor.create_location(AccountRef(account), fields.display_name, fields.address)
    with transaction():
        return take_over(author, location_id, fields, may_share)


def take_over(author: Author, location_id: str, fields: LocationFields, may_share: bool = False) -> PosLocation:
    """Add a location that exists at the processor. `may_share`: also one that another site has, or with its account.
    Raises Invalid and Conflict."""
    fields = cleaned(fields)
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
    _write(location, fields)
    db.session.add(location)
    flush_or_conflict(HERE_ALREADY)
    _note(author, location, "pos_location.add", f"Added the location {location.display_name}", after=_facts(location))
    return location


def edit(
    author: Author, location_id: str, revision: int, fields: LocationFields, enabled: bool, may_share: bool = False
) -> bool:
    """Save a location; return whether anything changed. `may_share`: also with an account that another site uses.
    Raises NotFound, Invalid and StaleRevision."""
    location = location_at(author.site_id, location_id, to_change=True)
    if location.revision != revision:
        raise StaleRevision(STALE, location.revision)
    fields, before = _checked(fields), _facts(location)
    _check_account(author.site_id, fields, may_share or fields.processor_account_id == location.processor_account_id)
    _write(location, fields)
    location.enabled = enabled
    after = _facts(location)
    changed = [name for name in after if after[name] != before[name]]
    if changed:
        location.revision, location.updated_at = location.revision + 1, author.now()
        old, new = ({name: facts[name] for name in changed} for facts in (before, after))
        _note(author, location, "pos_location.save", f"Changed the location {location.display_name}", old, new)
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


def _checked(fields: LocationFields) -> LocationFields:
    fields = cleaned(fields)
    if problems := location_problems(fields):
        raise Invalid(problems)
    return fields


def _check_account(site_id: int, fields: LocationFields, may_share: bool) -> None:
    problems = [] if may_share else account_problems(site_id, fields.processor_account_id, ACCOUNT)
    if problems:
        raise Invalid(problems)


def _write(location: PosLocation, fields: LocationFields) -> None:
    location.display_name, location.processor_account_id = fields.display_name, fields.processor_account_id
    for part in ("line1", "line2", "city", "state", "postal_code", "country"):
        setattr(location, part, getattr(fields.address, part))


def _facts(location: PosLocation) -> dict[str, object]:
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


def _note(
    author: Author, location: PosLocation, action: str, summary: str, before: object = None, after: object = None
) -> None:
    audit.record(author, action, ("pos_location", location.location_id[:120]), summary, before, after)
