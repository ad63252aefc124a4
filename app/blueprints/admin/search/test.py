"""Test a search: what shoppers get for it, why, and buttons with what helps. Nothing of this is counted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.admin.search.advice_links import label_of, link_of
from app.blueprints.author import current_author
from app.domain.catalogue import products, terms
from app.domain.relevance import explanation as score_text
from app.domain.relevance import explanation as view
from app.domain.relevance import synonyms
from app.domain.relevance.advice import Act, advise_on_search, inactive_reason
from app.domain.relevance.explain import explain_search, reindex_product
from app.domain.relevance.explanation import ExplainRequest, SearchExplanation
from app.domain.relevance.rule_definition import local_text, moment_of, moment_with_zone
from app.domain.search.text import MAX_CHARACTERS
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.shared.times import rfc3339
from app.domain.sites.sites import currency_of, time_zone_of
from app.errors import wants_json
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

LONGEST_REFERENCE = 200
FOLLOWED = 5  # Most repetitions of a test, every two seconds, until search has what a button changed.


@bp.get("/search/test")
@requires(Permission.MANAGE_SEARCH)
def search_test() -> Response:
    """Show the page that tests a search. `q` are the words, `product` is a SKU, an SEO name or an id, `at` the moment
    as of which rules apply: RFC 3339, or a time in the site's own zone. While a change waits, the page tests again as
    often as `follow` says. For an invalid moment JSON raises Invalid; the page says so and takes now."""
    zone = ZoneInfo(time_zone_of(current_user.site_id))
    problems: list[Problem] = []
    question = ExplainRequest(_sent("q", MAX_CHARACTERS), _sent("product", LONGEST_REFERENCE), _moment(zone, problems))
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
    """Carry out a piece of advice, and test again."""
    act, follow = ACTS.get(request.form.get("act", "")), None
    try:
        if act is None:
            raise NotFound("There is no such button on this page.")
        with transaction():
            done = act(current_author())
    except (Invalid, Conflict) as refused:
        flash(refused.message, "bad")
    else:
        flash(done, "good")
        follow = FOLLOWED
    q, product, at = (request.form.get(name) or None for name in ("q", "product", "at"))
    return redirect(url_for("admin.search_test", q=q, product=product, at=at, follow=follow))


def _address(question: ExplainRequest, follow: int | None = None) -> str:
    """Return the address of a request, without empty parameters."""
    at, product = rfc3339(question.at) if question.at else None, question.reference or None
    return url_for("admin.search_test", q=question.words or None, product=product, at=at, follow=follow)


def _follows(explanation: SearchExplanation) -> str | None:
    """Return the address that the page polls; None once search has the change, or after the last repetition."""
    left = min(sent_number(request.args.get("follow", "")) or 0, FOLLOWED)
    return _address(explanation.request, left - 1) if left and explanation.is_waiting else None


def _show(author: Author) -> str:
    products.set_enabled(author, [_id()], True)
    return "It is shown in the shop again. Search follows in a few seconds."


def _index(author: Author) -> str:
    return f"{reindex_product(author.site_id, _id())} is being indexed again. Check again in a few seconds."


def _add_term(author: Author) -> str:
    term = request.form.get("term", "")
    terms.add_terms(author, _id(), [term])
    return f"Added the search term “{term.strip()}”. Search follows in a few seconds."


def _accept(author: Author) -> str:
    revision = sent_number(request.form.get("revision", "")) or 0
    synonyms.accept(author, _id(), revision)
    return "The synonym is accepted. Live within two seconds."


ACTS: dict[str, Callable[[Author], str]] = {
    Act.ENABLE.value: _show,
    Act.INDEX.value: _index,
    Act.ADD_TERM.value: _add_term,
    Act.ACCEPT.value: _accept,
}


def _id() -> int:
    """Return the id of the product or the synonym. Raises NotFound."""
    sent = sent_number(request.form.get("id", ""))
    if sent is None:
        raise NotFound("It is no longer there.")
    return sent


def _as_json(question: ExplainRequest) -> Response:
    explanation = explain_search(ports.clock(), ports.search_engine(), current_user.site_id, question)
    advice = [
        {"code": one.code, "message": one.message, "label": label_of(one), "link": link_of(one, explanation)}
        for one in advise_on_search(explanation)
    ]
    return jsonify(view.explanation_json(explanation) | {"advice": advice})


def _page(question: ExplainRequest, zone: ZoneInfo, problems: list[Problem]) -> str:
    explanation = explain_search(ports.clock(), ports.search_engine(), current_user.site_id, question)
    template = "admin/search/test/_answer.html" if wants_fragment() else "admin/search/test/page.html"
    return render_template(
        template,
        explanation=explanation,
        advice=[(one, label_of(one), link_of(one, explanation)) for one in advise_on_search(explanation)],
        acts=ACTS,
        follows=_follows(explanation),
        inactive_reason=inactive_reason,
        at=request.args.get("at", "") if problems else local_text(question.at, zone),
        zone=zone.key,
        problems=problems,
        score_text=score_text,
        currency=currency_of(current_user.site_id),
    )


def _sent(name: str, longest: int) -> str:
    return " ".join(request.args.get(name, "").replace("\0", "")[:longest].split())


def _moment(zone: ZoneInfo, problems: list[Problem]) -> datetime | None:
    text = request.args.get("at", "").strip()
    moment = moment_with_zone(text.replace(" ", "+"))  # A plus that was not escaped arrives as a space.
    return moment or moment_of(text, zone, "#/at", problems)
