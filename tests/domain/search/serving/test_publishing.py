"""Saved synonyms and rules become what is served."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event, select

from app.domain.relevance import publishing
from app.domain.relevance.models import SearchRule, Synonym
from app.domain.search.events import ConfigurationSaved
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving import configuration
from app.domain.search.serving.configuration import ServingCache
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.rules import Banner, PinnedSku, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.sites.models import Setting
from app.events import PENDING
from app.extensions import db
from app.transaction import transaction
from tests.fakes.clock import StoppedClock
from tests.searching import add_site

pytestmark = pytest.mark.usefixtures("context")

UNTAUGHT = Served(
    by_meaning=True, understanding=UnderstandingMode.SUGGESTED
)  # What the settings say until somebody changes them.


@pytest.fixture
def site_id() -> int:
    with transaction():
        return add_site().id


def synonym(clock: StoppedClock, site_id: int, *words: str, status: str = "LIVE") -> Synonym:
    """Saved as a page saves it, within the caller's transaction."""
    made = Synonym(
        site_id=site_id,
        type="EQUIVALENT",
        words=list(words),
        status=status,
        fingerprint="|".join(words),
        words_version=configuration.raise_version(site_id),
        created_at=clock.now(),
        updated_at=clock.now(),
        updated_by="tests",
    )
    db.session.add(made)
    db.session.flush()
    return made


def rule(clock: StoppedClock, site_id: int, term: str, **more: Any) -> SearchRule:
    made = SearchRule(
        site_id=site_id,
        term=term,
        normalized_term=term,
        words_version=configuration.raise_version(site_id),
        created_at=clock.now(),
        updated_at=clock.now(),
        updated_by="tests",
        **more,
    )
    db.session.add(made)
    return made


def quietly_saved() -> None:
    """As if the process died right after the commit: nothing that follows it happens."""
    db.session.info[PENDING].clear()


def test_what_is_saved_is_served_at_once_by_the_process_that_saved_it(clock: StoppedClock, site_id: int):
    with transaction():
        synonym(clock, site_id, "sofa", "couch")
        synonym(clock, site_id, "lamp", "light", status="SUGGESTED")
        rule(
            clock,
            site_id,
            "tent",
            pins=[{"sku": "T-1", "position": 2}],
            buries=["T-9"],
            banner_text="Free pegs",
            banner_link_url="/c/pegs",
            starts_at=clock.now() - timedelta(days=1),
        )
    served = configuration.served(site_id)
    assert [group.words for group in served.synonyms.groups] == [("sofa", "couch")]
    planned = plan("tent", served, clock.now())
    assert planned.rule is not None
    assert (planned.rule.pins, planned.rule.buries) == ((PinnedSku("T-1", 2),), ("T-9",))
    assert planned.banner == Banner("Free pegs", "/c/pegs")
    assert plan("tent", served, clock.now() - timedelta(days=2)).rule is None


def test_a_row_is_live_once_its_version_is_served(clock: StoppedClock, site_id: int):
    with transaction():
        first = synonym(clock, site_id, "sofa", "couch")
    assert configuration.is_live(first, configuration.serving_state(site_id))
    assert first.live_since == clock.now()
    with transaction():
        second = synonym(clock, site_id, "lamp", "light")
        quietly_saved()
    state = configuration.serving_state(site_id)
    assert (configuration.is_live(first, state), configuration.is_live(second, state)) == (True, False)
    assert second.live_since is None
    assert configuration.unpublished_sites() == [site_id]


def test_publishing_catches_up_and_keeps_since_when_rows_are_live(clock: StoppedClock, site_id: int):
    with transaction():
        first = synonym(clock, site_id, "sofa", "couch")
    began = clock.now()
    clock.move(hours=1)
    with transaction():
        second = synonym(clock, site_id, "lamp", "light")
        quietly_saved()
    with transaction():
        assert publishing.publish(clock, site_id) == 2
    with transaction():
        assert publishing.publish(clock, site_id) == 2
    assert (first.live_since, second.live_since) == (began, clock.now())
    assert configuration.unpublished_sites() == []


def test_a_deletion_is_served_too(clock: StoppedClock, site_id: int):
    with transaction():
        synonym(clock, site_id, "sofa", "couch")
    with transaction():
        db.session.delete(db.session.scalars(select(Synonym)).one())
        configuration.raise_version(site_id)
    assert configuration.served(site_id).synonyms.groups == ()


def test_what_is_rolled_back_is_never_served(clock: StoppedClock, site_id: int):
    with pytest.raises(RuntimeError), transaction():
        synonym(clock, site_id, "sofa", "couch")
        raise RuntimeError
    assert configuration.served(site_id) == UNTAUGHT
    assert configuration.serving_state(site_id) is None


def test_a_site_without_synonyms_and_rules_serves_none_and_nothing_waits(site_id: int, clock: StoppedClock):
    with transaction():
        assert publishing.publish(clock, site_id) == 0
    assert configuration.served(site_id) == UNTAUGHT


def test_each_change_is_told_once_a_transaction(clock: StoppedClock, site_id: int):
    with transaction():
        synonym(clock, site_id, "sofa", "couch")
        synonym(clock, site_id, "lamp", "light")
        assert set(db.session.info[PENDING]) == {ConfigurationSaved(site_id)}
        assert configuration.raise_version(site_id) == 3


@pytest.mark.concurrent
def test_saves_at_the_same_time_get_versions_of_their_own(app: Flask, clock: StoppedClock, site_id: int):
    def save(number: int) -> int:
        with app.app_context():
            with transaction():
                version = synonym(clock, site_id, f"sofa{number}", f"couch{number}").words_version
            db.session.remove()
        return version

    with ThreadPoolExecutor(6) as pool:
        versions = list(pool.map(save, range(12)))
    assert sorted(versions) == list(range(1, 13))
    db.session.rollback()
    assert len(configuration.served(site_id).synonyms.groups) == 12


def test_sites_serve_their_own(clock: StoppedClock, site_id: int):
    with transaction():
        other = add_site("other.test").id
        synonym(clock, site_id, "sofa", "couch")
    assert configuration.served(other) == UNTAUGHT


def test_stop_words_of_the_settings_are_served(site_id: int):
    with transaction():
        db.session.add(Setting(site_id=site_id, key="search-stop-words", value=["Please"]))
    assert configuration.served(site_id).stop_words == {"please"}


def test_another_process_serves_a_change_within_two_seconds(clock: StoppedClock, site_id: int):
    window = ServingCache()
    assert window.served(clock, site_id) == Served.NOTHING
    with transaction():
        synonym(clock, site_id, "sofa", "couch")
    clock.move(seconds=2)
    assert len(window.served(clock, site_id).synonyms.groups) == 1


def test_a_process_asks_at_most_once_a_second_and_reads_only_what_is_new(clock: StoppedClock, site_id: int):
    with transaction():
        synonym(clock, site_id, "sofa", "couch")
    window = ServingCache()
    window.served(clock, site_id, ["please"])
    requests: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda _c, _u, statement, *_: requests.append(statement))
    for _ in range(5):
        assert window.served(clock, site_id, ["please"]).stop_words == {"please"}
    assert requests == []
    clock.move(seconds=2)
    window.served(clock, site_id, ["please"])
    assert len(requests) == 1


def test_a_snapshot_of_the_version_before_is_still_read(site_id: int):
    """Until November 2026 it named the synonyms “words” and had no note of a rule."""
    group = {"id": 3, "type": "ONE_WAY", "root": "phone", "words": ["mobile"]}
    rule = {
        **{"id": 5, "term": "tent", "pins": [{"sku": "T-1", "position": 2}], "boosts": [], "buries": ["T-9"]},
        **{"redirectUrl": None, "banner": {"text": "Pegs", "linkUrl": None}, "enabled": True, "endsAt": None},
        "startsAt": "2026-11-01T09:00:00+00:00",
    }
    with transaction():
        snapshot_of_before = {"synonyms": [group], "rules": [rule]}
        db.session.add(ServedConfiguration(site_id=site_id, saved_version=1, live_version=1, **snapshot_of_before))
    served = configuration.served(site_id)
    assert served.synonyms.groups == (SynonymGroup(SynonymType.ONE_WAY, "phone", ("mobile",), 3),)
    starts_at = datetime(2026, 11, 1, 9, tzinfo=UTC)
    pins = (PinnedSku("T-1", 2),)
    known = Rule("tent", pins, buries=("T-9",), banner=Banner("Pegs"), starts_at=starts_at, id=5)
    assert served.rules.by_term == {"tent": known}
