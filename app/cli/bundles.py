"""The groups `bundle` and `demo`: a whole shop, or a part of it, in, out and from site to site; a shop to look at."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import click
from flask import current_app
from flask.cli import AppGroup

from app.cli.command import ACTOR, chosen_site, command_author, reports_refusals, with_site
from app.config import Config
from app.demo.shop import HOST, create_demo
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.exporter import export_bundle
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.parts import OF_AN_ADMIN, TRANSFERRED, Importer, Part, in_order
from app.domain.bundles.report import BundleReport
from app.domain.bundles.runner import request_reindex
from app.domain.bundles.transfer import transfer
from app.domain.search.index import runs
from app.domain.shared.problems import Conflict
from app.domain.sites import sites
from app.domain.sites.sites import site_at
from app.operations.work_context import work_context
from app.ports import clock, images, search_engine, worker_locks
from app.transaction import transaction

bundle_group = AppGroup("bundle", help="Move a shop, or a part of it, in and out.")
demo_group = AppGroup("demo", help="A shop to look at.")
MOST_REFUSALS = 20


@bundle_group.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--site", "host", help="Host of the site to write to; made where there is none.")
@click.option("--dry-run", is_flag=True, help="Write nothing, say what would happen.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@reports_refusals
def import_command(path: Path, host: str | None, dry_run: bool, as_json: bool) -> None:
    """Take the bundle at PATH (a folder or a .zip of it) into a site.

    Without --site the primary domain in site.json names the site. Records that break a rule are reported
    and left out; the same bundle twice changes nothing.
    """
    config: Config = current_app.config["SHOP"]
    report = import_bundle(path, host, clock(), images(), transaction, ACTOR, config.password_memory_kib, dry_run)
    _print_as_requested(report, as_json)


def _print_as_requested(report: BundleReport, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print_report(report)


def _read_parts(_context: click.Context, _parameter: click.Parameter, listed: str) -> frozenset[Part]:
    """Return the parts in a comma-separated list. Raises BadParameter."""
    names = {name.strip() for name in listed.split(",") if name.strip()}
    if unknown := names - set(OF_AN_ADMIN):
        raise click.BadParameter(f"There is no part {', '.join(sorted(unknown))}.")
    return frozenset(map(Part, names))


@bundle_group.command("transfer")
@click.argument("source", metavar="FROM_HOST")
@click.argument("target", metavar="TO_HOST")
@click.option(
    "--parts",
    default=",".join(in_order(TRANSFERRED)),
    show_default=True,
    callback=_read_parts,
    help="Those to carry, separated by commas; till and users only where named.",
)
@click.option("--remove", is_flag=True, help="Remove categories that the trees of FROM_HOST do not have.")
@click.option("--dry-run", is_flag=True, help="Write nothing, say what would happen.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@reports_refusals
def transfer_command(
    source: str, target: str, parts: frozenset[Part], remove: bool, dry_run: bool, as_json: bool
) -> None:
    """Carry parts of the site at FROM_HOST, such as a staging site, to the site at TO_HOST.

    Orders, payments, hosts and the staging flag stay with their sites. Nothing is removed without --remove, and with
    it nothing but categories.
    """
    context, importer = work_context(), Importer(ACTOR)
    sites_of_both = sites.site_at(source), sites.site_at(target)
    target_id = sites_of_both[1].id
    config: Config = current_app.config["SHOP"]
    folder = BundleFolder(config.bundle_folder)
    report = transfer(context, folder, images(), importer, *sites_of_both, parts, dry_run, remove)
    if not dry_run and context.commit(lambda: request_reindex(context, importer, target_id, report)):
        report.note("The rebuild was requested.")
    _print_as_requested(report, as_json)


@bundle_group.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@with_site
@reports_refusals
def export_command(path: Path, host: str | None) -> None:
    """Write a site as a bundle to PATH: a new folder, or a file whose name ends in .zip."""
    site = chosen_site(host)
    counts = export_bundle(path, site, images())
    numbers = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    click.echo(f"Exported {site.primary_host} to {path}: {numbers}")


@demo_group.command("create")
@reports_refusals
def create_demo_command() -> None:
    """Make the demo shop on localhost, once; refused in production."""
    config: Config = current_app.config["SHOP"]
    report = create_demo(clock(), images(), transaction, ACTOR, config.password_memory_kib, config.production)
    if report is None:
        click.echo(f"There is a shop at {HOST} already.")
        return
    print_report(report)
    # So that the shop finds things as soon as the worker is there. One without an engine is a shop all the same.
    with suppress(Conflict), transaction():
        runs.request_rebuild(command_author(site_at(HOST).id), search_engine(), worker_locks(), runs.Scope.ALL)


def print_report(report: BundleReport) -> None:
    """Print the report of an import for people."""
    verb = "Would change" if report.dry_run else "Imported into"
    click.echo(f"{verb} {report.host}")
    click.echo(f"{'':24}{'added':>9}{'changed':>9}{'removed':>9}{'unchanged':>11}{'refused':>9}")
    for kind, counts in report.counts.items():
        numbers = f"{counts.added:>9,}{counts.changed:>9,}{counts.removed:>9,}{counts.unchanged:>11,}"
        click.echo(f"{kind:24}{numbers}{counts.refused:>9,}")
    _print_refusals(report)
    _print_dropped(report)
    for file, reason in report.skipped:
        click.echo(f"Skipped {file}: {reason}")
    for note in report.notes:
        click.echo(note)


def _print_refusals(report: BundleReport) -> None:
    if report.refusals:
        click.echo("Left out, the gravest first:")
    for reason in report.gravest_first:
        click.echo(f"  {reason.count:,} × {reason.kind}, such as: {reason.example.reason}")
    if report.refusals:
        click.echo("One by one:")
    for refusal in report.refusals[:MOST_REFUSALS]:
        place = refusal.file if refusal.line is None else f"{refusal.file}:{refusal.line}"
        click.echo(f"  {place} {refusal.field}: {refusal.reason}")
    if report.refused_in_all > MOST_REFUSALS:
        click.echo(f"  … and {report.refused_in_all - MOST_REFUSALS:,} more (--json lists up to 1,000)")


def _print_dropped(report: BundleReport) -> None:
    if report.dropped:
        click.echo(f"Attribute values dropped: {report.dropped_in_all:,}")
    for dropped in report.dropped.values():
        example = dropped.examples[0]
        place = f"line {example['line']}: {example['reason']}"
        click.echo(f"  {dropped.attribute_id}: {dropped.count:,} × {dropped.code} ({place})")
