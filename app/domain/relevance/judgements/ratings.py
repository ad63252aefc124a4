"""Ratings of products for the searches of a list: each rater's own, and what they come to together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import case, func, select

from app.domain.catalogue.models import Product
from app.domain.relevance.judgements.lists import list_of, note_ratings, search_of
from app.domain.relevance.judgements.measures import BEST, Agreement, Combination, agreement
from app.domain.relevance.models import JudgedSearch, JudgementList, ProductRating
from app.domain.shared.author import Author
from app.domain.shared.paging import batched
from app.domain.shared.problems import Invalid, Problem
from app.domain.shared.text import numbered
from app.extensions import db

MOST_RATED = 500  # Products of a search.


@dataclass(frozen=True, slots=True)
class Rater:
    """A user who rates, by id and name."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class RatedSearch:
    """A search with the ratings of its products by SKU, as the list combines those of several people."""

    id: int
    query: str
    grades: Mapping[str, float]

    @property
    def is_answerable(self) -> bool:
        """Whether a product answers it, without which its NDCG means nothing."""
        return any(self.grades.values())


def rated_searches(row: JudgementList, only: Collection[int] | None = None) -> list[RatedSearch]:
    """Return the searches of a list that a product answers, in the order of their ids; `only` those of these ids."""
    queries = select(JudgedSearch.id, JudgedSearch.query).where(JudgedSearch.list_id == row.id)
    ratings = select(ProductRating.search_id, ProductRating.sku, ProductRating.rating)
    if only is None:
        named = db.session.execute(queries.order_by(JudgedSearch.id)).all()
        of_list = ratings.join(JudgedSearch, JudgedSearch.id == ProductRating.search_id)
        rated = db.session.execute(of_list.where(JudgedSearch.list_id == row.id)).all()
    else:
        named = db.session.execute(queries.where(JudgedSearch.id.in_(only)).order_by(JudgedSearch.id)).all()
        rated = db.session.execute(ratings.where(ProductRating.search_id.in_([id for id, _ in named]))).all()
    by_search: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for search_id, sku, rating in rated:
        by_search[search_id][sku].append(rating)
    combined = Combination(row.combination)
    searches = (
        RatedSearch(id, query, {sku: combined.of(each) for sku, each in by_search[id].items()}) for id, query in named
    )
    return [search for search in searches if search.is_answerable]


def grades_of(row: JudgementList, search_id: int) -> dict[str, float]:
    """Return the combined rating of each rated product of a search, by SKU."""
    columns = select(ProductRating.sku, ProductRating.rating).where(ProductRating.search_id == search_id)
    by_sku: dict[str, list[int]] = defaultdict(list)
    for sku, rating in db.session.execute(columns):
        by_sku[sku].append(rating)
    return {sku: Combination(row.combination).of(each) for sku, each in by_sku.items()}


def queries_of(row: JudgementList) -> list[tuple[int, str]]:
    """Return (id, words) of all searches of a list, in the order of their ids."""
    query = select(JudgedSearch.id, JudgedSearch.query).where(JudgedSearch.list_id == row.id)
    return [(id, words) for id, words in db.session.execute(query.order_by(JudgedSearch.id))]


def ratings_by(rater_id: int, search_id: int) -> dict[str, int]:
    """Return the ratings of a search by one rater, by SKU."""
    own = ProductRating.search_id == search_id, ProductRating.rater_id == rater_id
    return {
        sku: rating for sku, rating in db.session.execute(select(ProductRating.sku, ProductRating.rating).where(*own))
    }


def rate(author: Author, rater: Rater, list_id: int, search_id: int, ratings: Mapping[str, int | None]) -> int:
    """Store one rater's ratings of products by SKU, beside those of others; None takes a rating back. Return how many
    changed. Raises NotFound, and Invalid with every problem, in which case nothing is stored."""
    row = list_of(author.site_id, list_id, to_change=True)
    search = search_of(author.site_id, list_id, search_id)
    _check_ratings(author.site_id, search_id, ratings)
    own = select(ProductRating).where(ProductRating.search_id == search_id, ProductRating.rater_id == rater.id)
    stored = {one.sku: one for one in db.session.scalars(own)}
    changed = sum(_store(author, rater, search, stored.get(sku), sku, rating) for sku, rating in ratings.items())
    if changed:
        summary = f"Rated {numbered(changed, 'product')} for “{search.query}” in the judgement list “{row.name}”"
        note_ratings(author, row, summary)
    return changed


@dataclass(frozen=True, slots=True)
class RatedPage:
    """The outcome of rating a page: how many ratings changed, and the SKUs that the shop has not any more."""

    changed: int
    gone: tuple[str, ...]


def rate_page(
    author: Author, rater: Rater, list_id: int, search_id: int, ratings: Mapping[str, int | None]
) -> RatedPage:
    """Store one rater's ratings as `rate` does, without those of products that were deleted since their page was made.
    Raises NotFound and Invalid."""
    known = known_skus(author.site_id, ratings)
    gone = tuple(sku for sku, rating in ratings.items() if sku not in known and rating is not None)
    kept = {sku: rating for sku, rating in ratings.items() if sku not in gone}
    return RatedPage(rate(author, rater, list_id, search_id, kept), gone)


def _store(
    author: Author, rater: Rater, search: JudgedSearch, known: ProductRating | None, sku: str, rating: int | None
) -> bool:
    """Store one rating in place of the known one, and return whether that changes anything."""
    if (known.rating if known is not None else None) == rating:
        return False
    if known is not None:
        db.session.delete(known)
        db.session.flush()
    if rating is not None:
        columns = {"site_id": author.site_id, "search_id": search.id, "rater_id": rater.id, "rater": rater.name[:100]}
        db.session.add(ProductRating(**columns, sku=sku, rating=rating, rated_at=author.now()))
    return True


def _check_ratings(site_id: int, search_id: int, ratings: Mapping[str, int | None]) -> None:
    known = known_skus(site_id, ratings)
    problems = [
        Problem("unknown_sku", f"No product of this shop has the SKU “{sku[:64]}”.", f"#/ratings/{sku[:64]}")
        for sku, rating in ratings.items()
        if sku not in known and rating is not None
    ]
    problems += [
        Problem("invalid_rating", f"The rating of {sku[:64]} must be 0, 1, 2 or 3.", f"#/ratings/{sku[:64]}")
        for sku, rating in ratings.items()
        if rating is not None and not 0 <= rating <= BEST
    ]
    rated = set(db.session.scalars(select(ProductRating.sku).where(ProductRating.search_id == search_id)))
    if len(rated | {sku for sku, rating in ratings.items() if rating is not None}) > MOST_RATED:
        problems.append(Problem("too_many", f"At most {MOST_RATED} products of a search can be rated.", "#/ratings"))
    if problems:
        raise Invalid(problems)


def known_skus(site_id: int, skus: Collection[str]) -> set[str]:
    """Return those of the SKUs that products of the site have."""
    found: set[str] = set()
    for batch in batched(sorted(set(skus))):
        found |= set(db.session.scalars(select(Product.sku).where(Product.site_id == site_id, Product.sku.in_(batch))))
    return found


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """How many products one person rated; `name` is empty for ratings from files."""

    name: str
    ratings: int


def raters_of(list_id: int) -> list[RaterSummary]:
    """Return who rated, those with the most ratings first."""
    by_user = func.coalesce(ProductRating.rater_id, 0), case((ProductRating.rater_id.is_(None), ProductRating.rater))
    counted = select(func.max(ProductRating.rater), func.count())
    of_list = counted.join(JudgedSearch, JudgedSearch.id == ProductRating.search_id)
    grouped = of_list.where(JudgedSearch.list_id == list_id).group_by(*by_user)
    rows = [RaterSummary(name, ratings) for name, ratings in db.session.execute(grouped)]
    return sorted(rows, key=lambda one: (-one.ratings, one.name))


def agreement_on(list_id: int) -> Agreement:
    """Return how far the raters of a list agree on the products that several rated."""
    of_list = select(ProductRating.search_id, ProductRating.sku, ProductRating.rating).join(
        JudgedSearch, JudgedSearch.id == ProductRating.search_id
    )
    several = (
        select(ProductRating.search_id, ProductRating.sku)
        .join(JudgedSearch, JudgedSearch.id == ProductRating.search_id)
        .where(JudgedSearch.list_id == list_id)
        .group_by(ProductRating.search_id, ProductRating.sku)
        .having(func.count() > 1)
        .subquery()
    )
    both = (several.c.search_id == ProductRating.search_id) & (several.c.sku == ProductRating.sku)
    rated: dict[tuple[int, str], list[int]] = defaultdict(list)
    for search_id, sku, rating in db.session.execute(of_list.join(several, both)):
        rated[search_id, sku].append(rating)
    return agreement(rated.values())
