"""The steps of every save of a record: check that no other save came in between and that its name is free, and
assign what changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.catalogue.models import Product
from app.domain.shared.addresses import free_slug
from app.domain.shared.problems import Problem, StaleRevision
from app.domain.sites.models import AuditEntry
from app.extensions import db

TAKEN_MEANWHILE = "Another user took this SKU or SEO name at the same moment. Nothing was saved."


def check_revision(site_id: int, subject: tuple[str, int], current: int, known: int) -> None:
    """Check the revision of a save. `subject` is (type, id). Raises StaleRevision, which names who saved in between."""
    if current == known:
        return
    who = select(AuditEntry.actor).where(
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == subject[0],
        AuditEntry.subject_id == str(subject[1]),
    )
    actor = db.session.scalar(who.order_by(AuditEntry.id.desc()).limit(1)) or "Another user"
    raise StaleRevision(f"{actor} saved this {subject[0]} while you worked on it.", current)


def assign(record: object, draft: object, fields: Iterable[str]) -> dict[str, Any]:
    """Assign to the record what differs in the draft; return the earlier values of those fields."""
    changed = [name for name in fields if getattr(record, name) != getattr(draft, name)]
    before = {name: getattr(record, name) for name in changed}
    for name in changed:
        setattr(record, name, getattr(draft, name))
    return before


def free_seo_name(site_id: int, wanted: str, title: InstrumentedAttribute[str] = Product.name) -> str:
    """Return `wanted`, with the first free number behind it where one of the site's records of the title's model has
    it."""
    kind = title.class_
    query = select(kind.seo_name).where(
        kind.site_id == site_id,
        (kind.seo_name == wanted) | kind.seo_name.startswith(f"{wanted}-", autoescape=True),
    )
    return free_slug(wanted, set(db.session.scalars(query)))


def seo_name_problems(
    site_id: int, seo_name: str, own_id: int | None, title: InstrumentedAttribute[str]
) -> list[Problem]:
    """Return a problem where another of the site's records of the title's model has the name, else none."""
    kind = title.class_
    query = select(kind.id, title).where(kind.site_id == site_id, kind.seo_name == seo_name)
    return [
        name_taken("SEO name", seo_name, owner, "#/seoName")
        for owner_id, owner in db.session.execute(query)
        if owner_id != own_id
    ]


def name_taken(label: str, name: str, owner: str, pointer: str) -> Problem:
    """Return the problem of a SKU or SEO name that another record, the `owner`, has."""
    return Problem("taken", f"The {label} “{name[:80]}” belongs to “{owner[:80]}”.", pointer)
