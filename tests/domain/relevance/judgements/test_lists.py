"""Judgement lists and their searches."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from app.domain.relevance.judgements import lists
from app.domain.relevance.judgements.lists import AddedSearches, ListDraft
from app.domain.relevance.judgements.measures import Combination
from app.domain.relevance.models import JudgedSearch, JudgementList, ProductRating
from app.domain.relevance.proposals import MeaningProposal
from app.domain.search.engine import SearchContext
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchWordDay
from app.domain.shared.problems import Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry
from app.domain.work.context import read_afresh
from app.extensions import db
from app.transaction import transaction
from tests.domain.relevance.judgements.rated_shop import author_of, make_list, rated_list, rater, search_id
from tests.domain.relevance.trials.preview_shop import shop

pytestmark = pytest.mark.usefixtures("context")


def _row(site_id: int, list_id: int) -> JudgementList:
    read_afresh()
    return lists.list_of(site_id, list_id)


def _add(indexing: SearchContext, site_id: int, list_id: int, *queries: str) -> AddedSearches:
    with transaction():
        return lists.add_searches(author_of(indexing, site_id), list_id, queries)


def test_a_list_is_kept_tidy_and_noted(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    row = _row(site_id, make_list(indexing, site_id, "  Top   searches ", largest_drop=20))
    assert (row.name, row.combination, row.largest_drop, row.pool_size) == ("Top searches", "mean", 20, 10)
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "judgements.create")).one()
    assert (entry.subject_type, entry.actor, entry.after["largestDrop"]) == ("judgement_list", "Mia Moss", 20)


@pytest.mark.parametrize(
    ("draft", "pointers"),
    [
        (ListDraft(" "), ["#/name"]),
        (ListDraft("x" * 101, pool_size=None, largest_drop=0), ["#/name", "#/poolSize", "#/largestDrop"]),
        (ListDraft("x", pool_size=51, largest_drop=1_001), ["#/poolSize", "#/largestDrop"]),
        (ListDraft("top SEARCHES"), ["#/name"]),
    ],
)
def test_every_problem_of_a_list_is_named_and_nothing_stored(
    indexing: SearchContext, draft: ListDraft, pointers: list[str]
) -> None:
    site_id = shop(indexing)
    make_list(indexing, site_id)
    with pytest.raises(Invalid) as refused, transaction():
        lists.create(author_of(indexing, site_id), draft)
    assert [problem.pointer for problem in refused.value.problems] == pointers
    assert len(lists.all_lists(site_id)) == 1


def test_a_shop_has_a_limited_number_of_lists(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    for number in range(lists.MOST_LISTS):
        make_list(indexing, site_id, f"List {number}")
    with pytest.raises(Invalid, match="20 judgement lists at most"):
        make_list(indexing, site_id, "One more")


def test_one_list_of_a_site_judges_previews(indexing: SearchContext) -> None:
    site_id, other = shop(indexing), shop(indexing, "other.test")
    first, theirs = (make_list(indexing, each, in_previews=True) for each in (site_id, other))
    second = make_list(indexing, site_id, "Second", in_previews=True)
    assert not _row(site_id, first).in_previews
    chosen = [lists.list_in_previews(each) for each in (site_id, other)]
    assert [row and row.id for row in chosen] == [second, theirs]


def test_a_form_from_before_another_list_was_chosen_does_not_choose_the_first_again(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    first = make_list(indexing, site_id, in_previews=True)
    make_list(indexing, site_id, "Second", in_previews=True)
    with pytest.raises(StaleRevision), transaction():
        lists.change(author_of(indexing, site_id), first, 1, ListDraft("Top searches", in_previews=True))
    make_list(indexing, site_id, "Third")
    assert _row(site_id, first).revision == 2


def test_two_who_change_the_same_list_hear_of_it(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    draft = ListDraft("Renamed", Combination.MEDIAN)
    with transaction():
        assert lists.change(author_of(indexing, site_id), list_id, 1, draft)
    with pytest.raises(StaleRevision), transaction():
        lists.change(author_of(indexing, site_id), list_id, 1, ListDraft("Mine"))
    with transaction():
        assert not lists.change(author_of(indexing, site_id), list_id, 2, draft), "nothing differs"
    row = _row(site_id, list_id)
    assert (row.name, row.combination, row.revision) == ("Renamed", "median", 2)


def test_searches_are_added_once_whatever_their_case_and_spacing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    assert _add(indexing, site_id, list_id, " Blue  mug", "jug", "", "blue MUG") == AddedSearches(2, 0)
    assert _add(indexing, site_id, list_id, "JUG", "cup") == AddedSearches(1, 1)
    found = lists.find_searches(site_id, list_id, rater_id=0).items
    assert [one.row.query for one in found] == ["Blue mug", "cup", "jug"]
    assert _row(site_id, list_id).ratings_version == 3


def test_of_searches_with_a_problem_none_is_added(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    with pytest.raises(Invalid) as refused:
        _add(indexing, site_id, list_id, "mug", "?!", "x" * 201)
    assert len(refused.value.problems) == 2
    with pytest.raises(Invalid, match="Write a search"):
        _add(indexing, site_id, list_id, " ")
    assert lists.find_searches(site_id, list_id, 0).total_items == 0


def test_a_search_that_is_too_long_once_its_case_is_folded_is_refused(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    with pytest.raises(Invalid, match="longer than 200 characters once its case is folded"):
        _add(indexing, site_id, list_id, "ß" * 101)
    assert _add(indexing, site_id, list_id, "ß" * 100) == AddedSearches(1, 0)


def test_a_list_has_a_limited_number_of_searches(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    _add(indexing, site_id, list_id, *(f"search {number}" for number in range(lists.MOST_SEARCHES)))
    with pytest.raises(Invalid, match="at most 2,000 searches"):
        _add(indexing, site_id, list_id, "one more")
    assert [len(lists.find_searches(site_id, list_id, 0, page).items) for page in (1, 40, 41)] == [50, 50, 0]


def test_the_searches_made_most_are_added(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, author = make_list(indexing, site_id), author_of(indexing, site_id)
    with pytest.raises(Invalid, match="No searches were counted"), transaction():
        lists.add_popular(author, list_id, 2)
    with transaction():
        day = site_today(indexing.clock, site_id)
        for word, times in {"mug": 300, "jug": 90, "tea": 4}.items():
            db.session.add(SearchWordDay(site_id=site_id, day=day, word=word, searches=times))
    with transaction():
        assert lists.add_popular(author, list_id, 2) == AddedSearches(2, 0)
    assert [one.row.query for one in lists.find_searches(site_id, list_id, 0).items] == ["jug", "mug"]


def test_the_searches_of_a_list_are_found_by_words_and_by_what_is_left(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, mia = rated_list(indexing, site_id), rater(site_id, "Ben Bell")
    _add(indexing, site_id, list_id, "mug 100%", "mug_x")
    words = [one.row.query for one in lists.find_searches(site_id, list_id, mia.id, words="Mug").items]
    assert words == ["mug", "mug 100%", "mug_x"]
    assert lists.find_searches(site_id, list_id, mia.id, words="%").total_items == 1
    assert lists.find_searches(site_id, list_id, mia.id, unrated=True).total_items == 4
    rated_by = db.session.scalars(select(ProductRating.rater_id)).first() or 0
    assert lists.find_searches(site_id, list_id, rated_by, unrated=True).total_items == 2
    first = lists.find_searches(site_id, list_id, rated_by).items[0]
    assert (first.row.query, first.products, first.ratings, first.own) == ("mug", 2, 2, 2)


def test_the_next_search_to_rate_comes_round_to_the_beginning(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = make_list(indexing, site_id)
    _add(indexing, site_id, list_id, "cup", "jug", "mug")
    last = lists.search_of(site_id, list_id, search_id(list_id, "mug"))
    assert lists.next_unrated(site_id, list_id, 1, last) == search_id(list_id, "cup")
    middle = lists.search_of(site_id, list_id, search_id(list_id, "jug"))
    assert lists.next_unrated(site_id, list_id, 1, middle) == last.id


def test_a_removed_search_takes_its_ratings_along(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id)
    with transaction():
        assert lists.remove_search(author_of(indexing, site_id), list_id, search_id(list_id, "mug")) == "mug"
    assert db.session.scalars(select(ProductRating.sku)).all() == ["CUP-2"]


def test_a_deleted_list_leaves_nothing(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id = rated_list(indexing, site_id)
    summary = lists.summary_of(site_id, list_id)
    assert (summary.searches, summary.rated, summary.ratings) == (2, 2, 3)
    with transaction():
        assert lists.delete(author_of(indexing, site_id), list_id) == "Top searches"
    counts = [db.session.scalar(select(func.count()).select_from(table)) for table in (JudgedSearch, ProductRating)]
    assert counts == [0, 0]
    entry = db.session.scalars(select(AuditEntry).where(AuditEntry.action == "judgements.delete")).one()
    assert (entry.before["searches"], entry.before["ratings"]) == (2, 3)


def test_nothing_of_another_site_is_found(indexing: SearchContext) -> None:
    site_id, other = shop(indexing), shop(indexing, "other.test")
    list_id = rated_list(indexing, other)
    mug = search_id(list_id, "mug")
    author = author_of(indexing, site_id)
    for act in (
        lambda: lists.list_of(site_id, list_id),
        lambda: lists.search_of(site_id, list_id, mug),
        lambda: lists.change(author, list_id, 1, ListDraft("Mine")),
        lambda: lists.delete(author, list_id),
        lambda: lists.add_searches(author, list_id, ["cup"]),
        lambda: lists.remove_search(author, list_id, mug),
        lambda: lists.find_searches(site_id, list_id, 1),
        lambda: lists.choose_candidate(author, list_id, None),
    ):
        with pytest.raises(NotFound), transaction():
            act()
    own = make_list(indexing, site_id, "Own")
    with pytest.raises(NotFound):
        lists.search_of(site_id, own, mug)


def test_a_candidate_is_kept_until_there_is_none(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    list_id, author = make_list(indexing, site_id), author_of(indexing, site_id)
    with transaction():
        lists.choose_candidate(author, list_id, MeaningProposal(True))
    assert lists.candidate_of(_row(site_id, list_id)) == MeaningProposal(True)
    with transaction():
        lists.choose_candidate(author, list_id, None)
    assert lists.candidate_of(_row(site_id, list_id)) is None
    summaries = db.session.scalars(select(AuditEntry.summary).where(AuditEntry.action == "judgements.candidate")).all()
    assert [summary.rpartition(": ")[2] for summary in summaries] == ["With search by meaning", "none"]
