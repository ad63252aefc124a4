"""Asking for more synonyms from their page."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.relevance import synonym_suggestions
from app.domain.relevance.models import SuggestionRun
from app.extensions import db
from app.ports import clock
from app.transaction import transaction
from tests.fakes.queue import RecordingQueue
from tests.page_client import PageClient

PATH = "/admin/search/synonyms/suggest"


@pytest.fixture
def browser(signed_in) -> PageClient:
    page: PageClient = signed_in()
    return page


def fragment(browser: PageClient, method: str) -> str:
    headers = {"HX-Request": "true", "X-CSRFToken": browser.token}
    answer: str = browser.client.open(PATH, method=method, base_url=browser.base, headers=headers).text
    return answer


def end(app: Flask, site_id: int, **how: object) -> None:
    with app.app_context(), transaction():
        run = db.session.get(SuggestionRun, site_id)
        for name, value in how.items():
            setattr(run, name, value)
        run.finished_at = clock().now()


def test_asking_wakes_the_worker_and_shows_that_it_is_on_its_way(browser: PageClient, queue: RecordingQueue) -> None:
    text = fragment(browser, "POST")
    assert "Looking…" in text and "Requested by The Merchandiser" in text and 'hx-trigger="every 1s"' in text
    assert "relevance:suggest_synonyms" in [job for job, _ in queue.jobs]


def test_the_fragment_asks_no_more_once_it_has_ended(app: Flask, browser: PageClient, site_id: int) -> None:
    fragment(browser, "POST")
    end(app, site_id, state="done", added=2)
    text = fragment(browser, "GET")
    assert "2 new suggestions" in text and "Show" in text and "every 1s" not in text


def test_a_source_that_failed_is_shown_in_words(app: Flask, browser: PageClient, site_id: int) -> None:
    fragment(browser, "POST")
    end(app, site_id, state="failed", added=1, error="The AI endpoint gave no answer (APIConnectionError).")
    text = fragment(browser, "GET")
    assert "gave no answer" in text and "1 came from the shop’s own words" in text


def test_nothing_new_says_what_was_looked_at(app: Flask, browser: PageClient, site_id: int) -> None:
    fragment(browser, "POST")
    end(app, site_id, state="done", added=0, compared=70)
    text = fragment(browser, "GET")
    assert "70 searches that found nothing were compared with your catalogue; none resembles a word of it" in text
    assert "the administrator can set one up" in text
    end(app, site_id, compared=0)
    assert "No search of the last 30 days still finds nothing" in fragment(browser, "GET")


def test_without_javascript_the_page_comes_again(browser: PageClient) -> None:
    answer = browser.post(PATH, {})
    assert answer.headers["Location"].endswith("/admin/search/synonyms")
    assert "Looking…" in browser.client.get("/admin/search/synonyms", base_url=browser.base).text


def test_before_the_first_time_nothing_is_told(app: Flask, browser: PageClient, site_id: int) -> None:
    with app.app_context():
        assert synonym_suggestions.latest_run(clock(), site_id) is None
    assert "Look for suggestions" in fragment(browser, "GET")
