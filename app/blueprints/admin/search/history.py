"""The history of the Search section."""

from __future__ import annotations

from functools import partial

from flask import render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.sign_in import return_to
from app.blueprints.admin.undo import answer_undo
from app.domain.catalogue.listing import page_number
from app.domain.changes import history
from app.domain.changes.search_kinds import SEARCH_KINDS
from app.domain.sites.sites import time_zone_of
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

ENTRY = "/search/activity/<int(max=2147483647):entry_id>"


@bp.get("/search/activity")
@requires(Permission.MANAGE_SEARCH)
def search_history() -> str:
    kind = request.args.get("kind", "")
    page = history.history_page(current_user.site_id, page_number(request.args.get("p")), kind)
    template = "admin/search/history/_results.html" if wants_fragment() else "admin/search/history/list.html"
    context = {"page": page, "kind": kind, "kinds": SEARCH_KINDS, "href": partial(_address, kind), "time_zone": _zone()}
    return render_template(template, **context)


@bp.get(ENTRY)
@requires(Permission.MANAGE_SEARCH)
def search_history_entry(entry_id: int) -> str:
    """One change, what undoing it would change, and the button that does it."""
    entry = history.history_entry(current_user.site_id, entry_id)
    kind = request.args.get("kind", "")
    return render_template("admin/search/history/entry.html", entry=entry, kind=kind, time_zone=_zone())


@bp.post(f"{ENTRY}/undo")
@requires(Permission.MANAGE_SEARCH)
def search_history_undo(entry_id: int) -> Response:
    """Undo a change; the message offers to undo that in turn."""
    back = return_to(request.values.get("back"))
    address = back or url_for("admin.search_history", kind=request.form.get("kind") or None)
    return answer_undo(entry_id, address, SEARCH_KINDS)


def _address(kind: str, number: int) -> str:
    return url_for("admin.search_history", kind=kind or None, p=number if number > 1 else None)


def _zone() -> str:
    return time_zone_of(current_user.site_id)
