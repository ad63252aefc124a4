"""The Overview of the Search section: health, size of the index, rebuilds, drift."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, select

from app.domain.catalogue.models import Page, Product
from app.domain.relevance.overview.rebuilds import rebuilds
from app.domain.relevance.overview.status import advice_of, pages_indexed
from app.domain.relevance.overview.summary import latest_summary
from app.domain.search.engine import EngineState, EngineStatus, IndexName, SearchEngine
from app.domain.search.index import backlog, documents
from app.domain.search.index.backlog import SetAside
from app.domain.search.index.healing import lost_indexes
from app.domain.search.index.rebuild_outcomes import RunSummary
from app.domain.search.index.reconcile import DAYS, DriftHistory, drift
from app.domain.search.models import ReconcileReport
from app.domain.shared.clock import Clock
from app.domain.shared.counts import numbered
from app.domain.shared.paging import Paged
from app.extensions import db

RECENT_RUNS = 10


@dataclass(frozen=True, slots=True)
class SearchStatus:
    """The state of the index: its documents, None where there is no index or, for pages, content search is off; the
    number of changes `waiting` for it, `held_up` if they have waited for minutes; and the records that could not be
    indexed."""

    engine: EngineStatus
    products_indexed: int | None
    pages_indexed: int | None
    content_search: bool
    waiting: int
    held_up: bool
    set_aside: tuple[SetAside, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """The Overview of the Search section. `products_shown` and `pages_shown` count the catalogue, `status` the index.
    `run` is the latest rebuild, `recent` the first of the history. `is_lost`: an index was built and cannot be read
    now; the shop rebuilds it by itself."""

    status: SearchStatus
    products_shown: int
    pages_shown: int
    run: RunSummary | None
    recent: Paged[RunSummary]
    drift: DriftHistory
    is_lost: bool

    @property
    def is_healthy(self) -> bool:
        return self.status.engine.state is EngineState.HEALTHY

    @property
    def is_set_up(self) -> bool:
        return self.status.engine.state is not EngineState.NOT_SET_UP

    @property
    def was_never_built(self) -> bool:
        return self.is_set_up and not self.is_healthy and self.run is None

    @property
    def backlog_warning(self) -> str | None:
        """A warning where changes wait too long for the index and no rebuild is under way, else None."""
        if not self.status.held_up or (self.run and self.run.is_unfinished):
            return None
        changes = "1 change waits" if self.status.waiting == 1 else f"{self.status.waiting:,} changes wait"
        return f"{changes} for more than two minutes to get into search. See whether the worker is running."

    @property
    def stale_warnings(self) -> tuple[str, ...]:
        """A warning for each index whose size differs from the catalogue's, though no change waits for it and no
        rebuild is under way."""
        status = self.status
        is_moving = status.waiting or status.set_aside or (self.run and self.run.is_unfinished)
        if is_moving or not self.is_healthy:
            return ()
        compared = (
            ("product", status.products_indexed, self.products_shown, "product"),
            ("content", status.pages_indexed, self.pages_shown, "page"),
        )
        return tuple(
            f"The {index} index is out of date: {numbered(indexed, record)} in it, {shown:,} in the shop. Rebuild it."
            for index, indexed, shown, record in compared
            if indexed is not None and indexed != shown
        )

    @property
    def products_note(self) -> str:
        """Comparison of the index with the catalogue."""
        if self.status.products_indexed == self.products_shown:
            return "all that the shop shows"
        waiting = "; changes are on their way" if self.status.waiting else ""
        return f"of {self.products_shown:,} that the shop shows{waiting}"


def overview(clock: Clock, engine: SearchEngine, site_id: int) -> Overview:
    """Return the Overview, whatever state the engine is in."""
    return Overview(
        status=_status(clock, engine, site_id),
        products_shown=_shown(Product, site_id),
        pages_shown=_shown(Page, site_id),
        run=latest_summary(clock, engine, site_id),
        recent=rebuilds(clock, engine, site_id, page_size=RECENT_RUNS),
        drift=_drift(clock, site_id),
        is_lost=bool(lost_indexes(engine, site_id)),
    )


def _status(clock: Clock, engine: SearchEngine, site_id: int) -> SearchStatus:
    products = engine.status(site_id, IndexName.PRODUCTS)
    content_search = documents.content_search_is_on(site_id)
    waiting, set_aside = backlog.count(site_id)
    since = backlog.waiting_since(site_id) if waiting else None
    return SearchStatus(
        engine=products,
        products_indexed=products.documents,
        pages_indexed=pages_indexed(engine, site_id) if content_search else None,
        content_search=content_search,
        waiting=waiting,
        held_up=products.documents is not None and since is not None and clock.now() - since > backlog.HELD_UP,
        set_aside=tuple(backlog.set_aside(site_id)) if set_aside else (),
        advice=advice_of(engine, site_id),
    )


def _drift(clock: Clock, site_id: int) -> DriftHistory:
    since = clock.now() - timedelta(days=DAYS)
    reports = select(ReconcileReport).where(ReconcileReport.site_id == site_id, ReconcileReport.at > since)
    return drift(db.session.scalars(reports).all(), clock.now().date())


def _shown(model: type[Product] | type[Page], site_id: int) -> int:
    query = select(func.count()).select_from(model).where(model.site_id == site_id, model.enabled)
    return db.session.scalar(query) or 0
