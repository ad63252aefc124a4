"""`search`, and the groups `index` and `sitemap`: what the shop would show for some words, and what its own search and
search engines read."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

import click
from flask.cli import AppGroup, with_appcontext

from app.cli.command import REFUSED, chosen_site, command_author, reports_refusals, with_site
from app.domain.merchandising.shop import Shop, read_shop
from app.domain.relevance import golden, overview
from app.domain.relevance.judgements import guard
from app.domain.relevance.overview import run_summary
from app.domain.search.engine import EngineState
from app.domain.search.index import reconcile, runs
from app.domain.search.index.rebuild import rebuild
from app.domain.search.index.rebuild_outcomes import describe_join
from app.domain.search.listings.browsing import SearchPage, read_request, search_listing
from app.domain.search.models import RebuildRun
from app.domain.search.serving.configuration import served
from app.domain.search.serving.rules import SEARCH_PATH
from app.domain.search_statistics import reports
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import BuildSummary
from app.domain.shared.text import numbered
from app.domain.sites import sites
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.operations.work_context import work_context
from app.ports import clock, machine_id, search_engine, sitemaps, worker_locks
from app.transaction import transaction

SECONDS_BETWEEN_LOOKS = 0.5

index_group = AppGroup("index", help="The search indexes of a site.")

sitemap_group = AppGroup("sitemap", help="The sitemaps that search engines read.")


@click.command("search")
@click.argument("words", nargs=-1)
@with_site
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Products to show.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--batch", is_flag=True, help="Read a query a line from standard input, print one JSON object a line.")
@click.option("--wait-for-meaning", "waits", is_flag=True, help="Wait for the sentence model, however long it takes.")
@with_appcontext
@reports_refusals
def search_command(
    words: tuple[str, ...], host: str | None, limit: int, as_json: bool, batch: bool, waits: bool
) -> None:
    """What the shop would show for WORDS: SKU, name and score of the first products."""
    shop = read_shop(chosen_site(host).id)
    if batch:
        _print_batch(shop, sys.stdin, limit, waits=waits)
        return
    query = " ".join(words)
    page = _search_shop(shop, query, limit, waits=waits)
    if as_json:
        click.echo(json.dumps(_full_view(query, page), ensure_ascii=False))
    else:
        _print_page(query, page)


def _search_shop(shop: Shop, query: str, limit: int, *, waits: bool) -> SearchPage:
    request = replace(read_request(shop, SEARCH_PATH, [("q", query)]), page_size=limit)
    return search_listing(search_engine(), shop, request, served(shop.site_id), clock().now(), patient=waits)


def _print_batch(shop: Shop, lines: Iterable[str], limit: int, *, waits: bool) -> None:
    for line in lines:
        query = line.rstrip("\r\n")
        result = _search_shop(shop, query, limit, waits=waits).listing.result
        skus = [hit.card["sku"] for hit in result.hits]
        click.echo(json.dumps({"query": query, "total": result.total, "skus": skus}, ensure_ascii=False))


def _full_view(query: str, page: SearchPage) -> dict[str, object]:
    result = page.listing.result
    return {
        "query": query,
        "total": result.total,
        "suggestion": result.suggestion,
        "corrected": result.corrected,
        "relaxed": result.relaxed,
        "byMeaningAlone": result.by_meaning_alone,
        "products": [
            {"sku": hit.card["sku"], "name": hit.card["name"], "score": round(hit.score, 4)} for hit in result.hits
        ],
        "similar": [{"sku": hit.card["sku"], "name": hit.card["name"]} for hit in result.similar],
    }


def _print_page(query: str, page: SearchPage) -> None:
    result = page.listing.result
    if result.corrected:
        click.echo(f"Nothing is called “{query}”; searched for “{result.suggestion}”.", err=True)
    elif result.suggestion:
        click.echo(f"Did you mean “{result.suggestion}”?", err=True)
    for hit in result.hits:
        click.echo(f"{hit.card['sku']}\t{hit.card['name']}\t{hit.score:.4f}")
    for hit in result.similar:
        click.echo(f"{hit.card['sku']}\t{hit.card['name']}\tsimilar")
    click.echo(f"{len(result.hits):,} of {result.total:,}", err=True)


@index_group.command("rebuild")
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
        examine, judge = partial(golden.hold_back, context), partial(guard.hold_back, context)
        rebuild(context, run_id, examine=examine, judge=judge)
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


@index_group.command("reconcile")
@with_site
@reports_refusals
def reconcile_command(host: str | None) -> None:
    """Compare the indexes with the database and repair what differs."""
    report = reconcile.reconcile(work_context(), chosen_site(host).id)
    if report is None:
        click.echo("There is no index to compare with. Run `index rebuild` first.", err=True)
        raise SystemExit(REFUSED)
    click.echo(f"Repaired: {report.missing:,} missing, {report.extra:,} too many, {report.stale:,} out of date")


@index_group.command("status")
@with_site
@reports_refusals
def status_command(host: str | None) -> None:
    """The state of search as JSON. The exit status is 1 unless the engine is healthy."""
    site_id = chosen_site(host).id
    view = overview.status_view(search_engine(), site_id, reports.searches_today(clock(), site_id))
    click.echo(json.dumps(view, indent=2, ensure_ascii=False))
    if view["engine"]["state"] != EngineState.HEALTHY:
        raise SystemExit(REFUSED)


@sitemap_group.command("build")
@click.option("--site", "host", help="Host of the site; without it, all sites but staging ones.")
@reports_refusals
def build_command(host: str | None) -> None:
    """Write the sitemap anew in this process. The exit status is 1 when it failed for a site; the others are done."""
    chosen = [sites.site_at(host)] if host else [site for site in sites.all_sites() if not site.staging]
    failed = [_build_sitemap(site.id, site.primary_host) for site in chosen].count(False)
    if failed:
        raise SystemExit(REFUSED)


def _build_sitemap(site_id: int, host: str) -> bool:
    """Write the sitemap of a site, print what came of it, and return whether it succeeded."""
    with transaction():
        build_id = builds.request_build(command_author(site_id), machine_id(), is_noted=True).id
    done = _finished_build(site_id, build_id)
    if done.has_failed:
        click.echo(f"{host}: {done.error} The previous sitemap is still served.", err=True)
        return False
    click.echo(f"{host}: {numbered(done.done, 'address', 'addresses')} in {numbered(done.files, 'file')}")
    for warning in done.warnings:
        click.echo(f"  {warning}", err=True)
    return True


def _finished_build(site_id: int, build_id: str) -> BuildSummary:
    """Return the build once it has ended, whichever process ends it."""
    context = work_context()
    while True:
        with suppress(Exception):  # Its row says why.
            builds.run_build(context, sitemaps(), build_id)
        context.commit(lambda: leases.release_dead(builds.SITEMAP, context.clock, context.locks))
        context.commit(lambda: leases.expire(builds.SITEMAP, context.clock))
        read_afresh()
        summary = builds.build_of(context.clock, site_id, build_id)
        if not summary.is_unfinished:
            return summary
        time.sleep(SECONDS_BETWEEN_LOOKS)
