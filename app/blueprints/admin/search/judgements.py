"""Judgement lists: the lists of a shop, one list with its figures and settings, and figures as they are computed."""

from __future__ import annotations

import json
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, read_number, sent_number, sent_revision
from app.blueprints.admin.search.trials import read_sent_proposal
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import page_number
from app.domain.relevance import proposals
from app.domain.relevance.judgements import figures, lists, ratings, runs
from app.domain.relevance.judgements.lists import ListDraft
from app.domain.relevance.judgements.measures import DEPTH, Combination
from app.domain.relevance.proposals import MeaningProposal, Proposal
from app.domain.search.serving.configuration import served
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

LIST = "/search/judgements/<int(max=2147483647):judgement_list_id>"
NO_ERRORS = FieldErrors()
CANDIDATES: dict[str, Proposal | None] = {
    "none": None,
    "meaning": MeaningProposal(True),
    "words": MeaningProposal(False),
}
KEPT = "other"  # The candidate that was chosen from a preview.
THOUSANDTHS = 1_000
Answer = str | Response | tuple[str, int]


@bp.get("/search/judgements")
@requires(Permission.MANAGE_SEARCH)
def judgement_lists() -> Answer:
    return _show_lists()


@bp.post("/search/judgements")
@requires(Permission.MANAGE_SEARCH)
def judgement_list_create() -> Answer:
    draft = ListDraft(request.form.get("name", ""))
    try:
        with transaction():
            created = lists.create(current_author(), draft).id
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _show_lists(draft.name, errors), errors.status
    return redirect(_address(created))


@bp.get(LIST)
@requires(Permission.MANAGE_SEARCH)
def judgement_list(judgement_list_id: int) -> Answer:
    """Show a list. `q` narrows its searches to those with these words, `left=on` to those that the user has not
    rated."""
    return show_list(judgement_list_id)


@bp.post(LIST)
@requires(Permission.MANAGE_SEARCH)
def judgement_list_save(judgement_list_id: int) -> Answer:
    try:
        draft, revision = _sent_draft(), sent_revision(request.form)
        with transaction():
            changed = lists.change(current_author(), judgement_list_id, revision, draft)
    except (Invalid, Conflict) as error:
        return show_list(judgement_list_id, FieldErrors(error), request.form.to_dict())
    flash("Saved." if changed else "No changes to save.", "good")
    return redirect(_address(judgement_list_id))


@bp.post(f"{LIST}/delete")
@requires(Permission.MANAGE_SEARCH)
def judgement_list_delete(judgement_list_id: int) -> Answer:
    with transaction():
        name = lists.delete(current_author(), judgement_list_id)
    flash(f"Deleted: {name}.", "good")
    return redirect(url_for("admin.judgement_lists"))


@bp.post(f"{LIST}/candidate")
@requires(Permission.MANAGE_SEARCH)
def judgement_candidate(judgement_list_id: int) -> Answer:
    """Choose the candidate of a list: one of CANDIDATES, or the change of a preview."""
    lists.list_of(current_user.site_id, judgement_list_id)
    if request.form.get("candidate") == KEPT:
        return redirect(_address(judgement_list_id))
    candidate = _sent_candidate()
    with transaction():
        lists.choose_candidate(current_author(), judgement_list_id, candidate)
    shown = proposals.describe(candidate) if candidate else "none"
    flash(f"Saved the candidate whose products are rated too: {shown}.", "good")
    return redirect(_address(judgement_list_id))


@bp.post(f"{LIST}/runs")
@requires(Permission.MANAGE_SEARCH)
def judgement_run_request(judgement_list_id: int) -> Answer:
    """Request the figures of a list, or with `proposal` those before and after that change."""
    try:
        proposal = read_sent_proposal(request.form["proposal"]) if request.form.get("proposal") else None
        with transaction():
            run_id = runs.request(current_author(), judgement_list_id, proposal).id
    except Invalid as invalid:
        return show_list(judgement_list_id, FieldErrors(invalid))
    if wants_fragment():
        return _show_run(judgement_list_id, run_id)
    if proposal is None:
        return redirect(_address(judgement_list_id))
    return redirect(url_for("admin.judgement_run", judgement_list_id=judgement_list_id, judgement_run_id=run_id))


@bp.get(f"{LIST}/runs/<judgement_run_id>")
@requires(Permission.MANAGE_SEARCH)
def judgement_run(judgement_list_id: int, judgement_run_id: str) -> Answer:
    """Show figures; the page reloads them while they are computed."""
    return _show_run(judgement_list_id, judgement_run_id)


def show_list(list_id: int, errors: FieldErrors = NO_ERRORS, typed: dict[str, str] | None = None) -> Answer:
    """Show a list; `typed` is what a form held that was refused. Raises NotFound."""
    site_id, now = current_user.site_id, ports.clock().now()
    summary = lists.summary_of(site_id, list_id)
    stored = figures.stored_figures(summary.row)
    state = figures.state_of(ports.search_engine(), summary.row, served(site_id), now)
    candidate = lists.candidate_of(summary.row)
    words, is_left = request.args.get("q", "")[: lists.LONGEST_QUERY], request.args.get("left") == "on"
    page = page_number(request.args.get("p"))
    context: dict[str, Any] = {
        "summary": summary,
        "row": summary.row,
        "found": lists.find_searches(site_id, list_id, current_user.user_id, page, words, is_left),
        "words": words,
        "is_left": is_left,
        "ndcgs": stored.figures.ndcgs if stored else {},
        "is_current": stored is not None and stored.depends_on == state,
        "run": runs.latest_run(ports.clock(), summary.row),
        "past": runs.past_figures(summary.row),
        "raters": ratings.raters_of(list_id),
        "agreement": ratings.agreement_on(list_id),
        "candidate": proposals.describe(candidate) if candidate else None,
        "chosen": next((name for name, one in CANDIDATES.items() if one == candidate), KEPT),
        "errors": errors,
        "typed": typed or {},
        "depth": DEPTH,
    }
    page_text = render_template("admin/search/judgements/list.html", **context)
    return (page_text, errors.status) if errors else page_text


def _show_lists(name: str = "", errors: FieldErrors = NO_ERRORS) -> str:
    latest = runs.latest_figures(current_user.site_id)
    rows = [(summary, latest.get(summary.row.id)) for summary in lists.all_lists(current_user.site_id)]
    return render_template("admin/search/judgements/page.html", rows=rows, name=name, errors=errors)


def _show_run(list_id: int, run_id: str) -> str:
    row = lists.list_of(current_user.site_id, list_id)
    run = runs.run_of(ports.clock(), current_user.site_id, list_id, run_id)
    template = "admin/search/judgements/_run.html" if wants_fragment() else "admin/search/judgements/run.html"
    proposal = json.dumps(proposals.as_json(run.proposal), ensure_ascii=False) if run.proposal else None
    return render_template(template, row=row, run=run, proposal=proposal)


def _sent_draft() -> ListDraft:
    """Return the settings of the form. Raises Invalid for a fall that is no number."""
    form, problems = request.form, list[Problem]()
    drop = read_number(problems, float, form.get("largestDrop", ""), "#/largestDrop")
    if problems:
        raise Invalid(problems)
    return ListDraft(
        name=form.get("name", ""),
        combination=Combination.MEDIAN if form.get("combination") == "median" else Combination.MEAN,
        in_previews=form.get("inPreviews") == "on",
        largest_drop=None if drop is None else round(drop * THOUSANDTHS),
        pool_size=sent_number(form.get("poolSize", "").strip()),
    )


def _sent_candidate() -> Proposal | None:
    """Return the candidate of the form. Raises Invalid."""
    if stored := request.form.get("proposal"):
        return read_sent_proposal(stored)
    name = request.form.get("candidate", "")
    if name not in CANDIDATES:
        raise Invalid.one("unknown_candidate", "Choose one of the candidates.", "#/candidate")
    return CANDIDATES[name]


def _address(list_id: int) -> str:
    return url_for("admin.judgement_list", judgement_list_id=list_id)
