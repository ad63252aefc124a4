"""Use cases of search rules. Call them within a transaction; what they save is served once it is published."""

from __future__ import annotations

from sqlalchemy import func, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.saving import check_revision
from app.domain.search.live import publishing
from app.domain.search.live.models import SearchRule
from app.domain.search.live.served import normalized_term
from app.domain.search.rules.record import draft_of, json_of_draft
from app.domain.search.rules.rule import MOST_PLACED, MOST_RULES, RuleDraft, rule_problems, tidy
from app.domain.search.rules.rule import check as check_rule
from app.domain.search.rules.story import does
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Invalid, NotFound, Problem
from app.domain.sites import audit
from app.extensions import db

FIELDS = (
    *("term", "boosts", "buries", "redirect_url", "banner_text", "banner_link_url", "enabled", "starts_at"),
    *("ends_at", "note"),
)
TAKEN = "Somebody else added a rule for this term at the same moment. Nothing was saved."


def rule_of(site_id: int, rule_id: int, to_change: bool = False) -> SearchRule:
    """A rule of this site. Raises NotFound."""
    query = select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.id == rule_id)
    rule = db.session.scalar(query.with_for_update() if to_change else query)
    if rule is None:
        raise NotFound("There is no such search rule on this site.")
    return rule


def rule_for(site_id: int, term: str) -> SearchRule | None:
    """The rule for a search, whatever its case and spacing."""
    query = select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.normalized_term == normalized_term(term))
    return db.session.scalar(query)


def add(clock: Clock, site_id: int, draft: RuleDraft, actor: str) -> SearchRule:
    """Raises Invalid, and Conflict when somebody adds one for the same term at the same moment."""
    clean = checked(site_id, draft, None)
    now = clock.now()
    rule = SearchRule(site_id=site_id, revision=1, created_at=now)
    _write(rule, clean, now, actor)
    rule.words_version = publishing.touch(site_id)
    db.session.add(rule)
    flush_or_conflict(TAKEN)
    summary = f"Added a rule for “{rule.term}”: {', '.join(does(rule))}"
    audit.record(clock, site_id, actor, "rule.add", subject_of(rule), summary, None, json_of_draft(draft_of(rule)))
    return rule


def change(
    clock: Clock, site_id: int, rule_id: int, revision: int, draft: RuleDraft, actor: str
) -> tuple[SearchRule, tuple[str, ...]]:
    """The rule and the names of the fields that differ now. Raises NotFound, StaleRevision, Invalid, Conflict."""
    rule = rule_of(site_id, rule_id, to_change=True)
    check_revision(site_id, ("rule", rule.id), rule.revision, revision)
    clean = checked(site_id, draft, rule)
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
    term, before, subject = rule.term, json_of_draft(draft_of(rule)), subject_of(rule)
    publishing.touch(site_id)
    db.session.delete(rule)
    db.session.flush()
    audit.record(clock, site_id, actor, "rule.delete", subject, f"Deleted the rule for “{term}”", before)
    return term


def checked(site_id: int, draft: RuleDraft, own: SearchRule | None) -> RuleDraft:
    """The draft as it can be stored in `own`, or in a new rule. Raises Invalid with every problem."""
    clean = tidy(draft)
    known = known_skus(site_id, clean)
    problems = [*rule_problems(clean, known), *_site_problems(site_id, clean.term, own)]
    if problems:
        raise Invalid(problems)
    return check_rule(clean, known)


def known_skus(site_id: int, draft: RuleDraft) -> set[str]:
    """Those SKUs of the rule that products of this site have."""
    pinned = (pin.sku for pin in draft.pins[:MOST_PLACED])
    wanted = {*pinned, *draft.boosts[:MOST_PLACED], *draft.buries[:MOST_PLACED]}
    if not wanted:
        return set()
    return set(db.session.scalars(select(Product.sku).where(Product.site_id == site_id, Product.sku.in_(wanted))))


def subject_of(rule: SearchRule) -> tuple[str, str]:
    return "rule", str(rule.id)


def _site_problems(site_id: int, term: str, own: SearchRule | None) -> list[Problem]:
    same = rule_for(site_id, term)
    if same is not None and (own is None or same.id != own.id):
        return [Problem("duplicate_term", f"There is a rule for “{same.term}” already.", "#/term")]
    if own is None and _count(site_id) >= MOST_RULES:
        return [Problem("too_many", f"A shop has at most {MOST_RULES:,} rules. Delete some that have ended.")]
    return []


def _count(site_id: int) -> int:
    return db.session.scalar(select(func.count()).where(SearchRule.site_id == site_id)) or 0


def _switch(clock: Clock, site_id: int, rule_id: int, actor: str, enabled: bool) -> SearchRule:
    rule = rule_of(site_id, rule_id, to_change=True)
    if rule.enabled != enabled:
        before = json_of_draft(draft_of(rule))
        rule.enabled = enabled
        action, verb = ("rule.resume", "Resumed") if enabled else ("rule.pause", "Paused")
        _note(clock, rule, before, actor, action, f"{verb} the rule for “{rule.term}”")
    return rule


def _change(clock: Clock, rule: SearchRule, clean: RuleDraft, actor: str, action: str, summary: str) -> tuple[str, ...]:
    before = json_of_draft(draft_of(rule))
    after = json_of_draft(clean)
    changed = tuple(name for name in after if after[name] != before[name])
    if changed:
        _write(rule, clean, clock.now(), actor)
        _note(clock, rule, before, actor, action, summary)
    return changed


def _note(clock: Clock, rule: SearchRule, before: dict[str, object], actor: str, action: str, summary: str) -> None:
    """What every change of a rule that is there entails."""
    rule.revision += 1
    rule.updated_at, rule.updated_by = clock.now(), actor[:100]
    rule.words_version = publishing.touch(rule.site_id)
    flush_or_conflict(TAKEN)
    after = json_of_draft(draft_of(rule))
    audit.record(clock, rule.site_id, actor, action, subject_of(rule), summary, before, after)


def _write(rule: SearchRule, clean: RuleDraft, now: object, actor: str) -> None:
    for name in FIELDS:
        value = getattr(clean, name)
        setattr(rule, name, list(value) if isinstance(value, tuple) else value)
    rule.pins = [{"sku": pin.sku, "position": pin.position} for pin in clean.pins]
    rule.normalized_term = normalized_term(clean.term)
    rule.updated_at, rule.updated_by = now, actor[:100]  # type: ignore[assignment]
