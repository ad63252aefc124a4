"""Previews of unsaved changes: what a synonym, a rule, terms or settings would change, side by side; and replays.

A change is read from the form in which it is edited, or as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from flask import jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import sent_number
from app.blueprints.admin.product_order import layout_of
from app.blueprints.admin.search.rule_form import RuleForm
from app.blueprints.admin.search.rule_view import rule_view
from app.blueprints.admin.search.tabs import tab_of_kind
from app.blueprints.callers import current_author
from app.domain.catalogue.product_rules import split_terms
from app.domain.relevance import proposals, replays
from app.domain.relevance.comparison import comparison_json
from app.domain.relevance.previews import LONGEST_SEARCH, Preview, preview_change
from app.domain.relevance.proposals import Proposal, RuleProposal, as_json
from app.domain.relevance.rule_levels import rule_choices
from app.domain.search.engine import SearchUnavailable, TrialsUnsupported
from app.domain.search.ranking_settings import RANKING
from app.domain.shared import strict_json
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.sites.settings import shop_settings
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

BETWEEN_WORDS = re.compile(r"[,;\n\r]")
MOST_MARKS = 5_000
NO_VIEW: Mapping[str, Any] = {}  # Of a preview that is not beside the editor of a rule.
Answer = str | Response | tuple[str, int]


def sent_proposal(time_zone: str) -> Proposal:
    """Return the proposal that a form sent. `?kind=` says of what kind the form is; a field `proposal` holds the JSON
    of one that was tried before. Times without a zone are of the site's. Raises Invalid."""
    if request.is_json:
        return proposals.read_proposal(request.get_json())
    if stored := request.form.get("proposal"):
        return read_sent_proposal(stored)
    kind = request.args.get("kind") or request.form.get("kind", "")
    readers: dict[str, Callable[[MultiDict[str, str], str], dict[str, Any]]] = {
        "synonym": _synonym_fields,
        "rule": _rule_fields,
        "terms": _terms_fields,
        "ranking": lambda form, _time_zone: {name: form[name] for name in RANKING.fields if name in form},
        "understanding": lambda form, _time_zone: {"mode": form.get("understanding")},
    }
    fields = readers[kind](request.form, time_zone) if kind in readers else {}
    return proposals.read_proposal({"kind": kind, "remove": bool(request.form.get("remove")), **fields})


def read_sent_proposal(text: str) -> Proposal:
    """Read the JSON of a proposal from the field of a form. Raises Invalid."""
    try:
        sent = strict_json.loads(text, MOST_MARKS)
    except ValueError as error:
        raise Invalid.one("malformed_json", f"What is to be tried is not valid JSON: {error}", "#/proposal") from error
    return proposals.read_proposal(sent)


def _synonym_fields(form: MultiDict[str, str], _time_zone: str) -> dict[str, Any]:
    words = [word for text in form.getlist("words") for word in BETWEEN_WORDS.split(text)]
    named = {"type": form.get("type"), "root": form.get("root")}
    return {"id": sent_number(form.get("id", "")), **named, "synonyms": [word for word in words if word.strip()]}


def _rule_fields(sent: MultiDict[str, str], time_zone: str) -> dict[str, Any]:
    """Return the fields of the rule, not paused even where the form says so: its effect is to be previewed."""
    problems: list[Problem] = []
    choices = rule_choices(current_user.site_id)
    rule = RuleForm.typed(sent).rule(ZoneInfo(time_zone), None, problems, choices, takes_zone=True)
    if problems:
        raise Invalid(problems)
    return {"id": sent_number(sent.get("id", "")), **replace(rule.tidied(), enabled=True).as_json(for_shoppers=True)}


def _terms_fields(form: MultiDict[str, str], _time_zone: str) -> dict[str, Any]:
    terms = [term for text in form.getlist("terms") for term in split_terms(text)]
    return {"productId": sent_number(form.get("productId", "")), "terms": terms, "add": bool(form.get("add"))}


@bp.post("/search/try")
@requires(Permission.MANAGE_SEARCH)
def search_try() -> Answer:
    """Preview the proposal of the form; nothing is saved. With `query` that search is compared instead of those that
    the change is about."""
    query = _sent_query()
    wanted = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
    if wanted == "application/json":
        return _preview_json(_preview(sent_proposal(_zone_name()), query))
    try:
        return show_preview(sent_proposal(_zone_name()), query)
    except (Invalid, NotFound) as error:
        if wants_json():
            raise
        status = 404 if isinstance(error, NotFound) else 400
        return _show_preview(problems=_messages(error)), status


def show_preview(proposal: Proposal, query: str = "") -> str:
    """Return the comparison as a fragment, or as a page for a browser without JavaScript. Raises Invalid and NotFound.
    Where search does not answer, or cannot preview such a change, a sentence says so."""
    try:
        tried = _preview(proposal, query)
        view = rule_view(tried, request.form) if _is_beside_editor(proposal, query) else {}
    except (SearchUnavailable, TrialsUnsupported) as error:
        return _show_preview(problems=[error.message])
    return _show_preview(tried=tried, query=query, view=view)


def _preview(proposal: Proposal, query: str) -> Preview:
    return preview_change(ports.search_engine(), ports.clock(), current_user.site_id, proposal, query)


def _show_preview(
    tried: Preview | None = None,
    query: str = "",
    problems: list[str] | None = None,
    view: Mapping[str, Any] = NO_VIEW,
) -> str:
    is_one = request.form.get("part") == "one"
    fragment = "admin/search/trials/_one.html" if is_one else "admin/search/trials/_trial.html"
    proposal = as_json(tried.proposal) if tried is not None else None
    return render_template(
        fragment if wants_fragment() else "admin/search/trials/page.html",
        tried=tried,
        proposal=json.dumps(proposal, ensure_ascii=False) if proposal else None,
        query=query,
        problems=problems or [],
        layout=layout_of(request.form.get("layout", "")),
        view=view,
        can_undo="undoable" in request.form,
        tab_of=tab_of_kind(proposal["kind"] if proposal else request.args.get("kind")),
    )


def _is_beside_editor(proposal: Proposal, query: str) -> bool:
    """Whether the comparison stands beside the form of a rule and is of that rule's own searches."""
    return isinstance(proposal, RuleProposal) and not proposal.remove and not query and wants_fragment()


def _messages(error: Invalid | NotFound) -> list[str]:
    return [problem.message for problem in error.problems] if isinstance(error, Invalid) else [error.message]


def _preview_json(tried: Preview) -> Response:
    items = [comparison_json(comparison) for comparison in tried.comparisons]
    judgement = tried.judgement.as_json() if tried.judgement is not None else None
    return jsonify(
        {"proposal": as_json(tried.proposal), "note": tried.note or None, "judgement": judgement, "items": items}
    )


def _sent_query() -> str:
    sent = request.form.get("query", "") or request.args.get("query", "")
    return " ".join(sent[:LONGEST_SEARCH].split())


def _zone_name() -> str:
    return shop_settings(current_user.site_id).time_zone


@bp.post("/search/replays")
@requires(Permission.MANAGE_SEARCH)
def search_replay_request() -> Answer:
    try:
        proposal = sent_proposal(_zone_name())
    except Invalid as invalid:
        if wants_json():
            raise
        return _show_preview(problems=_messages(invalid)), 400
    with transaction():
        replay_id = replays.request(current_author(), proposal).id
    if wants_fragment():
        return _show_replay(replay_id)
    return redirect(url_for("admin.search_replay", replay_id=replay_id))


@bp.get("/search/replays/<replay_id>")
@requires(Permission.MANAGE_SEARCH)
def search_replay(replay_id: str) -> Answer:
    """Show a replay; the page reloads it while it is unfinished."""
    return _show_replay(replay_id)


def _show_replay(replay_id: str) -> str:
    replay = replays.replay_of(ports.clock(), current_user.site_id, replay_id)
    template = "admin/search/trials/_replay.html" if wants_fragment() else "admin/search/trials/replay.html"
    proposal = as_json(replay.proposal)
    return render_template(
        template,
        replay=replay,
        proposal=json.dumps(proposal, ensure_ascii=False),
        tab_of=tab_of_kind(proposal["kind"]),
    )
