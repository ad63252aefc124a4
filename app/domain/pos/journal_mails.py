"""Mails of the journal: after each Z report the hash of its entry goes to an address outside of the shop, so that even
who can write the database cannot rewrite the journal unseen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.domain.pos.journal_models import PosJournalEntry, PosJournalMail
from app.domain.pos.rules import email_problems
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Invalid, NotFound
from app.domain.shared.text import one_line
from app.domain.sites import activity
from app.domain.sites.models import Site
from app.domain.sites.setting_keys import JOURNAL, SettingsPage
from app.domain.sites.settings import change_settings, settings_of
from app.domain.work import mailing
from app.domain.work.context import WorkContext
from app.domain.work.mail_layout import html_of, rows_html, rows_text, text_of
from app.domain.work.mailing import Mail, Mailer, mail_kind
from app.domain.work.models import WorkRequested, requested_now
from app.events import publish
from app.extensions import db

SETTING = "posJournalMail"
KEEP_IT = "Keep this mail: with the hash the journal can be checked even if someone changes the whole of it."
JOURNAL_MAIL = mail_kind("journal-mail", PosJournalMail, "The mail server did not take the mail within three days.")


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """The settings of the journal. An empty address is none."""

    address: str


PAGE = SettingsPage(JOURNAL, JournalSettings)


def address_of(site_id: int) -> str:
    """Return the address that gets the mails; empty for none."""
    return PAGE.read(settings_of(site_id)).address


def change_address(author: Author, address: str) -> bool:
    """Save the address that gets the mails, empty for none; return whether it changed. Call it in a transaction. Raises
    Invalid."""
    wanted = address.strip()
    if wanted and (problems := email_problems(wanted, f"#/{SETTING}")):
        raise Invalid(problems)
    changed = change_settings(author.site_id, {SETTING: wanted or None})
    if changed:  # The address stands in the settings alone: the log is kept for longer.
        summary = "Changed who gets the mails of the journal" if wanted else "Ended the mails of the journal"
        activity.record(author, "settings.pos", ("settings", "pos"), summary)
    return bool(changed)


def request_mail(author: Author, entry: PosJournalEntry) -> PosJournalMail | None:
    """Request the mail about an entry, in its transaction; return None where the site mails to nobody."""
    address = address_of(author.site_id)
    if not address:
        return None
    mail = PosJournalMail(
        **requested_now(author), sequence=entry.sequence, hash=entry.hash, email=address, next_try_at=author.now()
    )
    db.session.add(mail)
    db.session.flush()
    publish(WorkRequested(JOURNAL_MAIL.name, mail.id))
    return mail


def due(clock: Clock) -> Sequence[str]:
    """Return the ids of the mails that no worker has claimed and that may be tried now."""
    return mailing.due(JOURNAL_MAIL, clock)


def send(context: WorkContext, mailer: Mailer, mail_id: str) -> bool:
    """Send a mail, unless another worker does; return False where it was not this caller's to send. The row holds the
    outcome."""
    return mailing.send(context, mailer, JOURNAL_MAIL, mail_id, _mail_of_row)


def _mail_of_row(row: PosJournalMail) -> Mail:
    """Return the mail of a row. Raises NotFound where the address was erased meanwhile."""
    if not row.email:
        raise NotFound("The email address is not kept any more.")
    site = db.session.get_one(Site, row.site_id)
    rows = [("Shop", site.primary_host), ("Entry", str(row.sequence)), ("Hash", row.hash)]
    command = f"flask --app wsgi pos journal verify --site {site.primary_host} --head {row.hash}"
    heading = f"Journal of {site.name} after a Z report"
    text = text_of(heading, rows_text(rows), KEEP_IT, command)
    body = f"{rows_html(rows)}<p>{escape(KEEP_IT)}</p><p><code>{escape(command)}</code></p>"
    return Mail(row.email, one_line(heading), text, html_of("Journal", heading, body), row.id)
