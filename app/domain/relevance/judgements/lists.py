"""Judgement lists and their searches: their use cases and queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select, update

from app.domain.relevance import proposals
from app.domain.relevance.judgements.measures import Combination
from app.domain.relevance.models import JudgedSearch, JudgementList, ProductRating
from app.domain.relevance.proposals import Proposal
from app.domain.search.serving.rules import normalized_term
from app.domain.search.text import query_words
from app.domain.search_statistics.counting.queries import site_today, top_words
from app.domain.shared.author import Author
from app.domain.shared.paging import Paged
from app.domain.shared.problems import Invalid, Problem, StaleRevision
from app.domain.shared.records import existing, find_record, flush_or_conflict
from app.domain.shared.text import line_problems, numbered, one_line
from app.domain.sites import activity
from app.extensions import db

MOST_LISTS = 20  # Of a site.
MOST_SEARCHES = 2_000  # Of a list.
LONGEST_NAME, LONGEST_QUERY = 100, 200
USUAL_POOL, LARGEST_POOL = 10, 50
LARGEST_DROP = 1_000  # Thousandths: NDCG is at most 1.
POPULAR_DAYS = 30
PAGE_SIZE = 50
NO_LIST = "There is no such judgement list on this site. Another user may have deleted it."
NO_SEARCH = "There is no such search in this list. Another user may have removed it."


@dataclass(frozen=True, slots=True)
class ListDraft:
    """The settings of a list as people send them. `largest_drop` is in thousandths of NDCG, None where a rebuild is
    never blocked; `pool_size` is None where a text that is no number was sent."""

    name: str
    combination: Combination = Combination.MEAN
    in_previews: bool = False
    largest_drop: int | None = None
    pool_size: int | None = USUAL_POOL

    @classmethod
    def of_row(cls, row: JudgementList) -> ListDraft:
        return cls(row.name, Combination(row.combination), row.in_previews, row.largest_drop, row.pool_size)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "combination": self.combination.value,
            "inPreviews": self.in_previews,
            "largestDrop": self.largest_drop,
            "poolSize": self.pool_size,
        }


@dataclass(frozen=True, slots=True)
class ListSummary:
    """A list with the number of its searches, of those with a rating, and of its ratings."""

    row: JudgementList
    searches: int
    rated: int
    ratings: int


@dataclass(frozen=True, slots=True)
class SearchSummary:
    """A search of a list with the number of its rated products and ratings, and of those by one rater."""

    row: JudgedSearch
    products: int
    ratings: int
    own: int


@dataclass(frozen=True, slots=True)
class AddedSearches:
    """The outcome of adding searches: how many are new, and how many the list had already."""

    added: int
    known: int


def all_lists(site_id: int) -> list[ListSummary]:
    """Return the lists of a site by name."""
    rows = db.session.scalars(select(JudgementList).where(JudgementList.site_id == site_id))
    counts = _counts_by_list(site_id)
    summaries = [ListSummary(row, *counts.get(row.id, (0, 0, 0))) for row in rows]
    return sorted(summaries, key=lambda summary: summary.row.name.casefold())


def summary_of(site_id: int, list_id: int) -> ListSummary:
    """Return one list with its counts. Raises NotFound."""
    row = list_of(site_id, list_id)
    return ListSummary(row, *_counts_by_list(site_id, list_id).get(list_id, (0, 0, 0)))


def _counts_by_list(site_id: int, list_id: int | None = None) -> dict[int, tuple[int, int, int]]:
    columns = JudgedSearch.list_id, func.count(JudgedSearch.id.distinct())
    counted = select(*columns, func.count(ProductRating.search_id.distinct()), func.count(ProductRating.id))
    joined = counted.outerjoin(ProductRating, ProductRating.search_id == JudgedSearch.id)
    query = joined.where(JudgedSearch.site_id == site_id).group_by(JudgedSearch.list_id)
    if list_id is not None:
        query = query.where(JudgedSearch.list_id == list_id)
    return {found: (searches, rated, ratings) for found, searches, rated, ratings in db.session.execute(query)}


def list_of(site_id: int, list_id: int, to_change: bool = False) -> JudgementList:
    """Return a list of this site; `to_change` locks its row. Raises NotFound."""
    return existing(find_record(JudgementList, site_id, list_id, to_change), NO_LIST)


def list_in_previews(site_id: int) -> JudgementList | None:
    """Return the list by which previews of changes are judged; None where the site has chosen none."""
    chosen = select(JudgementList).where(JudgementList.site_id == site_id, JudgementList.in_previews)
    return db.session.scalar(chosen.order_by(JudgementList.id).limit(1))


def create(author: Author, sent: ListDraft) -> JudgementList:
    """Create a list. Raises Invalid with every problem, Conflict where two create the same at once."""
    clean = _check_draft(author.site_id, sent)
    row = JudgementList(site_id=author.site_id, revision=1, ratings_version=1, created_at=author.now())
    _write(author, row, clean)
    _record(author, row, "create", f"Created the judgement list “{row.name}”", None, clean.as_json())
    return row


def change(author: Author, list_id: int, revision: int, sent: ListDraft) -> bool:
    """Change the settings of a list; return False where nothing differs. Raises NotFound, StaleRevision, Invalid."""
    row = list_of(author.site_id, list_id, to_change=True)
    if row.revision != revision:
        raise StaleRevision(f"{row.updated_by} saved this list while you worked on it.", row.revision)
    clean, before = _check_draft(author.site_id, sent, but=row.id), ListDraft.of_row(row)
    if clean == before:
        return False
    row.revision += 1
    _write(author, row, clean)
    summary = f"Changed the settings of the judgement list “{row.name}”"
    _record(author, row, "change", summary, before.as_json(), clean.as_json())
    return True


def delete(author: Author, list_id: int) -> str:
    """Delete a list with its searches and ratings, and return its name. Raises NotFound."""
    summary = summary_of(author.site_id, list_id)
    row, name = list_of(author.site_id, list_id, to_change=True), summary.row.name
    before = ListDraft.of_row(row).as_json() | {"searches": summary.searches, "ratings": summary.ratings}
    _record(author, row, "delete", f"Deleted the judgement list “{name}”", before, None)
    db.session.delete(row)
    db.session.flush()
    return name


def choose_candidate(author: Author, list_id: int, proposal: Proposal | None) -> JudgementList:
    """Have the products that searches find with a change, which is not saved, rated beside those of today; None ends
    that. Raises NotFound."""
    row = list_of(author.site_id, list_id, to_change=True)
    before, row.candidate = row.candidate, proposals.as_json(proposal) if proposal is not None else None
    if before != row.candidate:
        row.revision += 1
        row.updated_at, row.updated_by = author.now(), author.name[:100]
        shown = proposals.describe(proposal) if proposal is not None else "none"
        summary = f"Changed the candidate of the judgement list “{row.name}” to: {shown}"
        _record(author, row, "candidate", summary, {"candidate": before}, {"candidate": row.candidate})
    return row


def candidate_of(row: JudgementList) -> Proposal | None:
    return proposals.stored_proposal(row.candidate) if row.candidate else None


def add_searches(author: Author, list_id: int, queries: Sequence[str]) -> AddedSearches:
    """Add searches to a list; those that it has already are left as they are. Raises NotFound, and Invalid with every
    problem, in which case nothing is added."""
    row = list_of(author.site_id, list_id, to_change=True)
    known = searches_by_term(list_id)
    wanted: dict[str, str] = {}
    problems: list[Problem] = []
    for query in filter(None, map(one_line, queries)):
        if found := query_problems(query):
            problems += found
        else:
            wanted.setdefault(normalized_term(query), query)
    new = {term: query for term, query in wanted.items() if term not in known}
    if not wanted and not problems:
        problems.append(Problem("required", "Write a search.", "#/searches"))
    if len(known) + len(new) > MOST_SEARCHES:
        problems.append(Problem("too_many", f"A list has at most {MOST_SEARCHES:,} searches.", "#/searches"))
    if problems:
        raise Invalid(problems)
    insert_searches(row, new)
    if new:
        touch(author, row)
        named = ", ".join(f"“{query}”" for query in list(new.values())[:5])
        more = f" and {len(new) - 5:,} more" if len(new) > 5 else ""
        _record(author, row, "searches", f"Added to the judgement list “{row.name}”: {named}{more}", None, None)
    return AddedSearches(len(new), len(wanted) - len(new))


def add_popular(author: Author, list_id: int, most: int) -> AddedSearches:
    """Add the searches made most in the last 30 days. Raises NotFound, and Invalid where none were counted."""
    words = [
        word for word, _ in top_words(author.site_id, site_today(author.clock, author.site_id), POPULAR_DAYS, most)
    ]
    fit = [word for word in words if not query_problems(word)]
    if not fit:
        raise Invalid.one("no_searches", "No searches were counted in the last 30 days.", "#/searches")
    return add_searches(author, list_id, fit)


def query_problems(query: str) -> list[Problem]:
    """Return the problems of a search on one line."""
    problems = line_problems(query, f"The search “{query[:40]}”", LONGEST_QUERY, "#/searches", required=True)
    if not problems and not query_words(query):
        problems.append(Problem("no_word", f"“{query[:40]}” has neither letters nor digits.", "#/searches"))
    if not problems and len(normalized_term(query)) > LONGEST_QUERY:  # Folding makes two letters of some: “ß” is “ss”.
        message = f"The search “{query[:40]}” is longer than {LONGEST_QUERY:,} characters once its case is folded."
        problems.append(Problem("too_long", message, "#/searches"))
    return problems


def remove_search(author: Author, list_id: int, search_id: int) -> str:
    """Remove a search with its ratings and return its words. Raises NotFound."""
    row = list_of(author.site_id, list_id, to_change=True)
    search = search_of(author.site_id, list_id, search_id)
    query = search.query
    db.session.delete(search)
    db.session.flush()
    touch(author, row)
    _record(author, row, "searches", f"Removed “{query}” from the judgement list “{row.name}”", None, None)
    return query


def search_of(site_id: int, list_id: int, search_id: int) -> JudgedSearch:
    """Return a search of a list of this site. Raises NotFound."""
    found = find_record(JudgedSearch, site_id, search_id)
    return existing(found if found is not None and found.list_id == list_id else None, NO_SEARCH)


def find_searches(
    site_id: int, list_id: int, rater_id: int, page: int = 1, words: str = "", unrated: bool = False
) -> Paged[SearchSummary]:
    """Return a page of the searches of a list by their words. `words` narrows them to those that contain them;
    `unrated` to those without a rating by the rater. Raises NotFound."""
    list_of(site_id, list_id)
    query = select(JudgedSearch).where(JudgedSearch.site_id == site_id, JudgedSearch.list_id == list_id)
    if term := normalized_term(words):
        query = query.where(JudgedSearch.normalized_query.contains(term, autoescape=True))
    if unrated:
        query = query.where(JudgedSearch.id.not_in(_rated_by(rater_id)))
    total = db.session.scalar(select(func.count()).select_from(query.subquery())) or 0
    ordered = query.order_by(JudgedSearch.normalized_query, JudgedSearch.id)
    rows = db.session.scalars(ordered.limit(PAGE_SIZE).offset((page - 1) * PAGE_SIZE)).all()
    counts = _counts_by_search([row.id for row in rows], rater_id)
    return Paged([SearchSummary(row, *counts.get(row.id, (0, 0, 0))) for row in rows], page, PAGE_SIZE, total)


def _counts_by_search(ids: Sequence[int], rater_id: int) -> dict[int, tuple[int, int, int]]:
    own = func.count(case((ProductRating.rater_id == rater_id, ProductRating.id)))
    columns = ProductRating.search_id, func.count(ProductRating.sku.distinct()), func.count(ProductRating.id), own
    query = select(*columns).where(ProductRating.search_id.in_(ids)).group_by(ProductRating.search_id)
    return {search: (products, ratings, mine) for search, products, ratings, mine in db.session.execute(query)}


def _rated_by(rater_id: int) -> Select[int]:
    return select(ProductRating.search_id).where(ProductRating.rater_id == rater_id)


def next_unrated(site_id: int, list_id: int, rater_id: int, after: JudgedSearch) -> int | None:
    """Return the id of the search that the rater rates next: the first after this one, then from the beginning, that
    they have not rated."""
    place = JudgedSearch.normalized_query, JudgedSearch.id
    comes_later = (JudgedSearch.normalized_query > after.normalized_query) | (
        (JudgedSearch.normalized_query == after.normalized_query) & (JudgedSearch.id > after.id)
    )
    of_list = JudgedSearch.site_id == site_id, JudgedSearch.list_id == list_id, JudgedSearch.id != after.id
    query = select(JudgedSearch.id).where(*of_list, JudgedSearch.id.not_in(_rated_by(rater_id)))
    return db.session.scalar(query.order_by(case((comes_later, 0), else_=1), *place).limit(1))


def searches_by_term(list_id: int) -> dict[str, int]:
    """Return the ids of the searches of a list by their normalised words."""
    columns = select(JudgedSearch.normalized_query, JudgedSearch.id)
    return {term: id for term, id in db.session.execute(columns.where(JudgedSearch.list_id == list_id))}


def insert_searches(row: JudgementList, by_term: Mapping[str, str]) -> dict[str, int]:
    """Insert checked searches, by their normalised words, and return their ids by the same."""
    made = [
        JudgedSearch(site_id=row.site_id, list_id=row.id, query=query, normalized_query=term)
        for term, query in by_term.items()
    ]
    db.session.add_all(made)
    flush_or_conflict("Another user added the same search at this moment.")
    return {search.normalized_query: search.id for search in made}


def touch(author: Author, row: JudgementList) -> None:
    """Count a change of the searches or ratings of a list: figures of earlier ones are outdated."""
    row.ratings_version += 1
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    db.session.flush()


def note_ratings(author: Author, row: JudgementList, summary: str) -> None:
    """Count a change of ratings, and note it in the activity log."""
    touch(author, row)
    _record(author, row, "rate", summary, None, None)


def _write(author: Author, row: JudgementList, clean: ListDraft) -> None:
    row.name, row.combination, row.in_previews = clean.name, clean.combination.value, clean.in_previews
    row.largest_drop, row.pool_size = clean.largest_drop, clean.pool_size or USUAL_POOL
    row.updated_at, row.updated_by = author.now(), author.name[:100]
    db.session.add(row)
    flush_or_conflict("Another user created a list of this name at this moment.")
    if clean.in_previews:
        others = JudgementList.site_id == row.site_id, JudgementList.id != row.id, JudgementList.in_previews
        written = {"updated_at": row.updated_at, "updated_by": row.updated_by}
        # A page of theirs that is open would choose them again.
        changed = update(JudgementList).where(*others).values(in_previews=False, revision=JudgementList.revision + 1)
        db.session.execute(changed.values(written))


def _record(author: Author, row: JudgementList, act: str, summary: str, before: Any, after: Any) -> None:
    activity.record(author, f"judgements.{act}", ("judgement_list", str(row.id)), summary, before, after)


def check_new(site_id: int, sent: ListDraft) -> ListDraft:
    """Return the list as `create` would store it. Raises Invalid."""
    return _check_draft(site_id, sent)


def check_changed(row: JudgementList, sent: ListDraft) -> ListDraft:
    """Return the list as `change` would store it. Raises Invalid."""
    return _check_draft(row.site_id, sent, but=row.id)


def _check_draft(site_id: int, sent: ListDraft, but: int | None = None) -> ListDraft:
    name = one_line(sent.name)
    problems = line_problems(name, "The name", LONGEST_NAME, "#/name", required=True)
    if sent.pool_size is None or not 1 <= sent.pool_size <= LARGEST_POOL:
        problems.append(Problem("invalid_pool", f"Give a number from 1 to {LARGEST_POOL}.", "#/poolSize"))
    if sent.largest_drop is not None and not 1 <= sent.largest_drop <= LARGEST_DROP:
        problems.append(Problem("invalid_drop", "Give a fall of NDCG from 0.001 to 1.", "#/largestDrop"))
    names = _names_of(site_id, but)
    if name.casefold() in names:
        problems.append(Problem("exists", f"There is a judgement list “{name}” already.", "#/name"))
    if but is None and len(names) >= MOST_LISTS:
        problems.append(Problem("too_many", f"A shop has {numbered(MOST_LISTS, 'judgement list')} at most.", "#/name"))
    if problems:
        raise Invalid(problems)
    return ListDraft(name, sent.combination, sent.in_previews, sent.largest_drop, sent.pool_size)


def _names_of(site_id: int, but: int | None) -> list[str]:
    named: Iterable[str] = db.session.scalars(
        select(JudgementList.name).where(JudgementList.site_id == site_id, JudgementList.id != (but or 0))
    )
    return [name.casefold() for name in named]
