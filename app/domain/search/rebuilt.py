"""Since when the index of products knows what only a rebuild brings into it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from app.domain.search.models import RebuildRun
from app.domain.search.runs import DONE, Scope
from app.extensions import db


def products_rebuilt_since(site_id: int, moment: datetime) -> bool:
    """Whether a rebuild of the products that began after a moment is done. One that began earlier may have read what
    was there before."""
    done = select(RebuildRun.id).where(
        RebuildRun.site_id == site_id,
        RebuildRun.state == DONE,
        RebuildRun.scope.in_((Scope.ALL.value, Scope.PRODUCTS.value)),
        RebuildRun.started_at > moment,
    )
    return db.session.scalar(done.limit(1)) is not None
