"""Previews of unsaved changes: what a synonym, a rule or search terms would change, side by side."""

from __future__ import annotations

import json
from typing import Any

from flask import jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.search.proposal_form import sent_proposal
from app.blueprints.admin.search.tabs import tab_of_kind
from app.blueprints.author import current_author
from app.domain.relevance import replays
from app.domain.relevance.comparison import comparison_json
from app.domain.relevance.previews import LONGEST_SEARCH, Preview, preview_change
from app.domain.relevance.proposals import Proposal, as_json
from app.domain.search.engine import SearchUnavailable, TrialsUnsupported
from app.domain.shared.problems import Invalid, NotFound
from app.domain.sites.shop_settings import shop_settings
from app.errors import wants_json
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

Answer = str | Response | tuple[str, int]


@bp.post("/search/try")
@requires(Permission.MANAGE_SEARCH)
def search_try() -> Answer:
    """Preview the proposal of the form; nothing is saved. With `query` that search is compared instead of those that
    the change is about."""
    query = _query()
    if _wants_json():
        return _as_json(_tried(sent_proposal(_time_zone()), query))
    try:
        return answer(sent_proposal(_time_zone()), query)
    except (Invalid, NotFound) as error:
        if wants_json():
            raise
        status = 404 if isinstance(error, NotFound) else 400
        return _page(problems=_messages(error)), status


def answer(proposal: Proposal, query: str = "") -> str:
    """Return the comparison as a fragment, or as a page for a browser without JavaScript. Raises Invalid and NotFound.
    Where search does not answer, or cannot preview such a change, a sentence says so."""
    try:
        tried = _tried(proposal, query)
    except (SearchUnavailable, TrialsUnsupported) as error:
        return _page(problems=[error.message])
    return _page(tried=tried, query=query)


def _tried(proposal: Proposal, query: str) -> Preview:
    return preview_change(ports.search_engine(), ports.clock(), current_user.site_id, proposal, query)


def _page(tried: Preview | None = None, query: str = "", problems: list[str] | None = None) -> str:
    is_one = request.form.get("part") == "one"
    fragment = "admin/search/trials/_one.html" if is_one else "admin/search/trials/_trial.html"
    proposal = as_json(tried.proposal) if tried is not None else None
    return render_template(
        fragment if wants_fragment() else "admin/search/trials/page.html",
        tried=tried,
        proposal=json.dumps(proposal, ensure_ascii=False) if proposal else None,
        query=query,
        problems=problems or [],
        pins_beside=_is_beside_editor(proposal, query),
        tab_of=tab_of_kind(proposal["kind"] if proposal else request.args.get("kind")),
    )


def _is_beside_editor(proposal: dict[str, Any] | None, query: str) -> bool:
    """Whether the comparison stands beside the form of a rule and is of that rule's own search."""
    is_rule = proposal is not None and proposal["kind"] == "rule" and not proposal.get("remove")
    return is_rule and not query and wants_fragment()


def _messages(error: Invalid | NotFound) -> list[str]:
    return [problem.message for problem in error.problems] if isinstance(error, Invalid) else [error.message]


def _as_json(tried: Preview) -> Response:
    items = [comparison_json(comparison) for comparison in tried.comparisons]
    return jsonify({"proposal": as_json(tried.proposal), "note": tried.note or None, "items": items})


def _query() -> str:
    sent = request.form.get("query", "") or request.args.get("query", "")
    return " ".join(sent[:LONGEST_SEARCH].split())


def _wants_json() -> bool:
    wanted = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
    return bool(wanted == "application/json")


def _time_zone() -> str:
    return shop_settings(current_user.site_id).time_zone


@bp.post("/search/replays")
@requires(Permission.MANAGE_SEARCH)
def search_replay_request() -> Answer:
    try:
        proposal = sent_proposal(_time_zone())
    except Invalid as invalid:
        if wants_json():
            raise
        return _page(problems=_messages(invalid)), 400
    with transaction():
        replay_id = replays.request(current_author(), proposal).id
    if wants_fragment():
        return _replay(replay_id)
    return redirect(url_for("admin.search_replay", replay_id=replay_id))


@bp.get("/search/replays/<replay_id>")
@requires(Permission.MANAGE_SEARCH)
def search_replay(replay_id: str) -> Answer:
    """Show a replay; the page reloads it while it is unfinished."""
    return _replay(replay_id)


def _replay(replay_id: str) -> str:
    replay = replays.replay_of(ports.clock(), current_user.site_id, replay_id)
    template = "admin/search/trials/_replay.html" if wants_fragment() else "admin/search/trials/replay.html"
    proposal = as_json(replay.proposal)
    return render_template(
        template,
        replay=replay,
        proposal=json.dumps(proposal, ensure_ascii=False),
        tab_of=tab_of_kind(proposal["kind"]),
    )
