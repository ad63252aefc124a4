"""A shop in which people search in vain, and the suggestions that it gets."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from flask import Flask
from sqlalchemy import select

from app.domain.relevance import synonym_suggestions
from app.domain.relevance.models import SuggestionRun, Synonym
from app.domain.relevance.synonym_mining import MinedSuggestions
from app.domain.search.engine import SearchContext
from app.domain.search.index.rebuild import rebuild
from app.domain.search_statistics.models import SearchWordDay
from app.domain.shared.author import Author
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.searching import request
from tests.snapshots import built

MINED = (MinedSuggestions(),)


def shop_of_kettles(app: Flask, indexing: SearchContext) -> int:
    def build() -> int:
        with transaction():
            site = make_site()
            for number in range(3):
                make_product(site, name=f"Kettle {number}", manufacturer="HP")
            site_id = site.id
        assert rebuild(indexing, request(indexing, site_id))
        return site_id

    return built(app, build, __name__)


def searched_in_vain(site_id: int, clock: StoppedClock, word: str, times: int, days_ago: int = 1) -> None:
    day = clock.now().date() - timedelta(days=days_ago)
    with transaction():
        db.session.add(_day(site_id, day, word, times))


def _day(site_id: int, day: date, word: str, times: int) -> SearchWordDay:
    return SearchWordDay(
        site_id=site_id,
        day=day,
        word=word,
        searches=times,
        found_nothing=times,
        last_result_count=0,
    )


def request_suggestions(indexing: SearchContext, site_id: int, *sources: Any) -> SuggestionRun:
    with transaction():
        synonym_suggestions.request_run(Author(site_id, "Mia Moss", indexing.clock))
    synonym_suggestions.run_suggestions(indexing, sources or MINED, site_id)
    return db.session.get(SuggestionRun, site_id, populate_existing=True)


def suggestions(site_id: int) -> list[Synonym]:
    return list(db.session.scalars(select(Synonym).where(Synonym.site_id == site_id).order_by(Synonym.id)))
