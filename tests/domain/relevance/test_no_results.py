"""Searches that found nothing, and what was solved since."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.merchandising.shop import ContentLink
from app.domain.relevance.no_results import AnswerNow, NoResults, answers_now, no_results
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search_statistics.counting.queries import site_today
from app.domain.sites.settings import change_settings
from app.transaction import transaction
from tests import counted_searches, searching
from tests.domain.relevance.trials.preview_shop import save_rule, save_synonym, shop
from tests.statements import statements

pytestmark = pytest.mark.usefixtures("context")


def _searched(indexing: SearchContext, site_id: int, **times: int) -> None:
    """So many searches of each word found nothing today."""
    today = site_today(indexing.clock, site_id)
    with transaction():
        for word, number in times.items():
            counted_searches.count(
                site_id, today, today, word.replace("_", " "), 0, searches=number, found_nothing=number
            )


def _listed(indexing: SearchContext, site_id: int, most: int = 50) -> NoResults:
    return no_results(indexing.clock, indexing.engine, site_id, most=most)


def test_a_search_is_solved_once_a_synonym_finds_something_or_a_rule_sends_it_on(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _searched(indexing, site_id, beaker=5, zzzz=3, opening_hours=2)
    before = _listed(indexing, site_id)
    assert [(row.word, row.times) for row in before.unsolved] == [("beaker", 5), ("zzzz", 3), ("opening hours", 2)]
    assert (before.remaining, before.solved) == (3, ())
    save_synonym(indexing, site_id, "beaker", "mug")
    save_rule(indexing, site_id, term="opening hours", redirect_url="/pages/hours")
    after = _listed(indexing, site_id)
    assert [row.word for row in after.unsolved] == ["zzzz"]
    assert {row.word: row.now for row in after.solved} == {
        "beaker": AnswerNow(2),
        "opening hours": AnswerNow(redirect="/pages/hours"),
    }
    assert (after.total, after.remaining, after.is_whole) == (3, 1, True)


def test_a_search_is_solved_once_a_page_answers_it(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _searched(indexing, site_id, returns=5, zzzz=3)
    with transaction():
        searching.add_page(site_id, "returns", "<p>Within 30 days, zzzz.</p>")
    assert rebuild(indexing, searching.request(indexing, site_id, "CONTENT"))
    found = _listed(indexing, site_id)
    assert {row.word: row.now for row in found.solved} == {
        "returns": AnswerNow(page=ContentLink("returns", "/pages/returns"))
    }
    assert [row.word for row in found.unsolved] == ["zzzz"]
    with transaction():
        change_settings(site_id, {"search-content-enabled": False})
    assert _listed(indexing, site_id).solved == ()


def test_only_the_first_are_looked_at_and_all_are_counted(indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _searched(indexing, site_id, mug=5, zzzz=3, yyyy=2)
    found = _listed(indexing, site_id, most=2)
    assert [row.word for row in found.rows] == ["mug", "zzzz"]
    assert (found.total, found.remaining, found.is_whole) == (3, 2, False)


def test_a_longer_list_costs_no_more_statements(app: Flask, indexing: SearchContext) -> None:
    site_id = shop(indexing)
    _searched(indexing, site_id, zzzz=3)
    with statements(app) as few:
        _listed(indexing, site_id)
    _searched(indexing, site_id, **{f"word{number}": 1 for number in range(30)})
    with statements(app) as many:
        _listed(indexing, site_id)
    assert len(many) == len(few)


def test_while_search_is_away_the_latest_search_of_a_word_counts(indexing: SearchContext) -> None:
    with transaction():
        other_site_id = searching.add_site("other.test").id
    today = site_today(indexing.clock, other_site_id)
    with transaction():
        counted_searches.count(other_site_id, today, today, "mug", 4, searches=2, found_nothing=1)
        counted_searches.count(other_site_id, today, today, "cup", 0, searches=1, found_nothing=1)
    assert answers_now(indexing.clock, indexing.engine, other_site_id, ["mug"]) == {}
    found = _listed(indexing, other_site_id)
    assert {row.word: row.now for row in found.rows} == {"mug": AnswerNow(4), "cup": AnswerNow()}
