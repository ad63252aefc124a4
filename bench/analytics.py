"""Search analytics of a busy shop: 90 days of 5,000 different words a day.

Pages go through the whole application, without a network and a browser. BENCH_DATABASE_URL names an empty database to
measure on instead of SQLite.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, insert, select, text

from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.aggregation import SUMMED, WordChange
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.models import SearchDay, SearchWordDay
from app.domain.sites.accounts import Role
from app.extensions import db
from app.operations.loading import loading_for_good
from app.ports import clock
from app.transaction import transaction
from bench.measuring import Yardstick, at_most, heading, milliseconds, percentile, run, seconds, sized, workspace
from bench.shop import empty_shop, settings
from bench.yardsticks import plain_statement
from tests.factories import make_site, make_user
from tests.page_client import PageClient

DAYS, WORDS_A_DAY, WORDS = 90, sized(5_000), sized(20_000)
BASE = "/admin/search/analytics"
PAGES = (
    *((f"analytics, {days} days", f"{BASE}?days={days}") for days in (7, 30, 90)),
    *(
        (f"{name}, 90 days", f"{BASE}/{name}?days=90")
        for name in ("top", "found-nothing", "rarely-clicked", "leads-to")
    ),
    ("top searches filtered", f"{BASE}/top?days=90&q=77"),
    (f"top searches, page {WORDS // 100}", f"{BASE}/top?days=90&p={WORDS // 100}"),
    ("search overview", "/admin/search"),
    ("dashboard, 90 days", "/admin/?days=90"),
)
PAGE, EXPORT, RENEW = 1, 6, 10  # Of one statement that sums all days up by word.
COUNT = 20  # Of as many rows inserted plainly.
ROUNDS = 5


def main() -> None:
    heading(f"Search analytics: {DAYS} days of {WORDS_A_DAY:,} words a day, {WORDS:,} different words")
    with workspace() as directory:
        app = _app(directory)
        with app.app_context():
            site_id = _shop()
            today = site_today(clock(), site_id)
            count_days(site_id, today)
            renewed = seconds(lambda: _renew(site_id, today))
        with loading_for_good():
            client = PageClient(app).signed_in("merchandiser@bench.test").client
        with app.app_context():
            plain = plain_statement("summing all days up by word", _sum_up)
        _pages(client, replace(plain, value=1000 * plain.value, unit="ms"))
        at_most("summing up anew after midnight", renewed, RENEW * plain)
        at_most("a list of every word as CSV", seconds(lambda: _get(client, f"{BASE}/top.csv?days=90")), EXPORT * plain)
        with app.app_context():
            _counting(site_id, today)


def _app(directory: Path) -> Flask:
    database = os.environ.get("BENCH_DATABASE_URL")
    return empty_shop(settings(directory) | ({"DATABASE_URL": database} if database else {}))


def _shop() -> int:
    with transaction():
        site = make_site()
        make_user(site, Role.MERCHANDISER, email="merchandiser@bench.test")
        return site.id


def count_days(site_id: int, today: date) -> None:
    """A few words make up most of the searches, as everywhere; a tenth of the words find nothing."""
    chance = random.Random(7)
    words = [f"words of search {number}" for number in range(WORDS)]
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    for ago in range(2 * DAYS):
        day = today - timedelta(days=ago)
        chosen = dict.fromkeys(chance.choices(words, weights, k=3 * WORDS_A_DAY))
        rows = [_row(chance, site_id, day, word) for word in list(chosen)[:WORDS_A_DAY]]
        rows += [_row(chance, site_id, day, word) for word in words[-(WORDS_A_DAY - len(rows)) :] if word not in chosen]
        rows = rows[:WORDS_A_DAY]
        total = {name: sum(row[name] for row in rows) for name in SUMMED}
        with transaction():
            if ago < DAYS:
                db.session.execute(insert(SearchWordDay), rows)
            db.session.execute(insert(SearchDay), [{"site_id": site_id, "day": day, "words": len(rows), **total}])


def _row(chance: random.Random, site_id: int, day: date, word: str) -> dict[str, object]:
    searches = 1 + int(chance.expovariate(0.3))
    finds = 0 if word.endswith("3") else chance.randrange(1, 400)
    clicked = sum(chance.random() < 0.3 for _ in range(searches)) if finds else 0
    return {
        "site_id": site_id,
        "day": day,
        "word": word,
        "last_result_count": finds,
        "searches": searches,
        "found_nothing": 0 if finds else searches,
        "followed": searches,
        "clicked": clicked,
        "added_to_basket": clicked // 2,
        "ordered": clicked // 4,
        "revenue": clicked // 4 * 1_999,
        "ruled": 0,
    }


def _renew(site_id: int, today: date) -> None:
    with transaction():
        rolling_sums.advance(site_id, today)
    if db.engine.dialect.name == "postgresql":  # What autovacuum does within a minute of so many changes.
        db.session.execute(text("analyze"))
        db.session.commit()


def _pages(client: FlaskClient, plain: Yardstick) -> None:
    """`plain`: one statement that sums all days up by word, which a page must not do."""
    for name, path in PAGES:
        _get(client, path)
        slowest = percentile(milliseconds(lambda path: _get(client, path), [path] * ROUNDS), 0.95)
        at_most(f"{name}, slowest of {ROUNDS}", slowest, PAGE * plain)


def _get(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200 and answer.data, path


def _counting(site_id: int, today: date) -> None:
    """What keeping the sums costs the worker for a batch of 1,000 searches."""
    changes = [WordChange(today, f"words of search {number}", 3, searches=1) for number in range(1_000)]

    def include() -> None:
        with transaction():
            rolling_sums.add(site_id, today, changes)

    include()
    inserts = plain_statement("1,000 plain rows", _insert_plainly)
    at_most("1,000 words added to the sums", seconds(include), COUNT * inserts)


def _sum_up() -> None:
    db.session.execute(select(SearchWordDay.word, func.sum(SearchWordDay.searches)).group_by(SearchWordDay.word)).all()


def _insert_plainly() -> None:
    db.session.execute(text("create table bench_words (word varchar(200) primary key, searches integer)"))
    rows = [{"word": f"word {number}", "searches": 1} for number in range(1_000)]
    db.session.execute(text("insert into bench_words values (:word, :searches)"), rows)


if __name__ == "__main__":
    run(main)
