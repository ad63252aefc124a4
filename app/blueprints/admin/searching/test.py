"""Test a search: what shoppers get for it, why, and the buttons that mend it. Nothing of this is counted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.form_numbers import sent_id
from app.blueprints.admin.searching.advice_links import link_of
from app.domain.catalogue import products, terms
from app.domain.search.rules.schedule import EARLIEST_YEAR, LATEST_YEAR, local_text, moment_of
from app.domain.search.synonyms import editing
from app.domain.search.testing import answer, reasons
from app.domain.search.testing.advice import Act, advise, why_asleep
from app.domain.search.testing.examining import examine
from app.domain.search.testing.findings import Findings, Question
from app.domain.search.testing.mending import index_again
from app.domain.search.text import MAX_CHARACTERS
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.shared.times import rfc3339
from app.domain.sites.currency import currency_of
from app.domain.sites.time_zone import time_zone_of
from app.errors import wants_json
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

LONGEST_REFERENCE = 200
FOLLOWED = 5  # Times that a test repeats itself, every two seconds, until search has what a button changed.


@bp.get("/search/test")
@requires(Permission.MANAGE_SEARCH)
def search_test() -> Response:
    """`q` are the words, `product` is a SKU, an SEO name or an id, `at` the moment as of which rules apply: RFC 3339,
    or a time in the site's own zone; while a change waits, the page tests again as often as `follow` says. JSON raises
    Invalid for a moment that is none; the page says so and takes now."""
    zone = ZoneInfo(time_zone_of(current_user.site_id))
    problems: list[Problem] = []
    question = Question(_sent("q", MAX_CHARACTERS), _sent("product", LONGEST_REFERENCE), _moment(zone, problems))
    if wants_json():
        if problems:
            raise Invalid(problems)
        response = _as_json(question)
    else:
        response = make_response(_page(question, zone, problems))
        response.headers["HX-Replace-Url" if "follow" in request.args else "HX-Push-Url"] = _address(question)
    response.headers["Vary"] = "Accept, HX-Request"
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/search/test")
@requires(Permission.MANAGE_SEARCH)
def search_test_act() -> Response:
    """Does what a piece of advice says and tests again."""
    act, follow = ACTS.get(request.form.get("act", "")), None
    try:
        if act is None:
            raise NotFound("There is no such button on this page.")
        with transaction():
            told = act(ports.clock(), current_user.site_id, current_user.display_name)
    except (Invalid, Conflict) as refused:
        flash(refused.message, "bad")
    else:
        flash(told, "good")
        follow = FOLLOWED
    q, product, at = (request.form.get(name) or None for name in ("q", "product", "at"))
    return redirect(url_for("admin.search_test", q=q, product=product, at=at, follow=follow))


def _address(question: Question, follow: int | None = None) -> str:
    """The page of a question, without what it does not ask."""
    at, product = rfc3339(question.at) if question.at else None, question.reference or None
    return url_for("admin.search_test", q=question.words or None, product=product, at=at, follow=follow)


def _follows(findings: Findings) -> str | None:
    """Where the page asks again; None once search has followed, or after the last time."""
    left = min(sent_id(request.args.get("follow", "")) or 0, FOLLOWED)
    return _address(findings.question, left - 1) if left and findings.is_waiting else None


def _show(clock: Clock, site_id: int, actor: str) -> str:
    products.set_enabled(clock, site_id, [_id()], True, actor)
    return "It is shown in the shop again. Search follows in a few seconds."


def _index(_clock: Clock, site_id: int, _actor: str) -> str:
    return f"{index_again(site_id, _id())} is being indexed again. Look once more in a few seconds."


def _add_term(clock: Clock, site_id: int, actor: str) -> str:
    term = request.form.get("term", "")
    terms.add_terms(clock, site_id, _id(), [term], actor)
    return f"Added the search term “{term.strip()}”. Search follows in a few seconds."


def _accept(clock: Clock, site_id: int, actor: str) -> str:
    revision = sent_id(request.form.get("revision", "")) or 0
    editing.accept(clock, site_id, _id(), revision, actor)
    return "The synonym is accepted. Shoppers have it within two seconds."


ACTS: dict[str, Callable[[Clock, int, str], str]] = {
    Act.ENABLE.value: _show,
    Act.INDEX.value: _index,
    Act.ADD_TERM.value: _add_term,
    Act.ACCEPT.value: _accept,
}


def _id() -> int:
    """Of the product or the synonym. Raises NotFound."""
    sent = sent_id(request.form.get("id", ""))
    if sent is None:
        raise NotFound("It is no longer there.")
    return sent


def _as_json(question: Question) -> Response:
    findings = examine(ports.clock(), ports.search_engine(), current_user.site_id, question)
    advice = [
        {"code": one.code, "message": one.message, "label": one.label, "link": link_of(one, findings)}
        for one in advise(findings)
    ]
    return jsonify(answer.as_json(findings) | {"advice": advice})


def _page(question: Question, zone: ZoneInfo, problems: list[Problem]) -> str:
    findings = examine(ports.clock(), ports.search_engine(), current_user.site_id, question)
    template = "admin/search/test/_answer.html" if wants_fragment() else "admin/search/test/page.html"
    return render_template(
        template,
        findings=findings,
        advice=[(one, link_of(one, findings)) for one in advise(findings)],
        acts=ACTS,
        follows=_follows(findings),
        why_asleep=why_asleep,
        at=request.args.get("at", "") if problems else local_text(question.at, zone),
        zone=zone.key,
        problems=problems,
        reasons=reasons,
        currency=currency_of(current_user.site_id),
    )


def _sent(name: str, longest: int) -> str:
    return " ".join(request.args.get(name, "").replace("\0", "")[:longest].split())


def _moment(zone: ZoneInfo, problems: list[Problem]) -> datetime | None:
    text = request.args.get("at", "").strip()
    try:
        moment = datetime.fromisoformat(text.replace(" ", "+"))  # A plus that was not escaped arrives as a space.
        if moment.tzinfo is not None and EARLIEST_YEAR <= moment.year <= LATEST_YEAR:
            return moment.astimezone(UTC)
    except ValueError:
        pass
    return moment_of(text, zone, "#/at", problems)
