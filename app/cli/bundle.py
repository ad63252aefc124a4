"""`bundle import` and `bundle export`: a whole shop, or a part of it, in and out."""

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
from app.domain.bundles.exporting import export_bundle
from app.domain.bundles.importing import import_bundle
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
    if as_json:
        click.echo(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        print_report(report)


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
