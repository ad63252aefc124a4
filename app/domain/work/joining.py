"""Work of which a site has one at a time: a further request joins the unfinished one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.work.kinds import W
from app.domain.work.models import LeasedWork, requested_now
from app.domain.work.states import UNFINISHED
from app.extensions import db

ATTEMPTS = 3


def join_or_create(model: type[W], author: Author, **columns: Any) -> tuple[W, bool]:
    """Return the unfinished work of the author's site, or new work with these columns, and whether it is new. The
    table must allow one unfinished row of a site. Call it in a transaction. Raises Conflict where others are quicker
    again and again."""
    unfinished = select(model).where(model.site_id == author.site_id, model.state.in_(UNFINISHED))
    for _ in range(ATTEMPTS):
        under_way = db.session.scalar(unfinished.execution_options(populate_existing=True))
        if under_way is not None:
            return under_way, False
        created = model(**requested_now(author), **columns)
        if insert_alone(created):
            return created, True
    raise Conflict("Others are asking for the same at this moment. Try again.")


def insert_alone(work: LeasedWork) -> bool:
    """Insert new work and return True; False when another request was quicker."""
    try:
        with db.session.begin_nested():
            db.session.add(work)
            db.session.flush()
    except IntegrityError:
        return False
    return True
