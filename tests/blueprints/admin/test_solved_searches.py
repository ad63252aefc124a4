"""A search that found nothing is shown as solved once it finds something, wherever such searches are listed."""

from __future__ import annotations

import pytest
from flask import Flask

from app.domain.search.engine import SearchContext
from app.domain.search_statistics.counting.queries import site_today
from app.domain.sites.accounts import Role
from app.domain.sites.models import Site
from app.extensions import db
from app.transaction import transaction
from tests import counted_searches
from tests.blueprints.admin.catalogue_client import Merchandiser
from tests.domain.relevance.trials.preview_shop import save_rule, save_synonym, shop
from tests.factories import make_user
from tests.page_client import PageClient

NEVER_SOLVED = "zzzz"


@pytest.fixture
def mia(app: Flask, indexing: SearchContext) -> Merchandiser:
    with app.app_context():
        site_id = shop(indexing, "localhost")
        with transaction():
            make_user(db.session.get_one(Site, site_id), Role.MERCHANDISER, email="mia@shop.test")
            today = site_today(indexing.clock, site_id)
            for word in ("beaker", "opening hours", NEVER_SOLVED):
                counted_searches.count(site_id, today, today, word, 0, searches=3, found_nothing=3)
    return Merchandiser(PageClient(app).signed_in("mia@shop.test"), site_id)


def _text(mia: Merchandiser, path: str) -> str:
    """The page; of the Overview, which lists the top searches as well, the searches that found nothing."""
    text = " ".join(mia.pages.client.get(path, base_url=mia.pages.base).text.split())
    return text.partition('id="found-nothing"')[2] or text


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("/admin/search", (), ("1 search still finds nothing; 2 are solved",)),
        ("/admin/search/terms", ("3 searches in 30 days",), ("1 search in 30 days", ">Solved<")),
        ("/admin/search/analytics/found-nothing", (), ('title="Solved: goes to /pages/hours"',)),
    ],
)
def test_what_was_solved_is_shown_as_solved_and_the_number_shrinks(
    app: Flask, indexing: SearchContext, mia: Merchandiser, path: str, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    unsolved = _text(mia, path)
    assert "Solved" not in unsolved and unsolved.count("terms?term=") == 3
    assert all(words in unsolved for words in before)
    with app.app_context():
        save_synonym(indexing, mia.site_id, "beaker", "mug")
        save_rule(indexing, mia.site_id, term="opening hours", redirect_url="/pages/hours")
    solved = _text(mia, path)
    assert all(words in solved for words in after)
    # What it finds now may be the wrong thing, so each is still offered what helps.
    assert solved.count("terms?term=") == 3
    assert path == "/admin/search/terms" or solved.count("synonyms?word=") == 3
    if path != "/admin/search/analytics/found-nothing":
        assert "Solved: finds 2 now" in solved and "Solved: goes to /pages/hours" in solved
