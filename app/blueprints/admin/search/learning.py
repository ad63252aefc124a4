"""Learning from clicks: what was learned for each search, forgetting it, and undoing that."""

from __future__ import annotations

import json

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.relevance import learned_searches, learning
from app.domain.relevance.models import ALL_SEARCHES
from app.domain.relevance.proposals import LearningProposal, as_json
from app.domain.search.ranking import learning as rule
from app.domain.search.serving.plan import LearningMode
from app.domain.search.settings import stored_settings
from app.domain.sites.sites import time_zone_of
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

LONGEST_WORD = 100
Answer = str | AnyResponse


@bp.get("/search/learning")
@requires(Permission.MANAGE_SEARCH)
def search_learning() -> Answer:
    """Show what was learned as a page, as its list alone, or as JSON, by the kind of request."""
    words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].split())
    state = learned_searches.learning_state(current_user.site_id)
    rows = learned_searches.learned_rows(current_user.site_id, page_number(request.args.get("p", "")), words)
    if wants_json():
        return jsonify(learned_searches.as_json(state, rows))
    return render_template(
        "admin/search/learning/_results.html" if wants_fragment() else "admin/search/learning/page.html",
        state=state,
        page=rows,
        words=words,
        settings=stored_settings(current_user.site_id),
        rule=rule,
        tab_of="admin.search_settings",
        time_zone=time_zone_of(current_user.site_id),
        proposal=json.dumps(as_json(LearningProposal(on=state.mode is not LearningMode.ON))),
    )


@bp.post("/search/learning/learn")
@requires(Permission.MANAGE_SEARCH)
def search_learning_now() -> AnyResponse:
    """Learn anew in the background; before the answer where there is no worker."""
    with transaction():
        learning.request_learning(current_user.site_id)
    flash("Learning from the latest counts. The list below is new in a moment.", "good")
    return _back()


@bp.post("/search/learning/forget")
@requires(Permission.MANAGE_SEARCH)
def search_learning_forget() -> AnyResponse:
    """Forget one search, or with `all` everything that was learned."""
    word = _sent_word()
    with transaction():
        learning.forget_search(current_author(), word)
    what = f"what was learned for “{word}”" if word else "everything that was learned"
    address = url_for("admin.search_learning")
    flash_undoable(f"Forgot {what}.", learning.AUDIT_KIND, word or learning.ALL_ID, address)
    return _back()


@bp.post("/search/learning/restore")
@requires(Permission.MANAGE_SEARCH)
def search_learning_restore() -> AnyResponse:
    word = _sent_word()
    with transaction():
        learning.restore_search(current_author(), word)
    all_teach = "All counts teach again. The list below is new in a moment."
    message, address = f"The counts of “{word}” teach again." if word else all_teach, url_for("admin.search_learning")
    flash_undoable(message, learning.AUDIT_KIND, word or learning.ALL_ID, address)
    return _back()


def _sent_word() -> str:
    return ALL_SEARCHES if "all" in request.form else request.form.get("word", "")[:LONGEST_WORD] or learning.ALL_ID


def _back() -> AnyResponse:
    address = url_for("admin.search_learning")
    return redirect_page(address) if wants_fragment() else redirect(address)
