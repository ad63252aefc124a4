"""What the pages of a site's values have in common: the answer to a save, and the undo of the last one."""

from __future__ import annotations

from typing import Any

from flask import flash, redirect, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.forms import sent_revision
from app.blueprints.admin.shell import flash_with_undo
from app.blueprints.callers import current_author
from app.domain.shared.problems import Conflict, NotFound
from app.domain.sites.site_values import SiteValues
from app.transaction import transaction


def answer_save(values: SiteValues[Any], endpoint: str, changed: bool) -> Response:
    """Return to the page at `endpoint`, which says what came of the save."""
    if changed:
        _flash_undoable("Saved. Shoppers see it at once.", values, endpoint)
    else:
        flash("No changes to save.", "good")
    return redirect(url_for(endpoint))


def answer_undo(values: SiteValues[Any], endpoint: str) -> Response:
    """Undo the last save, unless it is not the one that the form was made for, and return to the page at `endpoint`."""
    try:
        with transaction():
            values.undo(current_author(), sent_revision(request.form))
    except (Conflict, NotFound) as refused:
        flash(refused.message, "bad")
    else:
        _flash_undoable("The last change is undone.", values, endpoint)
    return redirect(url_for(endpoint))


def _flash_undoable(message: str, values: SiteValues[Any], endpoint: str) -> None:
    flash_with_undo(message, url_for(f"{endpoint}_undo"), revision=values.saved(current_user.site_id).revision)
