"""The ratings of a list as a table in Quepid's form, `query,sku,rating`, and its import: a preview of what each line
does, then its application.

A file has one rating of each product and search. It says nothing of people, so it changes none of their ratings: it
stands beside them as that of another rater.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor

from sqlalchemy import delete, insert, select

from app.domain.relevance.judgements.lists import (
    MOST_SEARCHES,
    insert_searches,
    list_of,
    note_ratings,
    query_problems,
    searches_by_term,
)
from app.domain.relevance.judgements.measures import BEST, Combination
from app.domain.relevance.judgements.ratings import MOST_RATED, known_skus
from app.domain.relevance.models import JudgedSearch, JudgementList, ProductRating
from app.domain.search.serving.rules import normalized_term
from app.domain.shared.author import Author
from app.domain.shared.csv_tables import (
    MOST_TABLE_LINES,
    ImportLine,
    ImportReport,
    RowOutcome,
    check_cells,
    read_named,
    refused,
)
from app.domain.shared.paging import batched
from app.domain.shared.problems import Conflict, Invalid
from app.domain.shared.text import numbered, one_line
from app.extensions import db

NAMES = ("query", "sku", "rating")
# Quepid names the product `docid`, its older exports `doc_id`.
COLUMNS = {"query": "query", "sku": "sku", "docid": "sku", "doc_id": "sku", "rating": "rating"}
MOST_LINES = MOST_TABLE_LINES
GRADES = {str(grade): grade for grade in range(BEST + 1)}
CHANGED = "The list changed since you looked. Look at what the file does now, then import it."


@dataclass(frozen=True, slots=True)
class RatingLine:
    """A rating as a line of a file has it."""

    query: str
    sku: str
    rating: int

    @property
    def key(self) -> tuple[str, str]:
        return normalized_term(self.query), self.sku

    def __str__(self) -> str:
        return f"“{self.query}”: {self.sku} {self.rating}"


def table_rows(row: JudgementList) -> Iterator[Sequence[str]]:
    """Yield the lines of a list's table: the rating of each product, combined and as a whole number, where a
    half counts up."""
    yield NAMES
    combined = Combination(row.combination)
    columns = select(JudgedSearch.query, ProductRating.sku, ProductRating.rating)
    joined = columns.join(ProductRating, ProductRating.search_id == JudgedSearch.id)
    ordered = joined.where(JudgedSearch.list_id == row.id).order_by(JudgedSearch.normalized_query, ProductRating.sku)
    rated: dict[tuple[str, str], list[int]] = defaultdict(list)
    for query, sku, rating in db.session.execute(ordered):
        rated[query, sku].append(rating)
    for (query, sku), ratings in rated.items():
        yield query, sku, str(floor(combined.of(ratings) + 0.5))


@dataclass(slots=True)
class _ImportPlan:
    """The list as the lines planned so far leave it. `stored` has the ratings from files by search and SKU; `rated`
    counts the rated products of each search."""

    known: set[str]
    stored: Mapping[tuple[str, str], int]
    terms: set[str]
    rated: dict[str, set[str]]
    said: dict[tuple[str, str], int] = field(default_factory=dict)

    def plan_line(self, number: int, cells: Mapping[str, str]) -> ImportLine[RatingLine]:
        text = ",".join(cells.values())
        try:
            line = _read_line(cells)
            self._check(line)
        except Invalid as invalid:
            return refused(number, text, invalid)
        self.said[line.key] = number
        term = normalized_term(line.query)
        self.terms.add(term)
        self.rated[term].add(line.sku)
        before = self.stored.get(line.key)
        if before == line.rating:
            return ImportLine(number, text, RowOutcome.SAME, line)
        if before is None:
            return ImportLine(number, text, RowOutcome.ADDED, line)
        return ImportLine(number, text, RowOutcome.CHANGED, line, RatingLine(line.query, line.sku, before))

    def _check(self, line: RatingLine) -> None:
        if line.sku not in self.known:
            raise Invalid.one("unknown_sku", f"No product of this shop has the SKU “{line.sku[:64]}”.")
        if line.key in self.said:
            raise Invalid.one("duplicate", f"Line {self.said[line.key]} rates the same product for this search.")
        term = normalized_term(line.query)
        if term not in self.terms and len(self.terms) >= MOST_SEARCHES:
            raise Invalid.one("too_many", f"A list has at most {MOST_SEARCHES:,} searches.")
        if line.sku not in self.rated[term] and len(self.rated[term]) >= MOST_RATED:
            raise Invalid.one("too_many", f"At most {MOST_RATED} products of a search can be rated.")


def _read_line(cells: Mapping[str, str]) -> RatingLine:
    check_cells(cells)
    query, sku, rating = one_line(cells.get("query", "")), cells.get("sku", "").strip(), cells.get("rating", "").strip()
    problems = query_problems(query)
    if problems:
        raise Invalid(problems)
    if not sku:
        raise Invalid.one("required", "The SKU is missing.")
    if (grade := GRADES.get(rating.removesuffix(".0"))) is None:
        raise Invalid.one("invalid_rating", f"The rating must be 0, 1, 2 or 3, not “{rating[:20]}”.")
    return RatingLine(query, sku, grade)


def preview(site_id: int, list_id: int, text: str) -> ImportReport[RatingLine]:
    """Preview an import; nothing is written. Raises NotFound, and Invalid for what is no such table."""
    return _plan(list_of(site_id, list_id), text)


def apply(author: Author, list_id: int, text: str, digest: str) -> ImportReport[RatingLine]:
    """Apply the changes that the preview with this digest showed; refused lines are left out. Raises NotFound, Invalid,
    and Conflict where the list or the products have changed since."""
    row = list_of(author.site_id, list_id, to_change=True)
    report = _plan(row, text)
    if report.digest != digest:
        raise Conflict(CHANGED)
    lines = [line.made for line in report.lines if line.made is not None and line.outcome is not RowOutcome.SAME]
    if lines:
        _store(author, row, lines)
        summary = f"Imported {numbered(len(lines), 'rating')} into the judgement list “{row.name}”"
        note_ratings(author, row, summary)
    return report


def _plan(row: JudgementList, text: str) -> ImportReport[RatingLine]:
    lines = read_named(text, COLUMNS, NAMES, "ratings", MOST_LINES)
    known = known_skus(row.site_id, {cells.get("sku", "").strip() for _, cells in lines})
    stored: dict[tuple[str, str], int] = {}
    rated: dict[str, set[str]] = defaultdict(set)
    columns = JudgedSearch.normalized_query, ProductRating.sku, ProductRating.rating, ProductRating.rater_id
    of_list = select(*columns, ProductRating.rater).join(ProductRating, ProductRating.search_id == JudgedSearch.id)
    for term, sku, rating, rater_id, rater in db.session.execute(of_list.where(JudgedSearch.list_id == row.id)):
        rated[term].add(sku)
        if rater_id is None and not rater:
            stored[term, sku] = rating
    plan = _ImportPlan(known, stored, set(searches_by_term(row.id)), rated)
    return ImportReport([plan.plan_line(number, cells) for number, cells in lines])


def _store(author: Author, row: JudgementList, lines: Sequence[RatingLine]) -> None:
    """Store the ratings in place of earlier ones from files."""
    ids = searches_by_term(row.id)
    new: dict[str, str] = {}
    for line in lines:
        if line.key[0] not in ids:
            new.setdefault(line.key[0], line.query)
    ids |= insert_searches(row, new)
    by_search: dict[int, list[RatingLine]] = defaultdict(list)
    for line in lines:
        by_search[ids[line.key[0]]].append(line)
    for search_id, own in by_search.items():
        store_from_file(author, search_id, {line.sku: [line.rating] for line in own})


def store_from_file(author: Author, search_id: int, ratings: Mapping[str, Sequence[int]]) -> None:
    """Replace the ratings of a search that come from files, for the SKUs that are given. People's stay."""
    from_files = ProductRating.rater_id.is_(None), ProductRating.rater == ""
    for batch in batched(sorted(ratings)):
        of_search = ProductRating.search_id == search_id, ProductRating.sku.in_(batch)
        db.session.execute(delete(ProductRating).where(*of_search, *from_files))
    values = [
        {
            "site_id": author.site_id,
            "search_id": search_id,
            "sku": sku,
            "rater": "",
            "rating": rating,
            "rated_at": author.now(),
        }
        for sku, each in ratings.items()
        for rating in each
    ]
    if values:
        db.session.execute(insert(ProductRating), values)
