"""`bundle import`, `export` and `transfer`: a whole shop, or a part of it, in, out and from site to site."""

from __future__ import annotations

import json
from pathlib import Path

import click
from flask import current_app
from flask.cli import AppGroup

from app.cli.refusals import ACTOR, reports_refusals
from app.cli.reports import print_report
from app.cli.sites import chosen_site, with_site
from app.config import Config
from app.domain.bundles.archive import BundleFolder
from app.domain.bundles.exporter import export_bundle
from app.domain.bundles.importer import import_bundle
from app.domain.bundles.parts import OF_AN_ADMIN, TRANSFERRED, Importer, Part, in_order
from app.domain.bundles.report import BundleReport
from app.domain.bundles.runner import request_reindex
from app.domain.bundles.transfer import transfer
from app.domain.sites import sites
from app.operations.work_context import work_context
from app.ports import clock, images
from app.transaction import transaction

group = AppGroup("bundle", help="Move a shop, or a part of it, in and out.")


@group.command("import")
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
    _print(report, as_json)


def _print(report: BundleReport, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print_report(report)


def _parts(_context: click.Context, _parameter: click.Parameter, listed: str) -> frozenset[Part]:
    """Return the parts in a comma-separated list. Raises BadParameter."""
    names = {name.strip() for name in listed.split(",") if name.strip()}
    if unknown := names - set(OF_AN_ADMIN):
        raise click.BadParameter(f"There is no part {', '.join(sorted(unknown))}.")
    return frozenset(map(Part, names))


@group.command("transfer")
@click.argument("source", metavar="FROM_HOST")
@click.argument("target", metavar="TO_HOST")
@click.option(
    "--parts",
    default=",".join(in_order(TRANSFERRED)),
    show_default=True,
    callback=_parts,
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
    _print(report, as_json)


@group.command("export")
@click.argument("path", type=click.Path(path_type=Path))
@with_site
@reports_refusals
def export_command(path: Path, host: str | None) -> None:
    """Write a site as a bundle to PATH: a new folder, or a file whose name ends in .zip."""
    site = chosen_site(host)
    counts = export_bundle(path, site, images())
    numbers = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    click.echo(f"Exported {site.primary_host} to {path}: {numbers}")
