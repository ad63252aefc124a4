"""Use cases of golden searches: for these words, this product is among the first so many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from app.domain.catalogue.models import Product
from app.domain.relevance.golden.models import GoldenSearch
from app.domain.search.serving.rules import normalized_term
from app.domain.search.text import query_words
from app.domain.shared.author import Author
from app.domain.shared.flushing import flush_or_conflict
from app.domain.shared.problems import Invalid, Problem, StaleRevision
from app.domain.shared.records import existing, find_record
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import audit
from app.extensions import db

MOST = 200  # Of a site: all are checked after each change.
LONGEST_QUERY = 200
LONGEST_SKU = 64
FURTHEST = 50  # The largest `within`, and how many results a check reads.
USUAL = 5


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
        return f"“{self.query}”: {self.sku} {wanted(self.within)}"


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
    clean = _checked(author.site_id, sent)
    row = GoldenSearch(site_id=author.site_id, revision=1, created_at=author.now())
    _write(author, row, clean, "add", f"Added the golden search {clean}", None)
    return row


def change(author: Author, golden_id: int, revision: int, sent: Expectation) -> bool:
    """Change a golden search; return False where nothing differs. The result of its latest check is cleared. Raises
    NotFound, StaleRevision, Invalid."""
    row = golden_of(author.site_id, golden_id, to_change=True)
    if row.revision != revision:
        raise StaleRevision(f"{row.updated_by} saved this golden search while you worked on it.", row.revision)
    clean, before = _checked(author.site_id, sent, but=row.id), expectation_of(row)
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


def like(site_id: int, sent: Expectation) -> GoldenSearch | None:
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
    return _checked(site_id, sent, is_known_sku=is_known_sku)


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
    clean = _checked(author.site_id, Expectation.of_json(before), but=golden_id, is_new=row is None)
    was = expectation_of(row).as_json() if row is not None else None
    done = "Brought back" if was is None else "Undid a change of"
    row = row or GoldenSearch(id=golden_id, site_id=author.site_id, revision=0, created_at=author.now())
    row.revision += 1
    _write(author, row, clean, "undo", f"{done} the golden search {clean}", was)


def expectation_of(row: GoldenSearch) -> Expectation:
    return Expectation(row.query, row.sku, row.within)


def wanted(within: int | None) -> str:
    """Return where a product is expected, as text: "first" or "in the first 5"."""
    return "first" if within == 1 else f"in the first {within}"


def _own(site_id: int, golden_id: int) -> Select[GoldenSearch]:
    return select(GoldenSearch).where(GoldenSearch.site_id == site_id, GoldenSearch.id == golden_id)


def _write(author: Author, row: GoldenSearch, clean: Expectation, act: str, summary: str, before: Any) -> None:
    row.query, row.sku, row.within = clean.query, clean.sku, clean.within or USUAL
    row.passes = row.rank = row.checked_at = row.failing_since = None
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    db.session.add(row)
    flush_or_conflict("Another user added the same golden search at this moment.")
    subject = "golden_search", str(row.id)
    audit.record(author, f"golden.{act}", subject, summary, before, expectation_of(row).as_json())


def _remove(author: Author, row: GoldenSearch, act: str, summary: str) -> None:
    subject = "golden_search", str(row.id)
    audit.record(author, f"golden.{act}", subject, summary, expectation_of(row).as_json(), None)
    db.session.delete(row)
    db.session.flush()


def _checked(
    site_id: int, sent: Expectation, but: int | None = None, is_new: bool = False, is_known_sku: bool = False
) -> Expectation:
    clean = Expectation(one_line(sent.query), sent.sku.strip(), sent.within)
    problems = [*_query_problems(clean.query), *_within_problems(clean.within)]
    problems += [] if is_known_sku else _sku_problems(site_id, clean.sku)
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
