"""Use cases of search rules. Call them within a transaction; what they save is served once it is published."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.saving import check_revision
from app.domain.search.live import publishing
from app.domain.search.live.models import SearchRule
from app.domain.search.live.served import normalized_term
from app.domain.search.rules.record import draft_of, draft_of_json, json_of_draft
from app.domain.search.rules.rule import MOST_PLACED, MOST_RULES, RuleDraft, rule_problems, tidy
from app.domain.search.rules.rule import check as check_rule
from app.domain.search.rules.story import does
from app.domain.search.rules.targets import target_problems
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.shared.times import rfc3339
from app.domain.sites import audit
from app.extensions import db

FIELDS = (
    *("term", "boosts", "buries", "redirect_url", "banner_text", "banner_link_url", "enabled", "starts_at"),
    *("ends_at", "note"),
)
# Of `record`: what makes it another rule for those who ask whether it helped.
EFFECT = ("term", "pins", "boosts", "buries", "redirectUrl", "banner", "enabled", "startsAt")
TAKEN = "Somebody else added a rule for this term at the same moment. Nothing was saved."


def rule_of(site_id: int, rule_id: int, to_change: bool = False) -> SearchRule:
    """A rule of this site. Raises NotFound."""
    query = _own(site_id, rule_id)
    rule = db.session.scalar(query.with_for_update() if to_change else query)
    if rule is None:
        raise NotFound("There is no such search rule on this site.")
    return rule


def rule_for(site_id: int, term: str) -> SearchRule | None:
    """The rule for a search, whatever its case and spacing."""
    query = select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.normalized_term == normalized_term(term))
    return db.session.scalar(query)


def add(clock: Clock, site_id: int, draft: RuleDraft, actor: str, *, may_lead_nowhere: bool = False) -> SearchRule:
    """Raises Invalid, and Conflict when somebody adds one for the same term at the same moment. `may_lead_nowhere`:
    the pages that the rule leads to may come after it; until they do, its list warns."""
    clean = checked(site_id, draft, None, may_lead_nowhere)
    rule = SearchRule(site_id=site_id, revision=1, created_at=clock.now())
    _insert(clock, rule, clean, actor, "rule.add", f"Added a rule for “{clean.term}”: {', '.join(does(clean))}")
    return rule


def change(
    clock: Clock,
    site_id: int,
    rule_id: int,
    revision: int,
    draft: RuleDraft,
    actor: str,
    *,
    may_lead_nowhere: bool = False,
) -> tuple[SearchRule, tuple[str, ...]]:
    """The rule and the names of the fields that differ now; `may_lead_nowhere` as in `add`. Raises NotFound,
    StaleRevision, Invalid, Conflict."""
    rule = rule_of(site_id, rule_id, to_change=True)
    check_revision(site_id, ("rule", rule.id), rule.revision, revision)
    clean = checked(site_id, draft, rule, may_lead_nowhere)
    return rule, _change(clock, rule, clean, actor, "rule.change", f"Changed the rule for “{clean.term}”")


def pause(clock: Clock, site_id: int, rule_id: int, actor: str) -> SearchRule:
    """The rule stays and applies no more; one that is paused already stays so. Raises NotFound."""
    return _switch(clock, site_id, rule_id, actor, enabled=False)


def resume(clock: Clock, site_id: int, rule_id: int, actor: str) -> SearchRule:
    """Raises NotFound."""
    return _switch(clock, site_id, rule_id, actor, enabled=True)


def delete(clock: Clock, site_id: int, rule_id: int, revision: int, actor: str) -> str:
    """The term of the rule that is gone. Raises NotFound, StaleRevision."""
    rule = rule_of(site_id, rule_id, to_change=True)
    check_revision(site_id, ("rule", rule.id), rule.revision, revision)
    term = rule.term
    _remove(clock, rule, actor, "rule.delete", f"Deleted the rule for “{term}”")
    return term


def record(rule: SearchRule) -> dict[str, Any]:
    """The whole rule as the activity log keeps it: equal where a rule is what it was."""
    return json_of_draft(draft_of(rule))


def put_back(clock: Clock, site_id: int, rule_id: int, before: dict[str, Any] | None, actor: str) -> None:
    """Makes a rule what `record` once gave; None for a rule that was not there. Raises Invalid and Conflict where the
    shop of today leaves no place for it: a product is gone, or its term has another rule."""
    rule = db.session.scalar(_own(site_id, rule_id).with_for_update())
    if before is None:
        if rule is not None:
            _remove(clock, rule, actor, "rule.undo", f"Took back the rule for “{rule.term}”")
        return
    clean = checked(site_id, draft_of_json(before), rule)
    if rule is None:
        summary = f"Brought back the rule for “{clean.term}”"
        rule = SearchRule(id=rule_id, site_id=site_id, revision=1, created_at=clock.now())
        _insert(clock, rule, clean, actor, "rule.undo", summary)
    else:
        _change(clock, rule, clean, actor, "rule.undo", f"Undid a change of the rule for “{clean.term}”")


def checked(site_id: int, draft: RuleDraft, own: SearchRule | None, may_lead_nowhere: bool = False) -> RuleDraft:
    """The draft as it can be stored in `own`, or in a new rule. Raises Invalid with every problem."""
    clean = tidy(draft)
    known = known_skus(site_id, clean)
    problems = [
        *rule_problems(clean, known),
        *([] if may_lead_nowhere else target_problems(site_id, clean)),
        *_site_problems(site_id, clean.term, own),
    ]
    if problems:
        raise Invalid(problems)
    return check_rule(clean, known)


def known_skus(site_id: int, draft: RuleDraft) -> dict[str, str]:
    """Those SKUs of the rule that products of this site have, with the names of the products."""
    pinned = (pin.sku for pin in draft.pins[:MOST_PLACED])
    wanted = {*pinned, *draft.boosts[:MOST_PLACED], *draft.buries[:MOST_PLACED]}
    if not wanted:
        return {}
    query = select(Product.sku, Product.name).where(Product.site_id == site_id, Product.sku.in_(wanted))
    return {sku: name for sku, name in db.session.execute(query)}


def subject_of(rule: SearchRule) -> tuple[str, str]:
    return "rule", str(rule.id)


def _own(site_id: int, rule_id: int) -> Select[SearchRule]:
    return select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.id == rule_id)


def _site_problems(site_id: int, term: str, own: SearchRule | None) -> list[Problem]:
    same = rule_for(site_id, term)
    if same is not None and (own is None or same.id != own.id):
        return [Problem("duplicate_term", f"There is a rule for “{same.term}” already.", "#/term")]
    if own is None and _count(site_id) >= MOST_RULES:
        return [Problem("too_many", f"A shop has at most {MOST_RULES:,} rules. Delete some that have ended.")]
    return []


def _count(site_id: int) -> int:
    return db.session.scalar(select(func.count()).where(SearchRule.site_id == site_id)) or 0


def _insert(clock: Clock, rule: SearchRule, clean: RuleDraft, actor: str, action: str, summary: str) -> None:
    _write(rule, clean, clock.now(), actor)
    rule.words_version = publishing.touch(rule.site_id)
    db.session.add(rule)
    flush_or_conflict(TAKEN)
    audit.record(clock, rule.site_id, actor, action, subject_of(rule), summary, None, record(rule))


def _remove(clock: Clock, rule: SearchRule, actor: str, action: str, summary: str) -> None:
    before, subject = record(rule), subject_of(rule)
    publishing.touch(rule.site_id)
    db.session.delete(rule)
    db.session.flush()
    audit.record(clock, rule.site_id, actor, action, subject, summary, before)


def _switch(clock: Clock, site_id: int, rule_id: int, actor: str, enabled: bool) -> SearchRule:
    rule = rule_of(site_id, rule_id, to_change=True)
    if rule.enabled != enabled:
        before = record(rule)
        rule.enabled = enabled
        action, verb = ("rule.resume", "Resumed") if enabled else ("rule.pause", "Paused")
        _note(clock, rule, before, actor, action, f"{verb} the rule for “{rule.term}”")
    return rule


def _change(clock: Clock, rule: SearchRule, clean: RuleDraft, actor: str, action: str, summary: str) -> tuple[str, ...]:
    before = record(rule)
    after = json_of_draft(clean)
    changed = tuple(name for name in after if after[name] != before[name])
    if changed:
        _write(rule, clean, clock.now(), actor)
        _note(clock, rule, before, actor, action, summary)
    return changed


def _note(clock: Clock, rule: SearchRule, before: dict[str, Any], actor: str, action: str, summary: str) -> None:
    """What every change of a rule that is there entails."""
    if _begins_anew(before, record(rule), clock.now()):
        rule.live_since = None
    rule.revision += 1
    rule.updated_at, rule.updated_by = clock.now(), actor[:100]
    rule.words_version = publishing.touch(rule.site_id)
    flush_or_conflict(TAKEN)
    audit.record(clock, rule.site_id, actor, action, subject_of(rule), summary, before, record(rule))


def _begins_anew(before: dict[str, Any], after: dict[str, Any], now: datetime) -> bool:
    """What was counted since it went live says nothing about what it does from now on: it does something else, or does
    it again after it was paused or had ended."""
    ended = before["endsAt"] is not None and before["endsAt"] <= rfc3339(now)
    return any(before[name] != after[name] for name in EFFECT) or (ended and before["endsAt"] != after["endsAt"])


def _write(rule: SearchRule, clean: RuleDraft, now: datetime, actor: str) -> None:
    for name in FIELDS:
        value = getattr(clean, name)
        setattr(rule, name, list(value) if isinstance(value, tuple) else value)
    rule.pins = [{"sku": pin.sku, "position": pin.position} for pin in clean.pins]
    rule.normalized_term = normalized_term(clean.term)
    rule.updated_at, rule.updated_by = now, actor[:100]
