"""The values that products lost by a task, kept whole in the activity log: an entry for each batch, in the transaction
in which it happened. So a mistake with thousands of products can be fixed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.portions import portions
from app.domain.shared.records import find_record
from app.domain.sites import audit
from app.domain.sites.models import AuditEntry
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.task_kinds import Kind
from app.domain.taxonomy.tasks.summary import TITLES, only_replaces, products
from app.extensions import db

SUBJECT = "taxonomy_task"
MOST_NAMED = 3  # Attributes, in the summary.

Lost = Mapping[str, Any]  # `productId`, `sku`, `name` and `values`, by attribute id.


@dataclass(frozen=True, slots=True)
class LostValue:
    """A value that a product lost. The names are those of that time; of a loss that an earlier version kept without
    names, they are those that the product and the task have now, empty where those are gone."""

    product_id: int
    product_name: str
    sku: str
    attribute_id: str
    attribute_name: str
    value: Any


def keep(clock: Clock, task: TaxonomyTask, lost: Sequence[Lost]) -> None:
    """Keep the lost values of a batch in the activity log; nothing for a batch that lost nothing."""
    if not lost:
        return
    happened = "had values replaced of" if only_replaces(task.kind, task.parameters) else "lost values of"
    what = f"{TITLES[Kind(task.kind)]}: {products(len(lost))} {happened} {_attributes(task, lost)}"
    subject = (SUBJECT, task.id)
    names = _names(task)
    named = {key: names[key] for one in lost for key in one["values"] if key in names}
    before = {"lost": list(lost), "names": named}
    audit.record(Author(task.site_id, task.requested_by, clock), audit.LOST_VALUES, subject, what, before=before)


def _attributes(task: TaxonomyTask, lost: Sequence[Lost]) -> str:
    names = _names(task)
    found = [names.get(key, key) for key in dict.fromkeys(key for one in lost for key in one["values"])]
    more = len(found) - MOST_NAMED
    rest = f" and {more} more attribute{'s' if more > 1 else ''}" if more > 0 else ""
    return ", ".join(found[:MOST_NAMED]) + rest


def _names(task: TaxonomyTask | None) -> dict[str, str]:
    """Return the names of the attributes that the task has met, by their ids."""
    return dict(task.report.get("names", {})) if task else {}


def entries(site_id: int, task_id: str) -> int:
    """Return the number of log entries with values that products lost by a task: 0 also for a task of another site."""
    return db.session.scalar(select(func.count()).select_from(AuditEntry).where(*_about(site_id, task_id))) or 0


def lost_values(site_id: int, task_id: str) -> Iterator[list[LostValue]]:
    """Yield the lost values of a task batch by batch, as long as the log keeps them."""
    of_task = _names(find_record(TaxonomyTask, site_id, task_id))
    for entry_id in db.session.scalars(select(AuditEntry.id).where(*_about(site_id, task_id)).order_by(AuditEntry.id)):
        found = db.session.scalar(select(AuditEntry.before).where(AuditEntry.id == entry_id)) or {}
        yield _named(site_id, found.get("lost", ()), of_task | found.get("names", {}))


def _named(site_id: int, lost: Sequence[Lost], attributes: Mapping[str, str]) -> list[LostValue]:
    products = _product_names(site_id, [one["productId"] for one in lost if "name" not in one])
    return [
        LostValue(
            one["productId"],
            one["name"] if "name" in one else products.get(one["productId"], ""),
            one["sku"],
            attribute_id,
            attributes.get(attribute_id, ""),
            value,
        )
        for one in lost
        for attribute_id, value in one["values"].items()
    ]


def _product_names(site_id: int, ids: Sequence[int]) -> dict[int, str]:
    named = select(Product.id, Product.name).where(Product.site_id == site_id)
    return {id: name for some in portions(ids) for id, name in db.session.execute(named.where(Product.id.in_(some)))}


def _about(site_id: int, task_id: str) -> tuple[Any, ...]:
    return (
        AuditEntry.site_id == site_id,
        AuditEntry.subject_type == SUBJECT,
        AuditEntry.subject_id == task_id,
        AuditEntry.action == audit.LOST_VALUES,
    )
