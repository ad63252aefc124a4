"""Read a proposal from the form in which it is edited, or as JSON."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo

from flask import request
from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.admin.search.rules.form import RuleForm
from app.domain.catalogue.search_terms import split_terms
from app.domain.relevance import proposals
from app.domain.relevance.proposals import Proposal
from app.domain.relevance.rule_definition import moment_of, moment_with_zone
from app.domain.search.ranking_settings import RANKING
from app.domain.shared import strict_json
from app.domain.shared.problems import Invalid, Problem

BETWEEN_WORDS = re.compile(r"[,;\n\r]")
MOST_MARKS = 5_000


def sent_proposal(time_zone: str) -> Proposal:
    """Return the proposal that a form sent. `?kind=` says of what kind the form is; a field `proposal` holds the JSON
    of one that was tried before. Times without a zone are of the site's. Raises Invalid."""
    if request.is_json:
        return proposals.read_proposal(request.get_json())
    if stored := request.form.get("proposal"):
        return proposals.read_proposal(_parsed(stored))
    kind = request.args.get("kind") or request.form.get("kind", "")
    readers = {"synonym": _synonym, "rule": _rule, "terms": _terms, "ranking": _ranking}
    fields = readers[kind](request.form, time_zone) if kind in readers else {}
    return proposals.read_proposal({"kind": kind, "remove": bool(request.form.get("remove")), **fields})


def _parsed(text: str) -> Any:
    try:
        return strict_json.loads(text, MOST_MARKS)
    except ValueError as error:
        raise Invalid.one("malformed_json", f"What is to be tried is not valid JSON: {error}", "#/proposal") from error


def _synonym(form: MultiDict[str, str], _time_zone: str) -> dict[str, Any]:
    words = [word for text in form.getlist("words") for word in BETWEEN_WORDS.split(text)]
    named = {"type": form.get("type"), "root": form.get("root")}
    return {"id": sent_number(form.get("id", "")), **named, "synonyms": [word for word in words if word.strip()]}


def _rule(sent: MultiDict[str, str], time_zone: str) -> dict[str, Any]:
    """Return the fields of the rule, not paused even where the form says so: its effect is to be previewed."""
    form, zone = RuleForm.typed(sent), ZoneInfo(time_zone)
    text = form.banner_text.strip()
    problems: list[Problem] = []
    starts, ends = (
        moment_with_zone(typed.strip()) or moment_of(typed, zone, pointer, problems)
        for typed, pointer in ((form.starts, "#/startsAt"), (form.ends, "#/endsAt"))
    )
    if problems:
        raise Invalid(problems)
    return {
        "id": sent_number(sent.get("id", "")),
        "term": form.term,
        "pins": [{"sku": pin.sku, "position": pin.number} for pin in form.pins if pin.sku],
        "boosts": [sku for sku in form.boosts if sku],
        "buries": [sku for sku in form.buries if sku],
        "redirectUrl": form.redirect_url,
        "banner": {"text": text, "linkUrl": form.banner_link_url} if text else None,
        "startsAt": starts and starts.isoformat(),
        "endsAt": ends and ends.isoformat(),
    }


def _terms(form: MultiDict[str, str], _time_zone: str) -> dict[str, Any]:
    terms = [term for text in form.getlist("terms") for term in split_terms(text)]
    return {"productId": sent_number(form.get("productId", "")), "terms": terms, "add": bool(form.get("add"))}


def _ranking(form: MultiDict[str, str], _time_zone: str) -> dict[str, Any]:
    return {name: form[name] for name in RANKING.fields if name in form}
