"""The state of the index of products: since when it has what only a rebuild brings into it, and which changes it
misses."""

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

OF_PRODUCTS = (Scope.ALL.value, Scope.PRODUCTS.value)


def products_rebuilt_since(site_id: int, moment: datetime) -> bool:
    """Whether a rebuild of the products that began after a moment is done. One that began earlier may have read what
    was there before."""
    done = select(RebuildRun.id).where(
        RebuildRun.site_id == site_id,
        RebuildRun.state == State.DONE,
        RebuildRun.scope.in_(OF_PRODUCTS),
        RebuildRun.started_at > moment,
    )
    return db.session.scalar(done.limit(1)) is not None


def latest_of_products(site_id: int) -> RebuildRun | None:
    """Return the latest rebuild that is of the products, among others perhaps."""
    query = select(RebuildRun).where(RebuildRun.site_id == site_id, RebuildRun.scope.in_(OF_PRODUCTS))
    return db.session.scalar(query.order_by(RebuildRun.created_at.desc(), RebuildRun.id).limit(1))


def brings_products_of(run: RebuildRun, moment: datetime) -> bool:
    """Whether a rebuild brings the products as they were at a moment into the index, once it is done."""
    return run.scope in OF_PRODUCTS and (run.started_at is None or run.started_at > moment)


def is_followed_by_products(run: RebuildRun) -> bool:
    """Whether a rebuild of the products is queued behind an unfinished one."""
    return run.is_unfinished and run.queued_scope in OF_PRODUCTS


@dataclass(frozen=True, slots=True)
class Unindexed:
    """Numbers of changes of records that are `waiting` to get into search, `held_up` if for minutes already, and of
    records that are `set_aside` because they could not be indexed."""

    waiting: int
    held_up: bool
    set_aside: int

    def __bool__(self) -> bool:
        return bool(self.waiting or self.set_aside)


def unindexed(clock: Clock, site_id: int) -> Unindexed:
    waiting, set_aside = backlog.count(site_id)
    since = backlog.waiting_since(site_id) if waiting else None
    return Unindexed(waiting, since is not None and clock.now() - since > backlog.HELD_UP, set_aside)
