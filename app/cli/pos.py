"""`pos reconcile`, `pos journal verify` and `pos journal export`."""

from __future__ import annotations

import re
from datetime import date, datetime

import click
from flask.cli import AppGroup

from app.cli.command import REFUSED, chosen_site, command_author, reports_refusals, with_site
from app.domain.pos import journal
from app.domain.pos.ledger import unsettled_differences
from app.domain.pos.ledger_comparison import DifferenceKind
from app.domain.pos.models import PaymentCheckRun, PosReconciliation
from app.domain.pos.reconciliation import checks, nightly
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid
from app.domain.shared.text import numbered
from app.domain.sites import sites
from app.domain.work.context import read_afresh
from app.extensions import db
from app.operations.work_context import work_context
from app.ports import payment_processor
from app.transaction import transaction

MOST_ROUNDS = 1_000  # Of a check, each of which lasts for some seconds.

HASH = re.compile("[0-9a-f]{64}")

pos_group = AppGroup("pos", help="Mobile point of sale.")
journal_group = AppGroup("journal", help="The journal of the till, in which every entry is hashed with the one before.")
pos_group.add_command(journal_group)


@pos_group.command("reconcile")
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


@journal_group.command("verify")
@with_site
@click.option("--head", metavar="HEX", help="A hash that an entry must have, as one that a Z report names.")
@reports_refusals
def verify_command(host: str | None, head: str | None) -> None:
    """Verify the whole journal of a site; the first broken entry is named.

    The exit status is 1 when the journal is not whole. With --head also when no entry has that hash: then the end was
    removed, or the whole journal rewritten, since the hash was noted.
    """
    site, expected = chosen_site(host), head and head.strip().lower()
    if expected is not None and not HASH.fullmatch(expected):
        raise Invalid.one("invalid_head", "A hash has 64 digits from 0 to 9 and a to f.")
    found = journal.verify(site.id, expected)
    if found.is_whole:
        click.echo(f"{site.primary_host}: {entries(found.total)}, whole; the head is {found.head}")
        return
    if found.broken:
        click.echo(f"{site.primary_host}: {found.broken.message}")
    if not found.has_expected_head:
        whole = f"Of {entries(found.total)}, none" if found.broken is None else "No entry before that"
        click.echo(f"{site.primary_host}: {whole} has the hash {expected}.")
    raise SystemExit(REFUSED)


@journal_group.command("export")
@with_site
@reports_refusals
def export_command(host: str | None) -> None:
    """Write the journal of a site to the standard output: an entry a line, as JSON, the oldest first."""
    author = command_author(chosen_site(host).id)
    for line in journal.export_lines(author.site_id):
        click.echo(line, nl=False)
    with transaction():
        journal.note_export(author)


def entries(number: int) -> str:
    return numbered(number, "entry", "entries")
