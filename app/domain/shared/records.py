"""The one way to look up a record of a site by its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from sqlalchemy import select
from sqlalchemy.orm.interfaces import ORMOption

from app.domain.shared.problems import NotFound
from app.extensions import db


class OfSite(Protocol):
    """A table whose records belong to sites."""

    id: Any
    site_id: Any


Model = TypeVar("Model", bound=OfSite)
T = TypeVar("T")


def find_record(
    model: type[Model], site_id: int, record_id: int | str, to_change: bool = False, options: Sequence[ORMOption] = ()
) -> Model | None:
    """Return the record of the site, None where it has none of this id. `to_change` locks its row until the end of the
    transaction, and reads it anew."""
    query = select(model).where(model.site_id == site_id, model.id == record_id).options(*options)
    if to_change:
        query = query.with_for_update().execution_options(populate_existing=True)
    return db.session.scalar(query)


def existing(record: T | None, missing: str) -> T:
    """Return the record. Raises NotFound with the sentence `missing` where there is none."""
    if record is None:
        raise NotFound(missing)
    return record
