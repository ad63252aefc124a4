"""`sitemap build`."""

from __future__ import annotations

import time
from contextlib import suppress

import click
from flask.cli import AppGroup

from app.cli.author import command_author
from app.cli.refusals import REFUSED, reports_refusals
from app.domain.seo.sitemap import builds
from app.domain.seo.sitemap.builds import BuildSummary
from app.domain.shared.text import numbered
from app.domain.sites import sites
from app.domain.work import leases
from app.domain.work.context import read_afresh
from app.operations.work_context import work_context
from app.ports import sitemaps
from app.transaction import transaction

SECONDS_BETWEEN_LOOKS = 0.5

group = AppGroup("sitemap", help="The sitemaps that search engines read.")


@group.command("build")
@click.option("--site", "host", help="Host of the site; without it, all sites but staging ones.")
@reports_refusals
def build_command(host: str | None) -> None:
    """Write the sitemap anew in this process. The exit status is 1 when it failed for a site; the others are done."""
    chosen = [sites.site_at(host)] if host else [site for site in sites.all_sites() if not site.staging]
    failed = [_build(site.id, site.primary_host) for site in chosen].count(False)
    if failed:
        raise SystemExit(REFUSED)


def _build(site_id: int, host: str) -> bool:
    """Write the sitemap of a site, print what came of it, and return whether it succeeded."""
    with transaction():
        build_id = builds.request_build(command_author(site_id), is_noted=True).id
    done = _finished(site_id, build_id)
    if done.has_failed:
        click.echo(f"{host}: {done.error} The previous sitemap is still served.", err=True)
        return False
    click.echo(f"{host}: {numbered(done.done, 'address', 'addresses')} in {numbered(done.files, 'file')}")
    for warning in done.warnings:
        click.echo(f"  {warning}", err=True)
    return True


def _finished(site_id: int, build_id: str) -> BuildSummary:
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
