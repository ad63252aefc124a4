"""Search rules of a site: adding, changing, pausing, deleting and reverting them, the pages they lead to, their list.

Call the use cases in a transaction; what they save is served once it is published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Several
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import func, select

from app.domain.catalogue.models import Collection, Page, Product
from app.domain.catalogue.revisions import check_revision
from app.domain.merchandising.shop import load_tree
from app.domain.merchandising.tree import ShopTree
from app.domain.merchandising.trees import category_labels
from app.domain.relevance.models import SearchRule
from app.domain.relevance.rule_definition import (
    MOST_PLACED,
    MOST_RULES,
    KnownNames,
    RuleState,
    check_rule,
    rule_effects,
    rule_label,
    state_of,
)
from app.domain.relevance.rule_levels import with_names, with_numbers, with_values
from app.domain.search.serving import configuration
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import RULE, Rule, normalized_term, safe_redirect
from app.domain.search.serving.term_index import Match
from app.domain.shared.author import Author
from app.domain.shared.clock import rfc3339
from app.domain.shared.paging import Paged, batched
from app.domain.shared.problems import Problem
from app.domain.shared.record_fields import fields_of
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.sites import activity
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import TaxonomyTree
from app.extensions import db

# Fields of the JSON whose change makes the effect of a rule be measured anew.
EFFECT = frozenset(field.key for field in fields_of(Rule) if field.is_served and field.name != "ends_at")
TAKEN = "Another user added a rule for this term at the same moment. Nothing was saved."
PAGE_SIZE = 50
SKUS_AT_ONCE = 500
CATEGORY = "c"
PAGES_BY_NAME: Mapping[str, tuple[Any, str]] = {
    "p": (Product, "no such product, or it is hidden"),
    "collections": (Collection, "no such collection, or it is hidden"),
    "pages": (Page, "no such page, or it is hidden"),
}
ALWAYS_THERE = {"/", "/search", "/basket", "/orders/find"}
NO_CATEGORY = "no such category, or it or one above it is hidden"
NO_ADDRESS = (
    "shoppers have no such address. Give a category (/c/…), a product (/p/…), a collection (/collections/…), "
    "a page (/pages/…), a search (/search?q=…), /, /basket or /orders/find"
)
Record = Mapping[str, Any]


def rule_of(site_id: int, rule_id: int, to_change: bool = False, revision: int | None = None) -> SearchRule:
    """Return a rule of this site; `to_change` locks its row. Raises NotFound and, where it is not at a given
    `revision`, StaleRevision."""
    row = find_record(SearchRule, site_id, rule_id, to_change)
    rule = existing(row, "There is no such search rule on this site.")
    if revision is not None:
        check_revision(site_id, ("rule", rule.id), rule.revision, revision)
    return rule


def rule_for(site_id: int, term: str, match: Match = Match.EXACT) -> SearchRule | None:
    """Return the rule of a term, whatever its case and spacing, that searches meet in that way; None for none."""
    own = SearchRule.site_id == site_id, SearchRule.normalized_term == normalized_term(term)
    return db.session.scalar(select(SearchRule).where(*own, SearchRule.match == match.value))


def stored_rules(site_id: int) -> list[Rule]:
    """Return the rules of a site, by their terms."""
    query = select(SearchRule).where(SearchRule.site_id == site_id)
    query = query.order_by(SearchRule.normalized_term, SearchRule.match)
    return [row.value for row in db.session.scalars(query)]


def add(author: Author, rule: Rule, *, may_lead_nowhere: bool = False) -> SearchRule:
    """Add a rule. Raises Invalid, and Conflict when another user adds one for the same term at the same moment. With
    `may_lead_nowhere` the pages that the rule leads to need not exist yet; the list of rules warns until they do."""
    return add_checked(author, check_for_site(author.site_id, rule, None, may_lead_nowhere))


def add_checked(
    author: Author, clean: Rule, rule_id: int | None = None, action: str = "rule.add", summary: str = "Added a"
) -> SearchRule:
    """Add a rule that is checked already, under the id that it had before where it is brought back."""
    row = SearchRule(id=rule_id, site_id=author.site_id, revision=1, created_at=author.now())
    clean.write_row(row)
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    row.words_version = configuration.raise_version(row.site_id)
    db.session.add(row)
    flush_or_conflict(TAKEN)
    effects = f": {', '.join(rule_effects(clean))}" if rule_id is None else ""
    activity.record(
        author, action, ("rule", str(row.id)), f"{summary} {rule_label(clean)}{effects}", None, row.value.as_json()
    )
    return row


def change(
    author: Author, rule_id: int, revision: int, rule: Rule, *, may_lead_nowhere: bool = False
) -> tuple[SearchRule, tuple[str, ...]]:
    """Change a rule; return it and the names of the fields that changed. `may_lead_nowhere` as in `add`. Raises
    NotFound, StaleRevision, Invalid, Conflict."""
    row = rule_of(author.site_id, rule_id, to_change=True, revision=revision)
    return row, change_checked(author, row, check_for_site(author.site_id, rule, row, may_lead_nowhere))


def change_checked(
    author: Author, row: SearchRule, clean: Rule, action: str = "rule.change", summary: str = "Changed the"
) -> tuple[str, ...]:
    """Change a rule to one that is checked already: its revision and author, the version that publishes it, and the
    activity log. Its effect is measured anew where the rule does something else, or does it again after it was paused
    or had ended. Return the names of the fields that changed; where there are none, the rule stays as it is."""
    before, after, now = row.value.as_json(), clean.as_json(), author.now()
    changed = tuple(name for name in after if after[name] != before[name])
    if not changed:
        return ()
    clean.write_row(row)
    had_ended = before["endsAt"] is not None and before["endsAt"] <= rfc3339(now)
    if EFFECT.intersection(changed) or (had_ended and "endsAt" in changed):
        row.live_since = None
    row.revision += 1
    row.updated_at, row.updated_by = now, author.name[:100]
    row.words_version = configuration.raise_version(row.site_id)
    flush_or_conflict(TAKEN)
    activity.record(author, action, ("rule", str(row.id)), f"{summary} {rule_label(clean)}", before, after)
    return changed


def pause(author: Author, rule_id: int) -> SearchRule:
    """Pause a rule, so that it stays but applies no more; one that is paused already is left as it is. Raises
    NotFound."""
    return _switch(author, rule_id, enabled=False)


def resume(author: Author, rule_id: int) -> SearchRule:
    """Resume a paused rule. Raises NotFound."""
    return _switch(author, rule_id, enabled=True)


def delete(author: Author, rule_id: int, revision: int) -> str:
    """Delete a rule and return its label. Raises NotFound, StaleRevision."""
    row = rule_of(author.site_id, rule_id, to_change=True, revision=revision)
    label = rule_label(row)
    _remove(author, row, "rule.delete", f"Deleted the {label}")
    return label


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
            _remove(author, row, "rule.undo", f"Took back the {rule_label(row)}")
        return
    clean = check_for_site(author.site_id, Rule.of_json(RULE.load(dict(before))), row)
    if row is None:
        add_checked(author, clean, rule_id, "rule.undo", "Brought back the")
    else:
        change_checked(author, row, clean, "rule.undo", "Undid a change of the")


def check_for_site(
    site_id: int,
    rule: Rule,
    own: SearchRule | None,
    may_lead_nowhere: bool = False,
    known_skus: Mapping[str, str] | None = None,
    tree: TaxonomyTree | None = None,
    further_categories: Several[str] = (),
) -> Rule:
    """Return the rule as it can be stored in `own`, or in a new row for None. `known_skus` replaces the SKUs that the
    shop has now, with the names of the products, and `tree` its levels; `further_categories` are paths beside those
    that it has. Raises Invalid with every problem."""
    clean = rule.tidied()
    further: list[Problem] = []
    if not may_lead_nowhere:
        further += missing_page_problems(clean, missing_pages(site_id, clean.paths))
    same = rule_for(site_id, clean.term, clean.match)
    if same is not None and (own is None or same.id != own.id):
        further.append(Problem("duplicate_term", f"There is a {rule_label(same)} already.", "#/term"))
    elif own is None:
        number = db.session.scalar(select(func.count()).where(SearchRule.site_id == site_id)) or 0
        if number >= MOST_RULES:
            message = f"A shop has at most {MOST_RULES:,} rules. Delete some that have ended."
            further.append(Problem("too_many", message))
    if known_skus is None:
        pinned = (pin.sku for pin in clean.pins[:MOST_PLACED])
        known_skus = product_names(site_id, {*pinned, *clean.boosts[:MOST_PLACED], *clean.buries[:MOST_PLACED]})
    known = known_names(site_id, [clean], known_skus, tree)
    known = replace(known, categories={*known.categories, *further_categories})
    return check_rule(clean, known, further)


def known_names(
    site_id: int, rules: Iterable[Rule], skus: Mapping[str, str], tree: TaxonomyTree | None = None
) -> KnownNames:
    """Return what the shop has of what rules name; `skus` are those of the products that it has. The taxonomy and the
    categories are read only where a rule names something of them; `tree` takes the place of the taxonomy."""
    rules = list(rules)
    paths = category_labels(site_id) if any(rule.categories for rule in rules) else {}
    if not any(rule.levels or any(group.levels or group.attributes for group in rule.groups) for rule in rules):
        return KnownNames(skus, categories=paths)
    tree = tree or active_tree(site_id)
    return KnownNames(skus, tree.levels, with_values(tree), with_numbers(tree), paths)


def product_names(site_id: int, skus: Iterable[str]) -> dict[str, str]:
    """Return the names of those of the SKUs that products of this site have."""
    query = select(Product.sku, Product.name).where(Product.site_id == site_id)
    return {
        sku: name
        for some in batched(sorted(skus), SKUS_AT_ONCE)
        for sku, name in db.session.execute(query.where(Product.sku.in_(some)))
    }


def _remove(author: Author, row: SearchRule, action: str, summary: str) -> None:
    before, subject = row.value.as_json(), ("rule", str(row.id))
    configuration.raise_version(row.site_id)
    db.session.delete(row)
    db.session.flush()
    activity.record(author, action, subject, summary, before)


def _switch(author: Author, rule_id: int, enabled: bool) -> SearchRule:
    row = rule_of(author.site_id, rule_id, to_change=True)
    action, verb = ("rule.resume", "Resumed") if enabled else ("rule.pause", "Paused")
    change_checked(author, row, replace(row.value, enabled=enabled), action, f"{verb} the")
    return row


def missing_pages(site_id: int, paths: Iterable[str | None]) -> dict[str, str]:
    """Return those of the paths at which shoppers of this site find nothing, each with the reason, by one query for
    each kind of page. What is no path of a site is left out (app/domain/search/serving/rules.py)."""
    places: dict[str, tuple[str, str]] = {}
    for path in paths:
        address = unquote(urlsplit(path).path) if path and safe_redirect(path) else ""
        if path and address and address not in ALWAYS_THERE:
            kind, _, name = address.removeprefix("/").partition("/")
            places[path] = kind, name
    names: dict[str, set[str]] = {}
    for kind, name in places.values():
        names.setdefault(kind, set()).add(name)
    found = {kind: _existing_names(site_id, kind, wanted) for kind, wanted in names.items()}
    reasons = {CATEGORY: NO_CATEGORY} | {kind: reason for kind, (_, reason) in PAGES_BY_NAME.items()}
    return {path: reasons.get(kind, NO_ADDRESS) for path, (kind, name) in places.items() if name not in found[kind]}


def missing_page_problems(rule: Rule, missing: Mapping[str, str]) -> list[Problem]:
    """Return the problems of the pages that a rule leads to; `missing` has the paths that lead nowhere, with the
    reasons."""
    labelled = (
        ("The redirect", rule.redirect_url, "#/redirectUrl"),
        ("The banner’s link", rule.banner.link_url if rule.banner else None, "#/banner/linkUrl"),
    )
    return [
        Problem("unknown_page", f"{label} “{path[:60]}” leads nowhere: {missing[path]}.", pointer)
        for label, path, pointer in labelled
        if path is not None and path in missing
    ]


def _existing_names(site_id: int, kind: str, names: set[str]) -> set[str]:
    if kind == CATEGORY:
        tree = load_tree(site_id)
        return {name for name in names if tree.at(name) is not None or _may_be_landing_page(tree, name)}
    if kind not in PAGES_BY_NAME:
        return set()
    model = PAGES_BY_NAME[kind][0]
    shown = select(model.seo_name).where(model.site_id == site_id, model.seo_name.in_(names), model.enabled)
    return set(db.session.scalars(shown))


def _may_be_landing_page(tree: ShopTree, path: str) -> bool:
    """Whether a path has the form of a landing page of a category that has such pages. Whether enough products carry
    its value is not checked, since that changes from hour to hour."""
    category, segment, slug = path.rsplit("/", 2) if path.count("/") > 1 else ("", "", "")
    node = tree.at(category) if slug else None
    return node is not None and segment in tree.landing_segments(node)


class StateFilter(StrEnum):
    """The filter of rules by their state; UNSYNCED are those that are not served as they are saved."""

    ALL = ""
    LIVE = "live"
    PAUSED = "paused"
    SCHEDULED = "scheduled"
    ENDED = "ended"
    UNSYNCED = "unsynced"


class RuleOrder(StrEnum):
    TERM = "term"
    CHANGED = "changed"
    APPLIED = "applied"


@dataclass(frozen=True, slots=True)
class RuleQuery:
    """`words` are part of the term, the note, the redirect, the banner or a SKU."""

    words: str = ""
    narrowed: StateFilter = StateFilter.ALL
    order: RuleOrder = RuleOrder.TERM
    page: int = 1
    page_size: int = PAGE_SIZE


@dataclass(frozen=True, slots=True)
class ListedRule:
    """`applied` is how many searches it applied to; None where nothing is counted."""

    rule: SearchRule
    state: RuleState
    is_synced: bool
    applied: int | None

    def is_in(self, narrowed: StateFilter) -> bool:
        if narrowed is StateFilter.UNSYNCED:
            return not self.is_synced
        return narrowed is StateFilter.ALL or self.state.value == narrowed.value

    def sort_key(self, order: RuleOrder) -> tuple[Any, ...]:
        if order is RuleOrder.CHANGED:
            return -self.rule.updated_at.timestamp(), self.rule.normalized_term
        if order is RuleOrder.APPLIED:
            return -(self.applied or 0), self.rule.normalized_term
        return (self.rule.normalized_term,)


@dataclass(frozen=True, slots=True)
class RuleList:
    """`is_behind`: something that was saved or deleted is not served to shoppers yet."""

    page: Paged[ListedRule]
    total: int
    is_behind: bool


def count_applied(rules: Iterable[Rule], applied: Mapping[str, int]) -> Counter[int | None]:
    """Return how many searches each of the rules was for, by its id. `applied` counts the searches to which some rule
    applied, by their words."""
    known, counts = RuleSet.of(rules), Counter[int | None]()
    for words, times in applied.items():
        for rule in known.matching(words):
            counts[rule.id] += times
    return counts


def find_rules(site_id: int, query: RuleQuery, now: datetime, applied: Mapping[str, int] | None = None) -> RuleList:
    """Return a page of rules, in two statements: a site has at most MOST_RULES. `applied` are searches by normalised
    term."""
    state = configuration.serving_state(site_id)
    stored = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id)).all()
    counts = count_applied(with_names(site_id, (row.value for row in stored)), applied or {})
    wanted = query.words.strip().casefold()
    found = []
    for rule in stored:
        if wanted and not any(wanted in text.casefold() for text in rule.value.searched_texts):
            continue
        times = counts[rule.id] if applied is not None else None
        row = ListedRule(rule, state_of(rule, now), configuration.is_live(rule, state), times)
        if row.is_in(query.narrowed):
            found.append(row)
    found.sort(key=lambda row: row.sort_key(query.order))
    return RuleList(Paged.cut(found, query.page, query.page_size), len(stored), configuration.is_behind(state))
