"""What all commands share: their author, the site that they are for, and how they report refusals of the domain."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from app.domain.shared.author import Author, Origin
from app.domain.shared.problems import DomainError, Invalid
from app.domain.sites import sites
from app.domain.sites.activity import COMMAND_LINE as ACTOR
from app.domain.sites.models import Site
from app.ports import clock

Command = TypeVar("Command", bound=Callable[..., Any])
REFUSED = 1
with_site = click.option("--site", "host", help="Host of the site; may be left out where there is one site only.")


def reports_refusals(command: Command) -> Command:
    """Make refusals of the domain lines on the error output, and the exit status REFUSED."""

    @wraps(command)
    def reporting(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except Invalid as refused:
            for problem in refused.problems:
                click.echo(problem.message, err=True)
        except DomainError as refused:
            click.echo(refused.message, err=True)
        raise SystemExit(REFUSED)

    return reporting  # type: ignore[return-value]


def command_author(site_id: int) -> Author:
    """Return the command line as the author of a change."""
    return Author(site_id, ACTOR, clock(), Origin.COMMAND_LINE)


def chosen_site(host: str | None) -> Site:
    """Return the site of a host, or the only one there is. Raises NotFound, Invalid."""
    if host is not None:
        return sites.site_at(host)
    known = sites.all_sites()
    if len(known) != 1:
        hosts = ", ".join(site.primary_host for site in known) or "none yet"
        raise Invalid.one("site_missing", f"Say which site with --site HOST (there are: {hosts}).")
    return known[0]
