"""What the index of products knows: since when what only a rebuild brings into it, and which changes it misses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.search.index import backlog
from app.domain.search.index.runs import Scope
from app.domain.search.models import RebuildRun
from app.domain.shared.clock import Clock
from app.domain.work.states import State
from app.extensions import db


def products_rebuilt_since(site_id: int, moment: datetime) -> bool:
    """Whether a rebuild of the products that began after a moment is done. One that began earlier may have read what
    was there before."""
    done = select(RebuildRun.id).where(
        RebuildRun.site_id == site_id,
        RebuildRun.state == State.DONE,
        RebuildRun.scope.in_((Scope.ALL.value, Scope.PRODUCTS.value)),
        RebuildRun.started_at > moment,
    )
    return db.session.scalar(done.limit(1)) is not None


@dataclass(frozen=True, slots=True)
class Unindexed:
    """How many changes of records are `waiting` to get into search, `held_up` if for minutes already, and how many
    records are `set_aside` because they could not be indexed."""

    waiting: int
    held_up: bool
    set_aside: int

    def __bool__(self) -> bool:
        return bool(self.waiting or self.set_aside)


def unindexed(clock: Clock, site_id: int) -> Unindexed:
    waiting, set_aside = backlog.count(site_id)
    since = backlog.waiting_since(site_id) if waiting else None
    return Unindexed(waiting, since is not None and clock.now() - since > backlog.HELD_UP, set_aside)
