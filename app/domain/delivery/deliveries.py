"""The delivery of a site: read, saved, and brought back as it was before. Call the writing functions in a
transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select

from app.domain.delivery.declaration import COLLECTION_ONLY, Delivery, delivery_problems, describe_delivery
from app.domain.delivery.models import StoredDelivery
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, NotFound, Problem, StaleRevision
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.sites.sites import currency_of
from app.extensions import db

SUBJECT = ("delivery", "shop")
READABLE = Delivery.schema()


@dataclass(frozen=True, slots=True)
class SavedDelivery:
    """A delivery with its revision, 0 where the site has none of its own; `previous` is what undo brings back."""

    delivery: Delivery
    revision: int = 0
    previous: Delivery | None = None
    updated_at: datetime | None = None
    updated_by: str = ""

    @property
    def can_be_undone(self) -> bool:
        return self.previous is not None and self.previous != self.delivery


def delivery_of(site_id: int) -> Delivery:
    """Return the delivery of a site: collection alone where it was never changed."""
    value = db.session.scalar(select(StoredDelivery.value).where(StoredDelivery.site_id == site_id))
    return COLLECTION_ONLY if value is None else read_stored(value)


def saved_delivery(site_id: int) -> SavedDelivery:
    row = db.session.get(StoredDelivery, site_id)
    if row is None:
        return SavedDelivery(COLLECTION_ONLY)
    value, previous = read_stored(row.value), read_stored(row.previous)
    return SavedDelivery(value, row.revision, previous, row.updated_at, row.updated_by)


def read_stored(value: Mapping[str, Any]) -> Delivery:
    """Return what is stored; what a later release may have written into it is left out."""
    return Delivery.of_json({key: raw for key, raw in value.items() if key in READABLE.fields})


def read_sent(sent: object) -> Delivery:
    """Return a delivery that was sent as JSON, tidied and checked. Raises Invalid with every problem."""
    problems: list[Problem] = []
    fields = READABLE.read(sent, "#", problems)
    if problems:
        raise Invalid(problems)
    delivery = Delivery.of_json(fields).tidied()
    if problems := delivery_problems(delivery):
        raise Invalid(problems)
    return delivery


def save_delivery(author: Author, revision: int | None, wanted: Delivery) -> bool:
    """Save a checked delivery that was read at `revision` (None: at any); return whether anything changed. Raises
    StaleRevision."""
    row = _locked(author.site_id)
    known = COLLECTION_ONLY if row is None else read_stored(row.value)
    current = 0 if row is None else row.revision
    if revision is not None and revision != current:
        who = row.updated_by if row is not None else "Another user"
        raise StaleRevision(f"{who} changed the delivery while you worked on it.", current)
    if wanted == known:
        return False
    _store(author, row, known, wanted)
    _note(author, "delivery.save", "Changed how the shop delivers", known, wanted)
    return True


def undo_save(author: Author, revision: int) -> None:
    """Bring back the delivery before the last save, which undo brings back in turn. Raises NotFound where there is
    none, and StaleRevision."""
    row = _locked(author.site_id)
    if row is None:
        raise NotFound("There is no change of the delivery to undo.")
    if row.revision != revision:
        raise StaleRevision(f"{row.updated_by} changed the delivery since.", row.revision)
    now, before = read_stored(row.value), read_stored(row.previous)
    _store(author, row, now, before)
    _note(author, "delivery.undo", "Undid the last change of how the shop delivers", now, before)


def _locked(site_id: int) -> StoredDelivery | None:
    """Return the row of a site, locked with the site itself, so that of two first saves one waits."""
    db.session.execute(select(Site.id).where(Site.id == site_id).with_for_update(key_share=True))
    query = select(StoredDelivery).where(StoredDelivery.site_id == site_id)
    return db.session.scalar(query.with_for_update().execution_options(populate_existing=True))


def _store(author: Author, row: StoredDelivery | None, before: Delivery, wanted: Delivery) -> None:
    if row is None:
        row = StoredDelivery(site_id=author.site_id, revision=0)
        db.session.add(row)
    row.value, row.previous = wanted.as_json(), before.as_json()
    row.revision += 1
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    db.session.flush()


def _note(author: Author, action: str, summary: str, before: Delivery, after: Delivery) -> None:
    currency = currency_of(author.site_id)
    old, new = describe_delivery(before, currency), describe_delivery(after, currency)
    names = [name for name in old | new if old.get(name) != new.get(name)]
    states = [{name: side.get(name, "") for name in names} for side in (old, new)]
    activity.record(author, action, SUBJECT, summary, states[0], states[1])
