"""`pos reconcile`."""

from __future__ import annotations

from datetime import date, datetime

import click
from flask.cli import AppGroup

from app.cli.author import command_author
from app.cli.refusals import REFUSED, reports_refusals
from app.domain.pos.ledger import unsettled_differences
from app.domain.pos.ledger_comparison import DifferenceKind
from app.domain.pos.models import PaymentCheckRun, PosReconciliation
from app.domain.pos.reconciliation import checks, nightly
from app.domain.shared.author import Author
from app.domain.shared.text import numbered
from app.domain.sites import sites
from app.domain.work.context import read_afresh
from app.extensions import db
from app.operations.work_context import work_context
from app.ports import payment_processor
from app.transaction import transaction

MOST_ROUNDS = 1_000  # Of a check, each of which lasts for some seconds.

group = AppGroup("pos", help="Mobile point of sale.")


@group.command("reconcile")
@click.option("--site", "host", help="Host of the site; without it, all sites.")
@click.option("--day", type=click.DateTime(["%Y-%m-%d"]), help="The day to compare; without it, yesterday.")
@reports_refusals
def reconcile_command(host: str | None, day: datetime | None) -> None:
    """Settle what is open at the payment processor, then compare a day's payments, in this process.

    The exit status is 1 when the processor did not answer, or when something differs that a person must settle.
    """
    chosen = [sites.site_at(host)] if host else list(sites.all_sites())
    hosts = [(site.id, site.primary_host) for site in chosen]
    settled = [_reconcile(site_id, name, day.date() if day else None) for site_id, name in hosts]
    if not all(settled):
        raise SystemExit(REFUSED)


def _reconcile(site_id: int, host: str, day: date | None) -> bool:
    """Settle and compare the payments of a site, print what differs, and return whether nothing is left to do."""
    author = command_author(site_id)
    error = _settle_open(author) or _compare(author, host, day)
    read_afresh()
    left = unsettled_differences(site_id)
    for difference in left:
        words = DifferenceKind(difference.kind).label
        about = f"{difference.intent_id}: here {difference.ours or 'nothing'}, there {difference.theirs or 'nothing'}"
        click.echo(f"{host}: {words}: {about}", err=True)
    if error:
        click.echo(f"{host}: {error}", err=True)
    return not error and not left


def _settle_open(author: Author) -> str | None:
    """Settle open payments; return the error that interrupted this, None without one."""
    with transaction():
        checks.bring_forward(author)
    for _ in range(MOST_ROUNDS):
        with transaction():
            checks.request(author)
        checks.check(work_context(), payment_processor(), author.site_id)
        read_afresh()
        run = db.session.get_one(PaymentCheckRun, author.site_id)
        if not run.is_unfinished:
            return run.error
    return "Another worker looks at the open payments."


def _compare(author: Author, host: str, day: date | None) -> str | None:
    with transaction():
        run_id = nightly.request(author, day).id
    nightly.reconcile(work_context(), payment_processor(), run_id)
    read_afresh()
    run = db.session.get_one(PosReconciliation, run_id)
    click.echo(f"{host}: {numbered(run.done, 'payment')} of {run.day} compared, {run.differences:,} differ")
    return run.error
