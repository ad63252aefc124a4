"""`index rebuild`, `index reconcile` and `index status`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import partial

import click
from flask.cli import AppGroup

from app.cli.author import command_author
from app.cli.refusals import REFUSED, reports_refusals
from app.cli.sites import chosen_site, with_site
from app.domain.relevance import golden as golden_check
from app.domain.relevance import overview
from app.domain.relevance.overview import run_summary
from app.domain.search.engine import EngineState
from app.domain.search.index import reconcile, runs
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.rebuild_outcomes import describe_join
from app.domain.search.models import RebuildRun
from app.domain.search_statistics import reports
from app.domain.shared.text import numbered
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.operations.work_context import work_context
from app.ports import clock, search_engine, worker_locks
from app.transaction import transaction

SECONDS_BETWEEN_LOOKS = 0.5

group = AppGroup("index", help="The search indexes of a site.")


@group.command("rebuild")
@with_site
@click.option("--scope", type=click.Choice([*runs.Scope]), default="ALL", show_default=True)
@click.option("--wait", is_flag=True, help="Do it in this process, or follow who does it, until it is done.")
@reports_refusals
def rebuild_command(host: str | None, scope: str, wait: bool) -> None:
    """Build fresh indexes and swap them in. The exit status is 1 when a rebuild that was waited for failed."""
    site_id = chosen_site(host).id
    with transaction():
        run, joined = runs.request_rebuild(command_author(site_id), search_engine(), worker_locks(), scope)
        run_id, news = run.id, describe_join(run) if joined else None
    click.echo(f"{'Joined' if joined else 'Requested'} rebuild {run_id}{f'. {news}' if news else ''}")
    if wait:
        raise SystemExit(max(map(_print_run, _finished_runs(site_id, run_id))))


def _finished_runs(site_id: int, run_id: str) -> Iterator[RebuildRun]:
    """Yield the run once it is finished, then likewise each that was queued behind it."""
    run = finished_run(site_id, run_id)
    yield run
    while (queued := runs.queued_after(run)) is not None:
        run = finished_run(site_id, queued.id)
        yield run


def finished_run(site_id: int, run_id: str) -> RebuildRun:
    """Return the run once it is finished, whichever process finishes it. Runs whose builder died are released or
    expired here, since there may be no scheduler to do it."""
    context = work_context()
    while True:
        rebuild(context, run_id, examine=partial(golden_check.hold_back, context))
        context.commit(lambda: leases.release_dead(runs.REBUILD, context.clock, context.locks))
        context.commit(lambda: runs.expire_runs(context.clock, context.engine))
        read_afresh()
        run = runs.run_of(site_id, run_id)
        if run.finished_at is not None:
            return run
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _print_run(run: RebuildRun) -> int:
    if run.error:
        click.echo(run.error, err=True)
    if run.has_failed:
        click.echo(f"The rebuild failed. {run_summary(clock(), search_engine(), run).aftermath}", err=True)
        return REFUSED
    assert run.started_at and run.finished_at
    seconds = (run.finished_at - run.started_at).total_seconds()
    click.echo(f"Done: {numbered(run.done, 'document')} in {seconds:.1f} s")
    return 0


@group.command("reconcile")
@with_site
@reports_refusals
def reconcile_command(host: str | None) -> None:
    """Compare the indexes with the database and repair what differs."""
    report = reconcile.reconcile(work_context(), chosen_site(host).id)
    if report is None:
        click.echo("There is no index to compare with. Run `index rebuild` first.", err=True)
        raise SystemExit(REFUSED)
    click.echo(f"Repaired: {report.missing:,} missing, {report.extra:,} too many, {report.stale:,} out of date")


@group.command("status")
@with_site
@reports_refusals
def status_command(host: str | None) -> None:
    """The state of search as JSON. The exit status is 1 unless the engine is healthy."""
    site_id = chosen_site(host).id
    view = overview.status_view(search_engine(), site_id, reports.searches_today(clock(), site_id))
    click.echo(json.dumps(view, indent=2, ensure_ascii=False))
    if view["engine"]["state"] != EngineState.HEALTHY:
        raise SystemExit(REFUSED)
