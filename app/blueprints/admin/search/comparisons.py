"""Comparisons of the present ranking with a candidate on real shoppers: started, watched, stopped, and what came of the
earlier ones; as a page and as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.relevance import candidates, proposals, rules
from app.domain.relevance import ranking_comparisons as comparisons
from app.domain.relevance.proposals import Proposal, RuleProposal, as_json, read_proposal
from app.domain.search.ranking_settings import RANKING, ranking_of
from app.domain.search.serving.plan import LearningMode
from app.domain.search.serving.term_index import Match
from app.domain.search.settings import stored_settings
from app.domain.search_statistics import verdicts
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.schema import Anything, Record, Whole
from app.domain.sites.settings import settings_of
from app.domain.sites.sites import time_zone_of
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

LONGEST_TERM = 200
USUAL_SHARE = 50
UNKNOWN_RULE = "Type the search of a rule that is saved, and choose which searches the rule is for."
MATCHES = (
    (Match.EXACT.value, "Exactly this"),
    (Match.STARTS_WITH.value, "All that start with this"),
    (Match.CONTAINS.value, "All that contain this"),
    (Match.ANY.value, "All that name its levels"),
)
NO_ERRORS = FieldErrors()
START = Record(candidate=Anything(required=True), share=Whole(required=True), days=Whole(required=True))
Answer = str | AnyResponse | tuple[str | AnyResponse, int]


@dataclass(frozen=True, slots=True)
class StartForm:
    """What was typed to start a comparison. `ranking` has the fields of the ranking settings."""

    kind: str
    ranking: Mapping[str, str]
    term: str = ""
    match: str = Match.EXACT.value
    share: str = str(USUAL_SHARE)
    days: str = str(candidates.DAYS)

    @classmethod
    def blank(cls, site_id: int) -> StartForm:
        return cls("ranking", ranking_of(settings_of(site_id)).as_json())

    @classmethod
    def typed(cls, sent: MultiDict[str, str]) -> StartForm:
        return cls(
            sent.get("kind", ""),
            {name: sent.get(name, "") for name in RANKING.fields},
            sent.get("term", "")[:LONGEST_TERM].strip(),
            sent.get("match", Match.EXACT.value),
            sent.get("share", ""),
            sent.get("days", ""),
        )

    def proposal(self, site_id: int) -> Proposal:
        """Return the candidate. Of learning and meaning it is the other state than the present one; of a rule, that it
        applies where it is paused, and else that it is gone. Raises Invalid."""
        match self.kind:
            case "ranking":
                return read_proposal({"kind": "ranking", **self.ranking})
            case "learning":
                is_on = stored_settings(site_id).learning is LearningMode.ON
                return proposals.LearningProposal(not is_on)
            case "meaning":
                return proposals.MeaningProposal(not stored_settings(site_id).by_meaning)
        is_known = self.term and self.match in tuple(Match)
        rule = rules.rule_for(site_id, self.term, Match(self.match)) if is_known else None
        if rule is None:
            raise Invalid.one("unknown_rule", UNKNOWN_RULE, "#/term")
        return candidates.rule_candidate(rule.value)


@bp.get("/search/comparisons")
@requires(Permission.MANAGE_SEARCH)
def search_comparisons() -> Answer:
    """Show the comparison that runs and those before it, as a page or as JSON, by the kind of request."""
    if wants_json():
        clock, site_id = ports.clock(), current_user.site_id
        running = comparisons.running_comparison(clock, site_id)
        ended = [one.as_json() for one in comparisons.ended_comparisons(clock, site_id)]
        return jsonify({"running": running.as_json() if running else None, "ended": ended})
    return _show(StartForm.blank(current_user.site_id))


@bp.post("/search/comparisons")
@requires(Permission.MANAGE_SEARCH)
def search_comparison_start() -> Answer:
    """Start a comparison. JSON has a `candidate`, as previews have it, the `share` of visits and the most `days`."""
    if request.is_json:
        sent = json_body(START)
        with transaction():
            started = _start(read_proposal(sent["candidate"]), sent["share"], sent["days"])
        return jsonify(comparisons.comparison_report(ports.clock(), current_user.site_id, started).as_json()), 201
    form = StartForm.typed(request.form)
    try:
        proposal = form.proposal(current_user.site_id)
        with transaction():
            _start(proposal, sent_number(form.share) or 0, sent_number(form.days) or 0)
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _show(form, errors), errors.status
    flash("Started. Shoppers see both orders interleaved in a moment.", "good")
    return _back()


@bp.post("/search/comparisons/<int(max=2147483647):comparison_id>/stop")
@requires(Permission.MANAGE_SEARCH)
def search_comparison_stop(comparison_id: int) -> Answer:
    with transaction():
        comparisons.stop_comparison(current_author(), comparison_id)
    if wants_json():
        report = comparisons.comparison_report(ports.clock(), current_user.site_id, comparison_id)
        return jsonify(report.as_json())
    flash("Stopped. Shoppers see the present ranking in a moment.", "good")
    return _back()


def _start(proposal: Proposal, share: int, days: int) -> int:
    return comparisons.start_comparison(current_author(), ports.search_engine(), proposal, share, days).id


def _show(form: StartForm, errors: FieldErrors = NO_ERRORS) -> str:
    clock, site_id = ports.clock(), current_user.site_id
    running = comparisons.running_comparison(clock, site_id)
    stored = stored_settings(site_id)
    return render_template(
        "admin/search/comparisons/page.html",
        form=form,
        errors=errors,
        running=running,
        proposal=json.dumps(as_json(running.proposal), ensure_ascii=False) if running else None,
        ended=comparisons.ended_comparisons(clock, site_id),
        durations=_durations(site_id) if running is None else [],
        settings=stored,
        limits=candidates,
        matches=MATCHES,
        verdicts=verdicts,
        endings=comparisons.ENDINGS,
        time_zone=time_zone_of(site_id),
        tab_of="admin.search_ranking",
    )


def _durations(site_id: int) -> list[tuple[int, int | None]]:
    """Return for each share of visits in how many days there are enough clicks at least."""
    return [(share, comparisons.days_before_start(ports.clock(), site_id, share)) for share in candidates.SHARES]


def _back() -> AnyResponse:
    address = url_for("admin.search_comparisons")
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.app_template_filter("adopted_at")
def adopted_at(proposal: Proposal) -> str:
    """Return the page on which a candidate is made the present ranking."""
    if isinstance(proposal, RuleProposal):
        return url_for("admin.search_ranking", q=proposal.rule.term)
    if isinstance(proposal, proposals.RankingProposal):
        return url_for("admin.search_ranking_settings")
    return url_for("admin.search_settings")
