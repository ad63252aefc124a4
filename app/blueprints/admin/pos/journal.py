"""The journal of the till: its entries, whether it is whole, all of it as a file, and who gets its head by mail."""

from __future__ import annotations

from datetime import UTC, datetime

from flask import Response, flash, redirect, render_template, request, stream_with_context, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as Answer

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.display import brief_time
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import page_number
from app.domain.pos import journal, journal_mails
from app.domain.pos.journal import EntryType, Verification
from app.domain.pos.journal_chain import Link
from app.domain.shared.addresses import lookup_id
from app.domain.shared.paging import batched
from app.domain.shared.problems import Invalid
from app.domain.sites.sites import currency_of, time_zone_of
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

WRITTEN_AT_ONCE = 500  # Lines.
TYPE_LABELS = {entry_type.value: entry_type.label for entry_type in EntryType}


@bp.get("/pos/journal")
@requires(Permission.MANAGE_POS)
def pos_journal() -> str:
    """Show the entries. The page verifies the first part of the journal itself; its script requests the next ones."""
    if wants_fragment():
        return render_template("admin/pos/journal/_entries.html", **_entries())
    return _page(journal.verify_part(current_user.site_id, Link()))


@bp.get("/pos/journal/verification")
@requires(Permission.MANAGE_POS)
def pos_journal_verification() -> str:
    """Verify the part of the journal after the entry `after`; a browser without scripts gets the page, with the whole
    journal verified."""
    site_id = current_user.site_id
    if not wants_fragment():
        return _page(journal.verify(site_id))
    found = journal.verify_part(site_id, journal.place_at(site_id, lookup_id(request.args.get("after"))))
    return render_template("admin/pos/journal/_state.html", found=found)


@bp.post("/pos/journal/export")
@requires(Permission.MANAGE_POS)
def pos_journal_export() -> Response:
    """Stream the journal as JSON lines."""
    with transaction():
        journal.note_export(current_author())
    pieces = ("".join(lines) for lines in batched(journal.export_lines(current_user.site_id), WRITTEN_AT_ONCE))
    answer = Response(stream_with_context(pieces), mimetype="application/jsonl")
    answer.headers["Content-Disposition"] = f'attachment; filename="journal-{ports.clock().now():%Y-%m-%d}.jsonl"'
    return answer


@bp.post("/pos/journal/mail")
@requires(Permission.MANAGE_POS)
def pos_journal_mail() -> Answer | tuple[str, int]:
    """Save the address that gets the head of the journal after each Z report."""
    address = request.form.get(journal_mails.SETTING, "")
    try:
        with transaction():
            is_changed = journal_mails.change_address(current_author(), address)
    except Invalid as refused:
        errors = FieldErrors(refused)
        found = journal.verify_part(current_user.site_id, Link())
        return _page(found, address, errors), errors.status
    flash("Saved." if is_changed else "No changes to save.", "good")
    return redirect(url_for("admin.pos_journal"))


def _page(found: Verification, address: str | None = None, errors: FieldErrors | None = None) -> str:
    shown = journal_mails.address_of(current_user.site_id) if address is None else address
    context = {"found": found, "address": shown, "errors": errors or FieldErrors()}
    return render_template("admin/pos/journal/page.html", **context, **_entries())


def _entries() -> dict[str, object]:
    site_id = current_user.site_id
    page = journal.journal_page(site_id, page_number(request.args.get("p")))
    return {"page": page, "currency": currency_of(site_id), "time_zone": time_zone_of(site_id), "types": TYPE_LABELS}


@bp.app_template_filter("journal_time")
def journal_time(at: str, time_zone: str) -> str:
    """Format the time of an entry for narrow columns; what was changed to be no time is shown as it is stored."""
    try:
        moment = datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return at
    return brief_time(moment, time_zone, seconds=True)
