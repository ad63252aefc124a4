"""Requesting a search for more synonyms, and its progress."""

from __future__ import annotations

from flask import redirect, render_template, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.author import current_author
from app.domain.relevance import synonym_suggestions
from app.domain.relevance.synonym_definition import AI
from app.domain.relevance.synonym_suggestions import SuggestionSummary
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction


@bp.post("/search/synonyms/suggest")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_suggest() -> str | Response:
    with transaction():
        synonym_suggestions.request_run(current_author())
    if not wants_fragment():
        return redirect(url_for("admin.search_synonyms"))
    return render_template("admin/search/synonyms/_suggest.html")


@bp.get("/search/synonyms/suggest")
@requires(Permission.MANAGE_SEARCH)
def search_synonyms_suggesting() -> str:
    """Show the progress of a search for suggestions; the page polls it while one is under way. New suggestions wait for
    a press, since the user may be editing the list."""
    return render_template("admin/search/synonyms/_suggest.html", offers_list=True)


@bp.app_template_global("suggestion_run")
def suggestion_run() -> SuggestionSummary | None:
    return synonym_suggestions.latest_run(ports.clock(), current_user.site_id)


@bp.app_template_global("asks_ai")
def asks_ai() -> bool:
    """Whether a language model is set up on this server."""
    return any(source.name == AI for source in ports.suggestion_sources())
