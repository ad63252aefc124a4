"""`site create` and `site list`."""

from __future__ import annotations

import click
from flask.cli import AppGroup

from app.cli.refusals import reports_refusals
from app.domain.shared.problems import Invalid
from app.domain.sites import sites
from app.domain.sites.models import Site
from app.ports import clock
from app.transaction import transaction

group = AppGroup("site", help="The shops of this installation.")
with_site = click.option("--site", "host", help="Host of the site; may be left out where there is one site only.")


def chosen_site(host: str | None) -> Site:
    """The site of a host, or the only one there is. Raises NotFound, Invalid."""
    if host is not None:
        return sites.site_at(host)
    known = sites.all_sites()
    if len(known) != 1:
        hosts = ", ".join(site.primary_host for site in known) or "none yet"
        raise Invalid.one("site_missing", f"Say which site with --site HOST (there are: {hosts}).")
    return known[0]


@group.command("create")
@click.argument("host")
@click.option("--name", required=True, help="What the shop calls itself.")
@click.option("--currency", default="gbp", show_default=True, help="ISO 4217 code in lower case.")
@reports_refusals
def create_command(host: str, name: str, currency: str) -> None:
    """Make a site that answers to HOST."""
    with transaction():
        site = sites.create_site(clock(), host, name, currency)
    click.echo(f"Created {site.name} at {site.primary_host}")


@group.command("list")
@reports_refusals
def list_command() -> None:
    """Every site with its hosts, the primary one first."""
    for site in sites.all_sites():
        others = [domain.host for domain in site.domains if domain.host != site.primary_host]
        click.echo("\t".join([site.primary_host, site.name, *others]))
