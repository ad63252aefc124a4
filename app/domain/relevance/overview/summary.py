"""The summary of a site's latest rebuild; of a failed one with the generations that shoppers search now."""

from __future__ import annotations

from app.domain.search.engine import EngineState, IndexName, SearchEngine
from app.domain.search.index import runs
from app.domain.search.index.rebuild_outcomes import RunSummary, summary_of
from app.domain.search.models import RebuildRun
from app.domain.shared.clock import Clock
from app.domain.work import leases


def latest_summary(clock: Clock, engine: SearchEngine, site_id: int) -> RunSummary | None:
    run = runs.latest_run(site_id)
    return summary(clock, engine, run) if run else None


def summary(clock: Clock, engine: SearchEngine, run: RebuildRun) -> RunSummary:
    """Return the summary of the site's latest run, with the state of its indexes where it failed."""
    if not run.has_failed:
        return summary_of(run, is_unanswered=leases.is_unanswered(runs.REBUILD, clock, run))
    states = {index: engine.status(run.site_id, index) for index in IndexName}
    live = {str(index): status.generation for index, status in states.items() if status.state is EngineState.HEALTHY}
    return summary_of(run, live)
