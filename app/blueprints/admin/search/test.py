"""Test a search: what shoppers get for it, why, and links and buttons with what helps. Nothing of this is counted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import sent_number
from app.blueprints.admin.shell import flash_undoable
from app.blueprints.callers import current_author
from app.domain.catalogue import products, terms
from app.domain.relevance import explanation as explanations
from app.domain.relevance import synonyms
from app.domain.relevance.advice import Act, Advice, advise_on_search, inactive_reason
from app.domain.relevance.explain import explain_search, reindex_product
from app.domain.relevance.explanation import ExplainRequest, SearchExplanation
from app.domain.search.text import MAX_CHARACTERS
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import Conflict, Invalid, NotFound, Problem
from app.domain.shared.typed_times import local_text, moment_of, moment_with_zone
from app.domain.sites.sites import currency_of, time_zone_of
from app.transaction import transaction
from app.web.errors import wants_json
from app.web.htmx import push_address, wants_fragment
from app.web.permissions import Permission, requires

LONGEST_REFERENCE = 200
FOLLOWED = 5  # Most repetitions of a test, every two seconds, until search has what a button changed.
Address = Callable[[Advice, SearchExplanation], str]


@bp.get("/search/test")
@requires(Permission.MANAGE_SEARCH)
def search_test() -> Response:
    """Show the page that tests a search. `q` are the words, `product` is a SKU, an SEO name or an id, `at` the moment
    as of which rules apply: RFC 3339, or a time in the site's own zone. While a change waits, the page tests again as
    often as `follow` says. For an invalid moment JSON raises Invalid; the page says so and takes now."""
    zone = ZoneInfo(time_zone_of(current_user.site_id))
    problems: list[Problem] = []
    question = ExplainRequest(
        _sent_text("q", MAX_CHARACTERS), _sent_text("product", LONGEST_REFERENCE), _sent_moment(zone, problems)
    )
    if wants_json():
        if problems:
            raise Invalid(problems)
        response = _explanation_answer(question)
    else:
        response = make_response(_show_test(question, zone, problems))
        if "follow" in request.args:
            response.headers["HX-Replace-Url"] = _test_address(question)
        else:
            push_address(response, _test_address(question))
    response.headers["Vary"] = "Accept, HX-Request"
    response.headers["Cache-Control"] = "no-store"
    return response


@bp.post("/search/test")
@requires(Permission.MANAGE_SEARCH)
def search_test_act() -> Response:
    """Carry out a piece of advice, and test again."""
    name, follow = request.form.get("act", ""), None
    q, product, at = (request.form.get(field) or None for field in ("q", "product", "at"))
    try:
        if name not in ACTS:
            raise NotFound("There is no such button on this page.")
        with transaction():
            done = ACTS[name](current_author())
    except (Invalid, Conflict) as refused:
        flash(refused.message, "bad")
    else:
        follow = FOLLOWED
        if name in UNDOABLE:
            back = url_for("admin.search_test", q=q, product=product, at=at, follow=follow)
            flash_undoable(done, UNDOABLE[name], _sent_id(), back)
        else:
            flash(done, "good")
    return redirect(url_for("admin.search_test", q=q, product=product, at=at, follow=follow))


def _test_address(question: ExplainRequest, follow: int | None = None) -> str:
    """Return the address of a request, without empty parameters."""
    at, product = rfc3339(question.at) if question.at else None, question.reference or None
    return url_for("admin.search_test", q=question.words or None, product=product, at=at, follow=follow)


def _follows(explanation: SearchExplanation) -> str | None:
    """Return the address that the page polls; None once search has the change, or after the last repetition."""
    left = min(sent_number(request.args.get("follow", "")) or 0, FOLLOWED)
    return _test_address(explanation.request, left - 1) if left and explanation.is_waiting else None


def _enable_product(author: Author) -> str:
    if not products.set_enabled(author, [_sent_id()], True):
        raise Conflict("It is shown in the shop already.")
    return "It is shown in the shop again. Search follows in a few seconds."


def _index_product(author: Author) -> str:
    return f"{reindex_product(author.site_id, _sent_id())} is being indexed again. Check again in a few seconds."


def _add_term(author: Author) -> str:
    term = request.form.get("term", "")
    terms.add_terms(author, _sent_id(), [term])
    return f"Added the search term “{term.strip()}”. Search follows in a few seconds."


def _accept_synonym(author: Author) -> str:
    revision = sent_number(request.form.get("revision", "")) or 0
    synonyms.accept(author, _sent_id(), revision)
    return "The synonym is accepted. Live within two seconds."


ACTS: dict[str, Callable[[Author], str]] = {
    Act.ENABLE.value: _enable_product,
    Act.INDEX.value: _index_product,
    Act.ADD_TERM.value: _add_term,
    Act.ACCEPT.value: _accept_synonym,
}
# The kinds of changes that can be undone.
UNDOABLE = {Act.ENABLE.value: "whole_product", Act.ADD_TERM.value: "product", Act.ACCEPT.value: "synonym"}


def _sent_id() -> int:
    """Return the id of the product or the synonym. Raises NotFound."""
    sent = sent_number(request.form.get("id", ""))
    if sent is None:
        raise NotFound("It is no longer there.")
    return sent


def _explanation_answer(question: ExplainRequest) -> Response:
    explanation = explain_search(ports.clock(), ports.search_engine(), current_user.site_id, question)
    advice = [
        {"code": one.code, "message": one.message, "label": label_of(one), "link": link_of(one, explanation)}
        for one in advise_on_search(explanation)
    ]
    return jsonify(explanations.explanation_json(explanation) | {"advice": advice})


def _show_test(question: ExplainRequest, zone: ZoneInfo, problems: list[Problem]) -> str:
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
        score_text=explanations,
        currency=currency_of(current_user.site_id),
    )


def _sent_text(name: str, longest: int) -> str:
    return " ".join(request.args.get(name, "").replace("\0", "")[:longest].split())


def _sent_moment(zone: ZoneInfo, problems: list[Problem]) -> datetime | None:
    text = request.args.get("at", "").strip()
    moment = moment_with_zone(text.replace(" ", "+"))  # A plus that was not escaped arrives as a space.
    return moment or moment_of(text, zone, "#/at", problems)


def link_of(advice: Advice, explanation: SearchExplanation) -> str:
    """Return the address of a page on which to follow the advice; some advice also has a button on the page of the
    test."""
    return _ADDRESSES[advice.act](advice, explanation)


def label_of(advice: Advice) -> str:
    """Return the label of the link or the button."""
    if advice.act is Act.ADD_TERM:
        return f"Add “{advice.words}” as a search term"
    return f"Add a synonym of “{advice.words}”" if advice.act is Act.ADD_SYNONYM else _LABELS[advice.act]


def _product_link(_advice: Advice, explanation: SearchExplanation) -> str:
    return url_for("admin.product_edit", product_id=explanation.product.id if explanation.product else 0)


def _sku(explanation: SearchExplanation) -> str | None:
    return explanation.product.sku if explanation.product else None


def _rule_link(advice: Advice, _explanation: SearchExplanation) -> str:
    return url_for("admin.search_rule", rule_id=advice.id or 0)


def _new_rule_link(_advice: Advice, explanation: SearchExplanation) -> str:
    return url_for("admin.search_rule_new", term=explanation.words, pin=_sku(explanation))


def _test_link(_advice: Advice, explanation: SearchExplanation) -> str:
    request = explanation.request
    at = rfc3339(request.at) if request.at else None
    return url_for("admin.search_test", q=request.words or None, product=request.reference or None, at=at)


_ADDRESSES: dict[Act, Address] = {
    Act.SETTINGS: lambda advice, found: url_for("admin.search_settings"),
    Act.OVERVIEW: lambda advice, found: url_for("admin.search_overview"),
    Act.RANKING: lambda advice, found: url_for("admin.search_ranking_settings"),
    Act.FIND_PRODUCT: lambda advice, found: url_for("admin.products_list", q=found.request.reference),
    Act.ENABLE: _product_link,
    Act.INDEX: _product_link,
    Act.EDIT_PRODUCT: _product_link,
    Act.ADD_TERM: lambda advice, found: url_for("admin.search_terms", term=advice.words, product=_sku(found)),
    Act.CHOOSE_PRODUCT: lambda advice, found: url_for("admin.search_terms", term=advice.words),
    Act.ACCEPT: lambda advice, found: url_for("admin.search_synonyms", _anchor="suggestions"),
    Act.ADD_SYNONYM: lambda advice, found: url_for("admin.search_synonyms", word=advice.words),
    Act.ADD_RULE: _new_rule_link,
    Act.EDIT_RULE: _rule_link,
    Act.SYNONYMS: lambda advice, found: url_for("admin.search_synonyms"),
    Act.AGAIN: _test_link,
}


_LABELS = {
    Act.SETTINGS: "Search settings",
    Act.OVERVIEW: "Go to the Overview",
    Act.RANKING: "Ranking of searches",
    Act.FIND_PRODUCT: "Look in the catalogue",
    Act.ENABLE: "Show it in the shop",
    Act.INDEX: "Index it again",
    Act.EDIT_PRODUCT: "Edit the product",
    Act.CHOOSE_PRODUCT: "Add to a product",
    Act.ACCEPT: "Accept the synonym",
    Act.ADD_RULE: "Add a rule",
    Act.EDIT_RULE: "Edit the rule",
    Act.SYNONYMS: "Go to Synonyms",
    Act.AGAIN: "Test again",
}
