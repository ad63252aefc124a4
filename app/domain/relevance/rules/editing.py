"""Use cases of search rules. Call them within a transaction; what they save is served once it is published."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.catalogue.revisions import check_revision
from app.domain.relevance.rules.models import SearchRule
from app.domain.relevance.rules.rule import MOST_PLACED, MOST_RULES, check, tidy
from app.domain.relevance.rules.summary import effects
from app.domain.relevance.rules.targets import target_problems
from app.domain.search.serving import configuration
from app.domain.search.serving.rules import RULE, Rule, normalized_term
from app.domain.shared.author import Author
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Problem
from app.domain.shared.records import existing, find_record
from app.domain.shared.times import rfc3339
from app.domain.sites import audit
from app.extensions import db

# Fields of the JSON whose change makes the effect of a rule be measured anew.
EFFECT = ("term", "pins", "boosts", "buries", "redirectUrl", "banner", "enabled", "startsAt")
TAKEN = "Another user added a rule for this term at the same moment. Nothing was saved."
Record = Mapping[str, Any]


def rule_of(site_id: int, rule_id: int, to_change: bool = False) -> SearchRule:
    """Return a rule of this site; `to_change` locks its row. Raises NotFound."""
    rule = find_record(SearchRule, site_id, rule_id, to_change)
    return existing(rule, "There is no such search rule on this site.")


def rule_for(site_id: int, term: str) -> SearchRule | None:
    """The rule for a search, whatever its case and spacing."""
    query = select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.normalized_term == normalized_term(term))
    return db.session.scalar(query)


def add(author: Author, rule: Rule, *, may_lead_nowhere: bool = False) -> SearchRule:
    """Add a rule. Raises Invalid, and Conflict when another user adds one for the same term at the same moment. With
    `may_lead_nowhere` the pages that the rule leads to need not exist yet; the list of rules warns until they do."""
    return add_checked(author, checked(author.site_id, rule, None, may_lead_nowhere))


def add_checked(author: Author, clean: Rule) -> SearchRule:
    """Add a rule that is checked already."""
    row = SearchRule(site_id=author.site_id, revision=1, created_at=author.now())
    _insert(author, row, clean, "rule.add", f"Added a rule for “{clean.term}”: {', '.join(effects(clean))}")
    return row


def change(
    author: Author, rule_id: int, revision: int, rule: Rule, *, may_lead_nowhere: bool = False
) -> tuple[SearchRule, tuple[str, ...]]:
    """Change a rule; return it and the names of the fields that changed. `may_lead_nowhere` as in `add`. Raises
    NotFound, StaleRevision, Invalid, Conflict."""
    row = _to_change(author.site_id, rule_id, revision)
    return row, change_checked(author, row, checked(author.site_id, rule, row, may_lead_nowhere))


def change_checked(
    author: Author, row: SearchRule, clean: Rule, action: str = "rule.change", summary: str = "Changed the rule for"
) -> tuple[str, ...]:
    """Change a rule to one that is checked already; return the names of the fields that changed."""
    before, after = row.value.as_json(), clean.as_json()
    changed = tuple(name for name in after if after[name] != before[name])
    if changed:
        row.write(clean)
        _note(author, row, before, action, f"{summary} “{clean.term}”")
    return changed


def pause(author: Author, rule_id: int) -> SearchRule:
    """Pause a rule, so that it stays but applies no more; one that is paused already is left as it is. Raises
    NotFound."""
    return _switch(author, rule_id, enabled=False)


def resume(author: Author, rule_id: int) -> SearchRule:
    """Resume a paused rule. Raises NotFound."""
    return _switch(author, rule_id, enabled=True)


def delete(author: Author, rule_id: int, revision: int) -> str:
    """Delete a rule and return its term. Raises NotFound, StaleRevision."""
    row = _to_change(author.site_id, rule_id, revision)
    term = row.term
    _remove(author, row, "rule.delete", f"Deleted the rule for “{term}”")
    return term


def records(site_id: int, ids: list[int]) -> dict[str, Record]:
    """Return the current JSON of those rules that exist, by their ids as text."""
    rows = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.id.in_(ids)))
    return {str(row.id): row.value.as_json() for row in rows}


def revert(author: Author, rule_id: int, before: Record | None) -> None:
    """Restore a rule to its earlier JSON, or delete it for None. Raises Invalid and Conflict where it cannot be stored
    any more: a product is gone, or its term has another rule."""
    row = find_record(SearchRule, author.site_id, rule_id, to_change=True)
    if before is None:
        if row is not None:
            _remove(author, row, "rule.undo", f"Took back the rule for “{row.term}”")
        return
    clean = checked(author.site_id, Rule.of_json(RULE.load(dict(before))), row)
    if row is None:
        row = SearchRule(id=rule_id, site_id=author.site_id, revision=1, created_at=author.now())
        _insert(author, row, clean, "rule.undo", f"Brought back the rule for “{clean.term}”")
    else:
        change_checked(author, row, clean, "rule.undo", "Undid a change of the rule for")


def checked(
    site_id: int,
    rule: Rule,
    own: SearchRule | None,
    may_lead_nowhere: bool = False,
    known_skus: Mapping[str, str] | None = None,
) -> Rule:
    """Return the rule as it can be stored in `own`, or in a new row for None. `known_skus` replaces the SKUs that the
    shop has now, with the names of the products. Raises Invalid with every problem."""
    clean = tidy(rule)
    further = [
        *([] if may_lead_nowhere else target_problems(site_id, clean)),
        *_site_problems(site_id, clean.term, own),
    ]
    return check(clean, skus_in_shop(site_id, clean) if known_skus is None else known_skus, further)


def skus_in_shop(site_id: int, rule: Rule) -> dict[str, str]:
    """Those SKUs of the rule that products of this site have, with the names of the products."""
    pinned = (pin.sku for pin in rule.pins[:MOST_PLACED])
    wanted = {*pinned, *rule.boosts[:MOST_PLACED], *rule.buries[:MOST_PLACED]}
    if not wanted:
        return {}
    query = select(Product.sku, Product.name).where(Product.site_id == site_id, Product.sku.in_(wanted))
    return {sku: name for sku, name in db.session.execute(query)}


def _own(site_id: int, rule_id: int) -> Select[SearchRule]:
    return select(SearchRule).where(SearchRule.site_id == site_id, SearchRule.id == rule_id)


def _to_change(site_id: int, rule_id: int, revision: int) -> SearchRule:
    row = rule_of(site_id, rule_id, to_change=True)
    check_revision(site_id, ("rule", row.id), row.revision, revision)
    return row


def _site_problems(site_id: int, term: str, own: SearchRule | None) -> list[Problem]:
    same = rule_for(site_id, term)
    if same is not None and (own is None or same.id != own.id):
        return [Problem("duplicate_term", f"There is a rule for “{same.term}” already.", "#/term")]
    number = select(func.count()).where(SearchRule.site_id == site_id)
    if own is None and (db.session.scalar(number) or 0) >= MOST_RULES:
        return [Problem("too_many", f"A shop has at most {MOST_RULES:,} rules. Delete some that have ended.")]
    return []


def _insert(author: Author, row: SearchRule, clean: Rule, action: str, summary: str) -> None:
    row.write(clean)
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    row.words_version = configuration.raise_version(row.site_id)
    db.session.add(row)
    flush_or_conflict(TAKEN)
    audit.record(author, action, ("rule", str(row.id)), summary, None, row.value.as_json())


def _remove(author: Author, row: SearchRule, action: str, summary: str) -> None:
    before, subject = row.value.as_json(), ("rule", str(row.id))
    configuration.raise_version(row.site_id)
    db.session.delete(row)
    db.session.flush()
    audit.record(author, action, subject, summary, before)


def _switch(author: Author, rule_id: int, enabled: bool) -> SearchRule:
    row = rule_of(author.site_id, rule_id, to_change=True)
    if row.enabled != enabled:
        before = row.value.as_json()
        row.enabled = enabled
        action, verb = ("rule.resume", "Resumed") if enabled else ("rule.pause", "Paused")
        _note(author, row, before, action, f"{verb} the rule for “{row.term}”")
    return row


def _note(author: Author, row: SearchRule, before: Record, action: str, summary: str) -> None:
    """Save a change of an existing rule: revision and author, the version that publishes it, and the activity log."""
    after, now = row.value.as_json(), author.now()
    if _begins_anew(before, after, now):
        row.live_since = None
    row.revision += 1
    row.updated_at, row.updated_by = now, author.name[:100]
    row.words_version = configuration.raise_version(row.site_id)
    flush_or_conflict(TAKEN)
    audit.record(author, action, ("rule", str(row.id)), summary, before, after)


def _begins_anew(before: Record, after: Record, now: datetime) -> bool:
    """Whether the effect of a rule must be measured anew: it does something else from now on, or does it again after it
    was paused or had ended."""
    ended = before["endsAt"] is not None and before["endsAt"] <= rfc3339(now)
    return any(before[name] != after[name] for name in EFFECT) or (ended and before["endsAt"] != after["endsAt"])
