"""The Overview of the Search section: health and size of the index, rebuilds, drift, and the status as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.catalogue.models import Page, Product
from app.domain.relevance.advice import Signs, advise_on_index
from app.domain.search.document_ids import PAGE
from app.domain.search.engine import (
    EngineFault,
    EngineState,
    EngineStatus,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
    ValueFilter,
)
from app.domain.search.index import documents, outbox, runs
from app.domain.search.index.healing import engine_health, lost_indexes
from app.domain.search.index.needed_rebuilds import needed_since
from app.domain.search.index.outbox import SetAside
from app.domain.search.index.rebuild_outcomes import RunSummary, summary_of
from app.domain.search.index.reconcile import DAYS, DriftHistory, drift
from app.domain.search.index.runs import REBUILD
from app.domain.search.models import RebuildRun, ReconcileReport
from app.domain.shared.clock import Clock
from app.domain.shared.paging import Paged
from app.domain.shared.text import numbered
from app.domain.work import leases
from app.domain.work.models import UNFINISHED
from app.extensions import db

RECENT_RUNS = 10
PAGE_SIZE = 50


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
    def engine_fails(self) -> bool:
        """Whether the engine itself has a fault, which no rebuild fixes."""
        return not self.is_healthy and self.status.engine.fault not in (None, EngineFault.INDEX)

    @property
    def was_never_built(self) -> bool:
        return self.status.engine.fault is EngineFault.INDEX and self.run is None

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


def load_overview(clock: Clock, engine: SearchEngine, site_id: int) -> Overview:
    """Return the Overview, whatever state the engine is in."""
    since = clock.now() - timedelta(days=DAYS)
    reports = select(ReconcileReport).where(ReconcileReport.site_id == site_id, ReconcileReport.at > since)
    return Overview(
        status=_search_status(clock, engine, site_id),
        products_shown=_count_shown(Product, site_id),
        pages_shown=_count_shown(Page, site_id),
        run=latest_summary(clock, engine, site_id),
        recent=rebuild_history(clock, engine, site_id, page_size=RECENT_RUNS),
        drift=drift(db.session.scalars(reports).all(), clock.now().date()),
        is_lost=bool(lost_indexes(engine, site_id)),
    )


def _search_status(clock: Clock, engine: SearchEngine, site_id: int) -> SearchStatus:
    products = engine_health(engine, site_id)
    content_search = documents.content_search_is_on(site_id)
    waiting, set_aside = outbox.count(site_id)
    since = outbox.waiting_since(site_id) if waiting else None
    return SearchStatus(
        engine=products,
        products_indexed=products.documents,
        pages_indexed=pages_indexed(engine, site_id) if content_search else None,
        content_search=content_search,
        waiting=waiting,
        held_up=products.documents is not None and since is not None and clock.now() - since > outbox.HELD_UP,
        set_aside=tuple(outbox.set_aside(site_id)) if set_aside else (),
        advice=advice_of(engine, site_id),
    )


def _count_shown(model: type[Product] | type[Page], site_id: int) -> int:
    query = select(func.count()).select_from(model).where(model.site_id == site_id, model.enabled)
    return db.session.scalar(query) or 0


def status_view(engine: SearchEngine, site_id: int, searches_today: int | None = None) -> dict[str, Any]:
    """Return the status as JSON, whatever state the engine is in. `searches_today` is None where it is not counted."""
    products = engine_health(engine, site_id)
    content_search = documents.content_search_is_on(site_id)
    latest = runs.latest_run(site_id)
    return {
        "engine": {"state": products.state.value, "error": products.error},
        "productsIndexed": products.documents,
        "pagesIndexed": pages_indexed(engine, site_id) if content_search else None,
        "contentSearch": content_search,
        "searchesToday": searches_today,
        "latestRun": runs.view(latest) if latest else None,
    }


def pages_indexed(engine: SearchEngine, site_id: int) -> int | None:
    """Return the number of pages in the content index, collections left out; None where there is no such index, also
    while a process still has a lost one open."""
    if engine.status(site_id, IndexName.CONTENT).state is not EngineState.HEALTHY:
        return None
    only_pages = SearchRequest(scope=(ValueFilter("type", (PAGE,)),), per_page=0)
    try:
        return engine.search(site_id, IndexName.CONTENT, only_pages).total
    except SearchUnavailable:
        return None


def advice_of(engine: SearchEngine, site_id: int) -> tuple[str, ...]:
    """Return advice about this site's index, one sentence each; none while a rebuild is unfinished."""
    status = engine_health(engine, site_id)
    latest = runs.latest_run(site_id)
    if status.state is EngineState.NOT_SET_UP or (latest is not None and latest.is_unfinished):
        return ()
    waiting, set_aside = outbox.count(site_id)
    differences = ReconcileReport.missing + ReconcileReport.extra + ReconcileReport.stale
    reports = select(differences).where(ReconcileReport.site_id == site_id)
    latest_report = reports.order_by(ReconcileReport.at.desc(), ReconcileReport.id.desc()).limit(1)
    return advise_on_index(
        Signs(
            products_built=status.documents is not None,
            content_built=not documents.content_search_is_on(site_id)
            or status.fault is EngineFault.CONTENT_INDEX  # It was built; that it is lost is the engine's error.
            or pages_indexed(engine, site_id) is not None,
            rebuild_needed=needed_since(site_id) is not None,
            last_failed=latest is not None and latest.has_failed,
            drift=db.session.scalar(latest_report) or 0,
            waiting=waiting,
            set_aside=set_aside,
        )
    )


def latest_summary(clock: Clock, engine: SearchEngine, site_id: int) -> RunSummary | None:
    run = runs.latest_run(site_id)
    return run_summary(clock, engine, run) if run else None


def run_summary(clock: Clock, engine: SearchEngine, run: RebuildRun) -> RunSummary:
    """Return the summary of the site's latest run, with the state of its indexes where it failed."""
    if not run.has_failed:
        return summary_of(run, is_unanswered=leases.is_unanswered(runs.REBUILD, clock, run))
    states = {index: engine.status(run.site_id, index) for index in IndexName}
    if any(status.fault not in (None, EngineFault.INDEX, EngineFault.DISK_FULL) for status in states.values()):
        return summary_of(run)  # What is live is not known while the engine itself fails.
    live = {str(index): status.generation for index, status in states.items() if status.state is EngineState.HEALTHY}
    return summary_of(run, live)


def rebuild_history(
    clock: Clock, engine: SearchEngine, site_id: int, page_number: int = 1, page_size: int = PAGE_SIZE
) -> Paged[RunSummary]:
    """Return a page of the history, the latest first. Older runs are left out, even while they are stored: the latest
    of a kind, or until the nightly purge."""
    assert REBUILD.kept is not None
    ended_at = func.coalesce(RebuildRun.finished_at, RebuildRun.created_at)
    is_kept = RebuildRun.state.in_(UNFINISHED) | (ended_at >= clock.now() - REBUILD.kept)
    shown = RebuildRun.site_id == site_id, is_kept
    total = db.session.scalar(select(func.count()).select_from(RebuildRun).where(*shown)) or 0
    page = select(RebuildRun).where(*shown).order_by(RebuildRun.created_at.desc(), RebuildRun.id)
    rows = db.session.scalars(page.offset((page_number - 1) * page_size).limit(page_size)).all()
    is_first = page_number == 1
    latest = [run_summary(clock, engine, run) for run in rows[:1] if is_first]
    return Paged([*latest, *map(summary_of, rows[len(latest) :])], page_number, page_size, total)
