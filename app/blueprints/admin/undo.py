"""Undo of an entry of the activity log: who may undo which kind of change, and the answer to the button in messages and
on the pages of the activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from flask import flash, redirect, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import flash_undoable, is_open_to_user
from app.blueprints.admin.sign_in import return_to
from app.blueprints.callers import current_author, is_superadmin
from app.domain.changes import history
from app.domain.changes.all_kinds import KINDS
from app.domain.changes.kinds import RecordKind, Undo
from app.domain.changes.search_kinds import SEARCH_NAMES
from app.domain.merchandising.shop import Shop
from app.domain.seo.landing.pages import LandingPagesOf
from app.domain.shared.problems import Conflict, Forbidden
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, allowed, requires
from app.web.themes.drawing import themes

PERMISSIONS: Mapping[str, Permission] = {
    **dict.fromkeys(SEARCH_NAMES, Permission.MANAGE_SEARCH),
    "whole_product": Permission.MANAGE_CATALOGUE,
    "collection": Permission.MANAGE_CATALOGUE,
    "page": Permission.MANAGE_CONTENT,
    "category": Permission.MANAGE_MERCHANDISING,
    "category_place": Permission.MANAGE_MERCHANDISING,
    "category_landing_rules": Permission.MANAGE_MERCHANDISING,
    "tree_name": Permission.MANAGE_MERCHANDISING,
    "tree_filters": Permission.MANAGE_MERCHANDISING,
    "tree_landing_rules": Permission.MANAGE_MERCHANDISING,
    "redirect": Permission.MANAGE_MERCHANDISING,
    "settings_seo": Permission.MANAGE_SETTINGS,
    "settings_shop": Permission.MANAGE_SETTINGS,
    "settings_order_mails": Permission.MANAGE_SETTINGS,
    "settings_pos": Permission.MANAGE_POS,
    "pos_location": Permission.MANAGE_POS,
    "pos_agent": Permission.MANAGE_POS,
}


@bp.post("/activity/<int(max=2147483647):entry_id>/undo")
@requires(Permission.USE_ADMIN)
def activity_undo(entry_id: int) -> Response:
    """Undo a change of any kind; each kind needs the permission of the page that makes such changes."""
    if not may_undo(history.kind_of(current_user.site_id, entry_id).name):
        raise Forbidden("Your role on this site does not allow this.")
    after = url_for("admin.activity" if is_open_to_user("admin.activity") else "admin.dashboard")
    return answer_undo(entry_id, return_to(request.values.get("back")) or after)


def may_undo(kind: str) -> bool:
    """Whether the user may undo changes of a kind."""
    return allowed(current_user.roles, PERMISSIONS[kind])


def answer_undo(entry_id: int, address: str, kinds: Sequence[RecordKind] = KINDS) -> Response:
    """Undo a change of one of the kinds and go to an address, where the message offers to undo that in turn."""
    site_id = current_user.site_id
    try:
        with transaction():
            undone = history.undo_change(_undo(), entry_id, kinds)
            summary, subject_id = undone.summary, undone.subject_id
    except Conflict as conflict:
        flash(conflict.message, "bad")
    else:
        kind = history.kind_of(site_id, entry_id, kinds).name
        flash_undoable(f"Undone: {summary}.", kind, subject_id, address)
    return redirect_page(address) if wants_fragment() else redirect(address)


def _undo() -> Undo:
    return Undo(current_author(), themes().by_name, _landing_pages, may_share=is_superadmin())


def _landing_pages(shop: Shop) -> LandingPagesOf:
    return partial(ports.landing_directory().of, ports.search_engine(), ports.clock(), shop)
