"""Judgement lists as they travel from shop to shop: with all grades of a product, and without the people who gave
them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from app.domain.catalogue.models import Product
from app.domain.relevance.judgements import lists
from app.domain.relevance.judgements.lists import MOST_SEARCHES, ListDraft, query_problems
from app.domain.relevance.judgements.measures import BEST
from app.domain.relevance.judgements.ratings import MOST_RATED
from app.domain.relevance.judgements.table import store_from_file
from app.domain.relevance.models import JudgedSearch, JudgementList, ProductRating
from app.domain.search.serving.rules import normalized_term
from app.domain.shared.author import Author
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import one_line
from app.extensions import db

MOST_GRADES = 100  # Of one product for one search.
TOO_MANY_SEARCHES = f"A list has at most {MOST_SEARCHES:,} searches."
TOO_MANY_RATED = f"At most {MOST_RATED} products of a search can be rated."
Grades = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class TravellingList:
    """A list with the grades of products, by SKU, of each of its searches by its words."""

    draft: ListDraft
    searches: Mapping[str, Grades]

    def as_json(self) -> dict[str, Any]:
        searches = [
            {"query": query, "ratings": {sku: sorted(grades[sku]) for sku in sorted(grades)}}
            for query, grades in sorted(self.searches.items())
        ]
        return self.draft.as_json() | {"searches": searches}

    @property
    def skus(self) -> list[str]:
        return sorted({sku for grades in self.searches.values() for sku in grades})


def travelling_lists(site_id: int) -> list[TravellingList]:
    """Return the lists of a site by name, without ratings of products that are gone: a shop takes no others."""
    rows = db.session.scalars(select(JudgementList).where(JudgementList.site_id == site_id))
    return [_travelling(row) for row in sorted(rows, key=lambda row: row.name)]


def _travelling(row: JudgementList) -> TravellingList:
    searches: dict[str, dict[str, list[int]]] = {
        query: defaultdict(list)
        for query in db.session.scalars(select(JudgedSearch.query).where(JudgedSearch.list_id == row.id))
    }
    is_product = (Product.site_id == ProductRating.site_id) & (Product.sku == ProductRating.sku)
    columns = select(JudgedSearch.query, ProductRating.sku, ProductRating.rating)
    joined = columns.join(ProductRating, ProductRating.search_id == JudgedSearch.id).join(Product, is_product)
    for query, sku, rating in db.session.execute(joined.where(JudgedSearch.list_id == row.id)):
        searches[query][sku].append(rating)
    return TravellingList(ListDraft.of_row(row), searches)


def check(sent: TravellingList, known: Collection[str]) -> TravellingList:
    """Return a list with its searches as they are stored. `known` are the SKUs of the shop. Raises Invalid."""
    problems: list[Problem] = []
    searches: dict[str, tuple[str, Grades]] = {}
    for place, (query, grades) in enumerate(sent.searches.items()):
        at, clean = f"#/searches/{place}", one_line(query)
        problems += [Problem(one.code, one.message, f"{at}/query") for one in query_problems(clean)]
        if normalized_term(clean) in searches:
            problems.append(Problem("duplicate", f"“{clean}” stands in the list twice.", f"{at}/query"))
        searches[normalized_term(clean)] = clean, grades
        problems += [Problem(one.code, one.message, f"{at}/ratings") for one in _grade_problems(grades, known)]
    if len(searches) > MOST_SEARCHES:
        problems.append(Problem("too_many", TOO_MANY_SEARCHES, "#/searches"))
    if problems:
        raise Invalid(problems)
    return TravellingList(sent.draft, dict(searches.values()))


def _grade_problems(grades: Grades, known: Collection[str]) -> list[Problem]:
    problems = [
        Problem("unknown_sku", f"No product of this shop has the SKU “{sku[:64]}”.", "")
        for sku in grades
        if sku not in known
    ]
    if any(not 1 <= len(each) <= MOST_GRADES or any(not 0 <= one <= BEST for one in each) for each in grades.values()):
        problems.append(Problem("invalid_rating", "Ratings are lists of 0, 1, 2 or 3.", ""))
    if len(grades) > MOST_RATED:
        problems.append(Problem("too_many", TOO_MANY_RATED, ""))
    return problems


def take(author: Author, sent: TravellingList, dry_run: bool) -> str:
    """Take a checked list: create it, or change the one of its name, whose further searches and ratings stay. Return
    added, changed or unchanged. Raises Invalid."""
    named = select(JudgementList).where(JudgementList.site_id == author.site_id)
    row = next((row for row in db.session.scalars(named) if row.name.casefold() == sent.draft.name.casefold()), None)
    if row is None:
        lists.check_new(author.site_id, sent.draft)
        if not dry_run:
            _store(author, lists.create(author, sent.draft), sent)
        return "added"
    row = lists.list_of(author.site_id, row.id, to_change=True)
    stored = _travelling(row)
    if stored.draft == sent.draft and not _has_more(sent, stored):
        return "unchanged"
    lists.check_changed(row, sent.draft)
    _check_room(row, sent)
    if not dry_run:
        lists.change(author, row.id, row.revision, sent.draft)
        _store(author, row, sent)
    return "changed"


def _check_room(row: JudgementList, sent: TravellingList) -> None:
    """Check the limits of a list as it would be with what is sent beside what it has, ratings of products that are gone
    included. Raises Invalid."""
    problems: list[Problem] = []
    columns = select(JudgedSearch.normalized_query, ProductRating.sku)
    joined = columns.outerjoin(ProductRating, ProductRating.search_id == JudgedSearch.id)
    rated: dict[str, set[str]] = defaultdict(set)
    for term, sku in db.session.execute(joined.where(JudgedSearch.list_id == row.id).distinct()):
        rated[term].update(() if sku is None else (sku,))
    for place, (query, grades) in enumerate(sent.searches.items()):
        if len(rated[normalized_term(query)] | set(grades)) > MOST_RATED:
            problems.append(Problem("too_many", TOO_MANY_RATED, f"#/searches/{place}/ratings"))
    if len(rated) > MOST_SEARCHES:
        problems.append(Problem("too_many", TOO_MANY_SEARCHES, "#/searches"))
    if problems:
        raise Invalid(problems)


def _has_more(sent: TravellingList, stored: TravellingList) -> bool:
    known = {normalized_term(query): grades for query, grades in stored.searches.items()}
    return any(
        normalized_term(query) not in known
        or any(Counter(known[normalized_term(query)].get(sku, ())) != Counter(each) for sku, each in grades.items())
        for query, grades in sent.searches.items()
    )


def _store(author: Author, row: JudgementList, sent: TravellingList) -> None:
    """Store searches and ratings. The ratings of people stay, and what a list has beyond them comes as from a file."""
    ids = lists.searches_by_term(row.id)
    by_term = {normalized_term(query): query for query in sent.searches}
    ids |= lists.insert_searches(row, {term: query for term, query in by_term.items() if term not in ids})
    for query, grades in sent.searches.items():
        if grades:
            _store_grades(author, ids[normalized_term(query)], grades)
    lists.note_ratings(author, row, f"Imported the judgement list “{row.name}”")


def _store_grades(author: Author, search_id: int, grades: Grades) -> None:
    of_people = (ProductRating.rater_id.is_not(None)) | (ProductRating.rater != "")
    given = select(ProductRating.sku, ProductRating.rating).where(ProductRating.search_id == search_id, of_people)
    people: dict[str, Counter[int]] = defaultdict(Counter)
    for sku, rating in db.session.execute(given):
        people[sku][rating] += 1
    beyond = {sku: sorted((Counter(each) - people[sku]).elements()) for sku, each in grades.items()}
    store_from_file(author, search_id, beyond)
