"""Golden searches: for these words, this product is among the first so many. Their use cases and their check.

They are checked after each change that can affect results, and against a new index before it is swapped in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.relevance.models import GoldenSearch
from app.domain.search.engine import (
    EngineState,
    Generation,
    IndexName,
    SearchContext,
    Searching,
    SearchRequest,
    SearchUnavailable,
)
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving.configuration import served as served_now
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import UnderstoodSearch, search_understood, understand_served
from app.domain.search.serving.rules import normalized_term
from app.domain.search.text import query_words
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem, StaleRevision
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import activity
from app.domain.sites.settings import settings_of
from app.domain.work.context import read_afresh
from app.extensions import db

MOST = 200  # Of a site: all are checked after each change.
LONGEST_QUERY = 200
LONGEST_SKU = 64
FURTHEST = 50  # The largest `within`, and how many results a check reads.
USUAL = 5
HOLD = "search-golden-hold"
MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Expectation:
    """For `query`, the product `sku` is among the first `within`, which is None where a text that is no number was
    sent."""

    query: str
    sku: str
    within: int | None = USUAL

    @classmethod
    def of_json(cls, fields: Mapping[str, Any]) -> Expectation:
        return cls(fields["query"], fields["sku"], fields["within"])

    def as_json(self) -> dict[str, Any]:
        return {"query": self.query, "sku": self.sku, "within": self.within}

    def __str__(self) -> str:
        return f"“{self.query}”: {self.sku} {describe_place(self.within)}"


@dataclass(frozen=True, slots=True)
class GoldenRow:
    """A golden search with the product's name, None where the product is gone."""

    search: GoldenSearch
    product_name: str | None
    product_id: int | None

    @property
    def result(self) -> str:
        """The result of the latest check."""
        if self.search.passes is None:
            return "not checked yet"
        return "not among the first 50" if self.search.rank is None else f"at place {self.search.rank}"


@dataclass(frozen=True, slots=True)
class GoldenState:
    """The state of a site's golden searches; those that fail come with their rows, the longest failing first."""

    total: int
    passing: int
    unchecked: int
    failing: Sequence[GoldenRow]


def golden_searches(site_id: int) -> list[GoldenRow]:
    """Return all golden searches of a site, those that fail first, then by their words."""
    own = GoldenSearch.site_id == site_id
    is_product = (Product.site_id == GoldenSearch.site_id) & (Product.sku == GoldenSearch.sku)
    query = select(GoldenSearch, Product.name, Product.id).outerjoin(Product, is_product).where(own)
    rows = [GoldenRow(*row) for row in db.session.execute(query)]
    return sorted(rows, key=lambda row: (row.search.passes is not False, row.search.query.casefold(), row.search.id))


def golden_state(site_id: int) -> GoldenState:
    rows = golden_searches(site_id)
    failing = [row for row in rows if row.search.passes is False]
    failing.sort(key=lambda row: (row.search.failing_since is None, row.search.failing_since, row.search.id))
    unchecked = sum(row.search.passes is None for row in rows)
    return GoldenState(len(rows), len(rows) - len(failing) - unchecked, unchecked, failing)


def failing_searches(site_id: int) -> int:
    """Return how many golden searches failed at their latest check."""
    query = select(func.count()).where(GoldenSearch.site_id == site_id, GoldenSearch.passes.is_(False))
    return db.session.scalar(query) or 0


def golden_of(site_id: int, golden_id: int, to_change: bool = False) -> GoldenSearch:
    """Return a golden search of this site; `to_change` locks its row. Raises NotFound."""
    missing = "There is no such golden search on this site. Another user may have deleted it."
    return existing(find_record(GoldenSearch, site_id, golden_id, to_change), missing)


def add(author: Author, sent: Expectation) -> GoldenSearch:
    """Add a golden search. Raises Invalid with every problem, Conflict where two add the same at once."""
    clean = _check_expectation(author.site_id, sent)
    row = GoldenSearch(site_id=author.site_id, revision=1, created_at=author.now())
    _write(author, row, clean, "add", f"Added the golden search {clean}", None)
    return row


def change(author: Author, golden_id: int, revision: int, sent: Expectation) -> bool:
    """Change a golden search; return False where nothing differs. The result of its latest check is cleared. Raises
    NotFound, StaleRevision, Invalid."""
    row = golden_of(author.site_id, golden_id, to_change=True)
    if row.revision != revision:
        raise StaleRevision(f"{row.updated_by} saved this golden search while you worked on it.", row.revision)
    clean, before = _check_expectation(author.site_id, sent, but=row.id), expectation_of(row)
    if before == clean:
        return False
    row.revision += 1
    _write(author, row, clean, "change", f"Changed the golden search {before} to {clean}", before.as_json())
    return True


def delete(author: Author, golden_id: int) -> str:
    """Delete a golden search and return its text. Raises NotFound."""
    row = golden_of(author.site_id, golden_id, to_change=True)
    written = str(expectation_of(row))
    _remove(author, row, "delete", f"Deleted the golden search {written}")
    return written


def similar_golden(site_id: int, sent: Expectation) -> GoldenSearch | None:
    """Return the site's golden search for the same product and words, whatever their case and spacing."""
    same_sku = select(GoldenSearch).where(GoldenSearch.site_id == site_id, GoldenSearch.sku == sent.sku.strip())
    found = db.session.scalars(same_sku.order_by(GoldenSearch.id))
    return next((one for one in found if key_of(expectation_of(one)) == key_of(sent)), None)


def key_of(sent: Expectation) -> tuple[str, str]:
    """Return the key that is unique among a site's golden searches: normalised words and SKU."""
    return normalized_term(sent.query), sent.sku.strip()


def check_new(site_id: int, sent: Expectation, is_known_sku: bool) -> Expectation:
    """Return the golden search as `add` would store it; with `is_known_sku` the product need not exist yet. Raises
    Invalid."""
    return _check_expectation(site_id, sent, is_known_sku=is_known_sku)


def records(site_id: int, ids: list[int]) -> dict[str, Mapping[str, Any]]:
    """Return the current JSON of those golden searches that exist, by their ids as text."""
    rows = db.session.scalars(select(GoldenSearch).where(GoldenSearch.site_id == site_id, GoldenSearch.id.in_(ids)))
    return {str(row.id): expectation_of(row).as_json() for row in rows}


def revert(author: Author, golden_id: int, before: Mapping[str, Any] | None) -> None:
    """Restore a golden search to its earlier JSON, or delete it for None. Raises Invalid where it cannot be stored any
    more: its product is gone, or there is another of the same words and product."""
    row = find_record(GoldenSearch, author.site_id, golden_id, to_change=True)
    if before is None:
        if row is not None:
            _remove(author, row, "undo", f"Took back the golden search {expectation_of(row)}")
        return
    clean = _check_expectation(author.site_id, Expectation.of_json(before), but=golden_id, is_new=row is None)
    was = expectation_of(row).as_json() if row is not None else None
    done = "Brought back" if was is None else "Undid a change of"
    row = row or GoldenSearch(id=golden_id, site_id=author.site_id, revision=0, created_at=author.now())
    row.revision += 1
    _write(author, row, clean, "undo", f"{done} the golden search {clean}", was)


def expectation_of(row: GoldenSearch) -> Expectation:
    return Expectation(row.query, row.sku, row.within)


def describe_place(within: int | None) -> str:
    """Return where a product is expected, as text: "first" or "in the first 5"."""
    return "first" if within == 1 else f"in the first {within}"


def _write(author: Author, row: GoldenSearch, clean: Expectation, act: str, summary: str, before: Any) -> None:
    row.query, row.sku, row.within = clean.query, clean.sku, clean.within or USUAL
    row.passes = row.rank = row.checked_at = row.failing_since = None
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    db.session.add(row)
    flush_or_conflict("Another user added the same golden search at this moment.")
    subject = "golden_search", str(row.id)
    activity.record(author, f"golden.{act}", subject, summary, before, expectation_of(row).as_json())


def _remove(author: Author, row: GoldenSearch, act: str, summary: str) -> None:
    subject = "golden_search", str(row.id)
    activity.record(author, f"golden.{act}", subject, summary, expectation_of(row).as_json(), None)
    db.session.delete(row)
    db.session.flush()


def _check_expectation(
    site_id: int, sent: Expectation, but: int | None = None, is_new: bool = False, is_known_sku: bool = False
) -> Expectation:
    clean = Expectation(one_line(sent.query), sent.sku.strip(), sent.within)
    problems = line_problems(clean.query, "The search", LONGEST_QUERY, "#/query", required=True)
    if not problems and not query_words(clean.query):
        problems.append(Problem("no_word", "The search has neither letters nor digits.", "#/query"))
    if clean.within is None or not 1 <= clean.within <= FURTHEST:
        problems.append(Problem("invalid_place", f"Give a place from 1 to {FURTHEST}.", "#/within"))
    if not is_known_sku:
        problems += _sku_problems(site_id, clean.sku)
    if not problems:
        problems = _place_problems(site_id, clean, but, is_new or but is None)
    if problems:
        raise Invalid(problems)
    return clean


def _sku_problems(site_id: int, sku: str) -> list[Problem]:
    if not sku:
        return [Problem("required", "Choose the product.", "#/sku")]
    if problems := line_problems(sku, "The SKU", LONGEST_SKU, "#/sku"):
        return problems
    known = select(Product.id).where(Product.site_id == site_id, Product.sku == sku)
    if db.session.scalar(known) is not None:
        return []
    return [Problem("unknown_sku", f"No product of this shop has the SKU “{sku}”.", "#/sku")]


def _place_problems(site_id: int, sent: Expectation, but: int | None, is_new: bool) -> list[Problem]:
    """Return the problem of storing a golden search beside the others: the same words and product, or no room for a new
    one. `but` is the id of the one that is changed."""
    of_site = select(GoldenSearch).where(GoldenSearch.site_id == site_id, GoldenSearch.id != (but or 0))
    same_sku = db.session.scalars(of_site.where(GoldenSearch.sku == sent.sku))
    if any(normalized_term(one.query) == normalized_term(sent.query) for one in same_sku):
        return [Problem("exists", f"There is a golden search for “{sent.query}” and {sent.sku} already.", "#/query")]
    if is_new and (db.session.scalar(select(func.count()).select_from(of_site.subquery())) or 0) >= MOST:
        return [Problem("too_many", f"A shop has at most {MOST} golden searches. Delete one first.", "#/query")]
    return []


@dataclass(frozen=True, slots=True)
class Golden:
    """The data of a golden search that a check needs."""

    id: int
    query: str
    sku: str
    within: int
    revision: int

    def passes(self, rank: int | None) -> bool:
        return rank is not None and rank <= self.within


def check_goldens(context: SearchContext, site_id: int, only: int | None = None) -> int:
    """Check all golden searches of a site, or the one whose id is `only`, and store the places of their products;
    return how many were checked. One that is changed meanwhile is left to the next check. Raises SearchUnavailable; the
    stored results then stay."""
    read_afresh()
    now = context.clock.now()  # Before anything is read: what changes from here on is not yet checked.
    goldens = [golden for golden in _goldens(site_id) if only in (None, golden.id)]
    served = served_now(site_id)
    ranks = ranks_of(context.engine, site_id, goldens, served, now)
    if goldens:
        context.commit(lambda: _store_results(site_id, goldens, ranks, now))
    return len(goldens)


def ranks_of(
    engine: Searching, site_id: int, goldens: Sequence[Golden], served: Served, now: datetime
) -> dict[int, int | None]:
    """Return the place of each product by the id of its golden search; None past the first 50 places, and where a rule
    redirects the search. Raises SearchUnavailable."""
    plans = {query: plan(query, served, now) for query in dict.fromkeys(golden.query for golden in goldens)}
    searched = [query for query, planned in plans.items() if not planned.redirect]
    searches = [
        UnderstoodSearch(SearchRequest(words=query, per_page=FURTHEST, patient=True), plans[query], meaning)
        for query, meaning in zip(searched, understand_served(engine, site_id, searched, served), strict=True)
    ]
    ranks: dict[str, dict[str, int]] = {query: {} for query in plans}
    answers = search_understood(engine, site_id, searches, served.stop_words) if searches else []
    for query, found in zip(searched, answers, strict=True):
        for rank, hit in enumerate(found.answer.result.hits, start=1):
            ranks[query].setdefault(str(hit.card.get("sku")), rank)
    return {golden.id: ranks[golden.query].get(golden.sku) for golden in goldens}


def _goldens(site_id: int) -> list[Golden]:
    columns = GoldenSearch.id, GoldenSearch.query, GoldenSearch.sku, GoldenSearch.within, GoldenSearch.revision
    rows = db.session.execute(select(*columns).where(GoldenSearch.site_id == site_id).order_by(GoldenSearch.id))
    return [Golden(*row) for row in rows]


def _store_results(site_id: int, goldens: Sequence[Golden], ranks: Mapping[int, int | None], now: datetime) -> None:
    by_id = {golden.id: golden for golden in goldens}
    rows = select(GoldenSearch).where(GoldenSearch.site_id == site_id).order_by(GoldenSearch.id).with_for_update()
    for row in db.session.scalars(rows.execution_options(populate_existing=True)):
        golden = by_id.get(row.id)
        if golden is not None and golden.revision == row.revision:
            row.rank, row.passes, row.checked_at = ranks[row.id], golden.passes(ranks[row.id]), now
            row.failing_since = None if row.passes else row.failing_since or now


def hold_back(context: SearchContext, site_id: int, generation: Generation, undecided: Collection[int]) -> str | None:
    """Return the reason why a sealed generation must not become the live index: a sentence that names the golden
    searches which pass on the live index and would fail on it. None where none would, or the setting HOLD is off.
    Products whose ids are `undecided` change with the swap, so their golden searches are left out."""
    if not settings_of(site_id)[HOLD]:
        return None
    goldens = _decided(site_id, _goldens(site_id), undecided)
    served, now = served_now(site_id), context.clock.now()
    try:
        live = ranks_of(context.engine, site_id, goldens, served, now)
    except SearchUnavailable:
        return None  # Nothing is live, so nothing can get worse.
    new = ranks_of(generation.preview(), site_id, goldens, served, now)
    broken = [golden for golden in goldens if golden.passes(live[golden.id]) and not golden.passes(new[golden.id])]
    return _describe_broken(broken, new) if broken else None


def _decided(site_id: int, goldens: list[Golden], undecided: Collection[int]) -> list[Golden]:
    skus = {golden.sku for golden in goldens}
    rows = db.session.execute(select(Product.sku, Product.id).where(Product.site_id == site_id, Product.sku.in_(skus)))
    ids = {row.sku: row.id for row in rows}
    return [golden for golden in goldens if golden.sku in ids and ids[golden.sku] not in undecided]


def _describe_broken(broken: Sequence[Golden], ranks: Mapping[int, int | None]) -> str:
    named = [
        f"“{golden.query}” ({golden.sku} "
        + (f"at place {ranks[golden.id]}, not {describe_place(golden.within)})" if ranks[golden.id] else "not found)")
        for golden in broken[:MOST_NAMED]
    ]
    more = f" and {len(broken) - MOST_NAMED} more" if len(broken) > MOST_NAMED else ""
    searches = "a golden search that passes" if len(broken) == 1 else f"{len(broken)} golden searches that pass"
    return (
        f"The new index was blocked, since it would break {searches} today: {', '.join(named)}{more}. "
        "Change what broke them, or switch “Block a rebuild that breaks a golden search” off in the search "
        "settings, then rebuild again."
    )


@dataclass(frozen=True, slots=True)
class CheckState:
    """The state of a site's golden searches. `depends_on` is a text that changes whenever their results may: with the
    index, the served configuration and the golden searches themselves. `checked_at` is the time of the oldest check;
    None where one was never checked."""

    depends_on: str
    checked_at: datetime | None


def states_of_sites(context: SearchContext) -> dict[int, CheckState]:
    """Return the state of each site by its id, without sites that have no golden searches or whose index does not
    answer."""
    live_versions = select(ServedConfiguration.site_id, ServedConfiguration.live_version)
    versions = {row.site_id: row.live_version for row in db.session.execute(live_versions)}
    found = {}
    for row in db.session.execute(_summaries()):
        status = context.engine.status(row.site_id, IndexName.PRODUCTS)
        if status.state is EngineState.HEALTHY:
            own = f"{row.number} {row.newest} {row.updated_at} {row.revisions}"
            depends_on = f"{status.version} {versions.get(row.site_id, 0)} {own}"
            found[row.site_id] = CheckState(depends_on, row.checked_at if row.checked == row.number else None)
    return found


def _summaries() -> Select[*tuple[Any, ...]]:
    """Return the summary of each site's golden searches, which differs after any change. Undo can remove one, bring one
    back under its old id, or change one: no count alone shows all of it."""
    return select(
        GoldenSearch.site_id,
        func.count().label("number"),
        func.max(GoldenSearch.id).label("newest"),
        func.max(GoldenSearch.updated_at).label("updated_at"),
        func.sum(GoldenSearch.revision).label("revisions"),
        func.min(GoldenSearch.checked_at).label("checked_at"),
        func.count(GoldenSearch.passes).label("checked"),
    ).group_by(GoldenSearch.site_id)
