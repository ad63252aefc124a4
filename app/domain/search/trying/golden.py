"""Golden searches: for these words, this product is among the first so many. Written by people, checked by
golden_check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.search.live.served import normalized_term
from app.domain.search.text import query_words
from app.domain.search.trying.models import GoldenSearch
from app.domain.shared.clock import Clock
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Invalid, NotFound, Problem, StaleRevision
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import audit
from app.extensions import db

MOST = 200  # Of a site: all are checked after each change.
LONGEST_QUERY = 200
LONGEST_SKU = 64
FURTHEST = 50  # The last place that is looked at.
USUAL = 5


@dataclass(frozen=True, slots=True)
class GoldenDraft:
    """As somebody sent it; `within` None is no number."""

    query: str
    sku: str
    within: int | None = USUAL

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> GoldenDraft:
        """From the whole record that an audit entry keeps."""
        return cls(record["query"], record["sku"], record["within"])


@dataclass(frozen=True, slots=True)
class GoldenRow:
    """A golden search with the product's name, None where the product is gone."""

    search: GoldenSearch
    product_name: str | None
    product_id: int | None

    @property
    def told(self) -> str:
        """What the latest check saw."""
        if self.search.passes is None:
            return "not checked yet"
        return "not among the first 50" if self.search.rank is None else f"at place {self.search.rank}"


@dataclass(frozen=True, slots=True)
class GoldenState:
    """How the golden searches of a site do; those that fail come with their rows, the longest failing first."""

    total: int
    passing: int
    unchecked: int
    failing: Sequence[GoldenRow]


def golden_searches(site_id: int) -> list[GoldenRow]:
    """All of a site, those that fail first, then by their words."""
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


def golden_of(site_id: int, golden_id: int, to_change: bool = False) -> GoldenSearch:
    """Raises NotFound."""
    query = _own(site_id, golden_id)
    row = db.session.scalar(query.with_for_update() if to_change else query)
    if row is None:
        raise NotFound("There is no such golden search on this site. Somebody may have deleted it.")
    return row


def add(clock: Clock, site_id: int, draft: GoldenDraft, actor: str) -> GoldenSearch:
    """Raises Invalid with every problem, Conflict where two add the same at once."""
    clean = _checked(site_id, draft)
    row = GoldenSearch(site_id=site_id, revision=1, created_at=clock.now())
    _write(clock, row, clean, actor, "add", f"Added the golden search {told(clean)}", None)
    return row


def change(clock: Clock, site_id: int, golden_id: int, revision: int, draft: GoldenDraft, actor: str) -> bool:
    """False where nothing differs. What was checked of it is forgotten. Raises NotFound, StaleRevision, Invalid."""
    row = golden_of(site_id, golden_id, to_change=True)
    if row.revision != revision:
        raise StaleRevision(f"{row.updated_by} saved this golden search while you worked on it.", row.revision)
    clean = _checked(site_id, draft, but=row.id)
    before = record(row)
    if _parts(before) == (clean.query, clean.sku, clean.within):
        return False
    row.revision += 1
    summary = f"Changed the golden search {told(GoldenDraft.of_record(before))} to {told(clean)}"
    _write(clock, row, clean, actor, "change", summary, before)
    return True


def delete(clock: Clock, site_id: int, golden_id: int, actor: str) -> str:
    """How people write it. Raises NotFound."""
    row = golden_of(site_id, golden_id, to_change=True)
    written = told(GoldenDraft.of_record(record(row)))
    _remove(clock, row, actor, "delete", f"Deleted the golden search {written}")
    return written


def put_back(clock: Clock, site_id: int, golden_id: int, before: dict[str, Any] | None, actor: str) -> None:
    """Makes a golden search what `record` once gave; None for one that was not there. Raises Invalid where the shop of
    today leaves no place for it: its product is gone, or there is another like it."""
    row = db.session.scalar(_own(site_id, golden_id).with_for_update())
    if before is None:
        if row is not None:
            written = told(GoldenDraft.of_record(record(row)))
            _remove(clock, row, actor, "undo", f"Took back the golden search {written}")
        return
    clean = _checked(site_id, GoldenDraft.of_record(before), but=golden_id, is_new=row is None)
    was = record(row) if row is not None else None
    row = row or GoldenSearch(id=golden_id, site_id=site_id, revision=0, created_at=clock.now())
    row.revision += 1
    _write(clock, row, clean, actor, "undo", _undone(clean, was), was)


def _undone(draft: GoldenDraft, was: dict[str, Any] | None) -> str:
    if was is None:
        return f"Brought back the golden search {told(draft)}"
    return f"Undid a change of the golden search {told(draft)}"


def told(draft: GoldenDraft) -> str:
    return f"“{draft.query}”: {draft.sku} {wanted(draft.within)}"


def wanted(within: int | None) -> str:
    """ "first", "in the first 5"."""
    return "first" if within == 1 else f"in the first {within}"


def record(row: GoldenSearch) -> dict[str, Any]:
    """Everything of it that people decide; what undo needs."""
    return {"query": row.query, "sku": row.sku, "within": row.within}


def _own(site_id: int, golden_id: int) -> Select[GoldenSearch]:
    return select(GoldenSearch).where(GoldenSearch.site_id == site_id, GoldenSearch.id == golden_id)


def _parts(record: Mapping[str, Any]) -> tuple[str, str, int]:
    return record["query"], record["sku"], record["within"]


def _subject(row: GoldenSearch) -> tuple[str, str]:
    return "golden_search", str(row.id)


def _write(
    clock: Clock, row: GoldenSearch, draft: GoldenDraft, actor: str, act: str, summary: str, before: Any
) -> None:
    row.query, row.sku, row.within = draft.query, draft.sku, draft.within or USUAL
    row.passes = row.rank = row.checked_at = row.failing_since = None
    row.updated_at, row.updated_by = clock.now(), actor[:100]
    db.session.add(row)
    flush_or_conflict("Somebody else added the same golden search at this moment.")
    audit.record(clock, row.site_id, actor, f"golden.{act}", _subject(row), summary, before, record(row))


def _remove(clock: Clock, row: GoldenSearch, actor: str, act: str, summary: str) -> None:
    audit.record(clock, row.site_id, actor, f"golden.{act}", _subject(row), summary, record(row), None)
    db.session.delete(row)
    db.session.flush()


def _checked(site_id: int, draft: GoldenDraft, but: int | None = None, is_new: bool = False) -> GoldenDraft:
    clean = GoldenDraft(one_line(draft.query), draft.sku.strip(), draft.within)
    problems = [*_query_problems(clean.query), *_within_problems(clean.within), *_sku_problems(site_id, clean.sku)]
    if not problems:
        problems = _place_problems(site_id, clean, but, is_new or but is None)
    if problems:
        raise Invalid(problems)
    return clean


def _query_problems(query: str) -> list[Problem]:
    problems = line_problems(query, "The search", LONGEST_QUERY, "#/query", required=True)
    if not problems and not query_words(query):
        problems.append(Problem("no_word", "The search has neither letters nor digits.", "#/query"))
    return problems


def _within_problems(within: int | None) -> list[Problem]:
    if within is not None and 1 <= within <= FURTHEST:
        return []
    return [Problem("invalid_place", f"Give a place from 1 to {FURTHEST}.", "#/within")]


def _sku_problems(site_id: int, sku: str) -> list[Problem]:
    if not sku:
        return [Problem("required", "Choose the product.", "#/sku")]
    if problems := line_problems(sku, "The SKU", LONGEST_SKU, "#/sku"):
        return problems
    known = select(Product.id).where(Product.site_id == site_id, Product.sku == sku)
    if db.session.scalar(known) is not None:
        return []
    return [Problem("unknown_sku", f"No product of this shop has the SKU “{sku}”.", "#/sku")]


def _place_problems(site_id: int, draft: GoldenDraft, but: int | None, is_new: bool) -> list[Problem]:
    """Whether there is room, and whether the same words and product are there already."""
    of_site = select(GoldenSearch).where(GoldenSearch.site_id == site_id, GoldenSearch.id != (but or 0))
    same_sku = db.session.scalars(of_site.where(GoldenSearch.sku == draft.sku))
    if any(normalized_term(one.query) == normalized_term(draft.query) for one in same_sku):
        return [Problem("exists", f"There is a golden search for “{draft.query}” and {draft.sku} already.", "#/query")]
    if is_new and (db.session.scalar(select(func.count()).select_from(of_site.subquery())) or 0) >= MOST:
        return [Problem("too_many", f"A shop has at most {MOST} golden searches. Delete one first.", "#/query")]
    return []
