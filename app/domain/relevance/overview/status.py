"""Status of a site's search, for the Overview and its JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from app.domain.merchandising.models import Node, Tree
from app.domain.relevance.overview.advice import Signs, advise
from app.domain.search.engine import (
    EngineState,
    IndexName,
    SearchEngine,
    SearchRequest,
    SearchUnavailable,
    ValueFilter,
)
from app.domain.search.index import backlog, documents, runs
from app.domain.search.index.outbox import PAGE
from app.domain.search.models import RebuildRun, ReconcileReport
from app.domain.taxonomy.taxonomies import active_taxonomy
from app.domain.work.states import State
from app.extensions import db


def status_view(engine: SearchEngine, site_id: int, searches_today: int | None = None) -> dict[str, Any]:
    """Return the status as JSON, whatever state the engine is in. `searches_today` is None where it is not counted."""
    products = engine.status(site_id, IndexName.PRODUCTS)
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
    """Return the number of pages in the content index, collections left out; None where there is no such index."""
    only_pages = SearchRequest(scope=(ValueFilter("type", (PAGE,)),), per_page=0)
    try:
        return engine.search(site_id, IndexName.CONTENT, only_pages).total
    except SearchUnavailable:
        return None


def advice_of(engine: SearchEngine, site_id: int) -> tuple[str, ...]:
    """Return advice about this site's index, one sentence each; none while a rebuild is unfinished."""
    status = engine.status(site_id, IndexName.PRODUCTS)
    latest = runs.latest_run(site_id)
    if status.state is EngineState.NOT_SET_UP or (latest is not None and latest.is_unfinished):
        return ()
    waiting, set_aside = backlog.count(site_id)
    return advise(
        Signs(
            products_built=status.documents is not None,
            content_built=not documents.content_search_is_on(site_id) or pages_indexed(engine, site_id) is not None,
            arranged_since=_arranged_since_rebuild(site_id),
            last_failed=latest is not None and latest.has_failed,
            drift=_last_drift(site_id),
            waiting=waiting,
            set_aside=set_aside,
        )
    )


def _last_drift(site_id: int) -> int:
    found = ReconcileReport.missing + ReconcileReport.extra + ReconcileReport.stale
    reports = select(found).where(ReconcileReport.site_id == site_id)
    return db.session.scalar(reports.order_by(ReconcileReport.at.desc(), ReconcileReport.id.desc()).limit(1)) or 0


def _arranged_since_rebuild(site_id: int) -> bool:
    """Whether categories or the active taxonomy changed after the last finished rebuild of the products began."""
    last = _last_product_rebuild(site_id)
    if last is None or last.started_at is None:
        return False
    taxonomy = active_taxonomy(site_id)
    changed = [_last_change(Tree, site_id), _last_change(Node, site_id), taxonomy.updated_at if taxonomy else None]
    is_another = last.taxonomy_id != (taxonomy.id if taxonomy else None)
    return is_another or any(moment > last.started_at for moment in changed if moment)


def _last_product_rebuild(site_id: int) -> RebuildRun | None:
    query = select(RebuildRun).where(
        RebuildRun.site_id == site_id,
        RebuildRun.state == State.DONE,
        RebuildRun.scope.in_((runs.Scope.ALL, runs.Scope.PRODUCTS)),
    )
    return db.session.scalar(query.order_by(RebuildRun.created_at.desc()).limit(1))


def _last_change(model: type[Tree] | type[Node], site_id: int) -> datetime | None:
    return db.session.scalar(select(func.max(model.updated_at)).where(model.site_id == site_id))
