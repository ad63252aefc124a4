"""A large import of one site holds up no other jobs and saves; saved synonyms and rules are published after all."""

from __future__ import annotations

import pytest
from sqlalchemy import event, text

from app.domain.relevance.models import LearnedWord
from app.domain.search.engine import SearchContext
from app.domain.search.events import ConfigurationSaved
from app.domain.search.index import outbox
from app.domain.search.index.outbox import TURN
from app.domain.search.index.rebuild import rebuild
from app.domain.search.models import OutboxEntry
from app.domain.search.serving import configuration
from app.domain.sites.models import Site
from app.events import PENDING
from app.extensions import db
from app.jobs import search
from app.jobs import search as jobs
from app.jobs.scheduler import LOOKS_BEFORE_HELP, Scheduler
from app.jobs.search import SnapshotWatch
from app.transaction import transaction
from tests.factories import WHEN, make_rule, make_synonym
from tests.fakes.clock import StoppedClock
from tests.fakes.queue import RecordingQueue
from tests.searching import add_product, add_site, request

pytestmark = pytest.mark.usefixtures("context")


class BusyClock(StoppedClock):
    """The clock of a machine on which each batch lasts as long as a turn."""

    def monotonic(self) -> float:
        self._passed += TURN
        return self._passed


@pytest.fixture
def clock() -> BusyClock:
    return BusyClock()


@pytest.fixture
def site_id(indexing: SearchContext, queue: RecordingQueue) -> int:
    """A site for which three batches wait."""
    with transaction():
        site_id = add_site().id
        add_product(site_id, "tent")
    rebuild(indexing, request(indexing, site_id))
    with transaction():
        db.session.add_all(
            OutboxEntry(site_id=site_id, kind="product", record_id=100_000 + number, attempts=0)
            for number in range(3 * outbox.AT_ONCE)
        )
    queue.jobs.clear()
    return site_id


def test_what_a_turn_leaves_is_queued_behind_what_waits_there(queue: RecordingQueue, site_id: int) -> None:
    assert not jobs.apply_outbox(site_id)
    assert queue.jobs == [("search:apply_outbox", (site_id,))]
    assert outbox.count(site_id) == (2 * outbox.AT_ONCE, 0)


def test_without_a_queue_the_scheduler_goes_on_at_each_look(queue: RecordingQueue, site_id: int) -> None:
    queue.down = True
    scheduler = Scheduler(lambda _name, _work: False)
    for _ in range(LOOKS_BEFORE_HELP + 3):
        scheduler.look()
    assert outbox.count(site_id) == (0, 0)


@pytest.fixture
def forgetful_site() -> int:
    """A shop whose synonym was saved by a process that died right after the commit."""
    with transaction():
        site = add_site()
        synonym = make_synonym(site, "sofa", "couch")
        synonym.words_version = configuration.raise_version(site.id)
        db.session.flush()
        db.session.info[PENDING].clear()
        site_id = site.id
    assert configuration.unpublished_sites() == [site_id]
    return site_id


def test_the_scheduler_publishes_what_was_forgotten_at_its_next_look(forgetful_site: int):
    Scheduler(lambda _name, _work: True).look()
    assert configuration.unpublished_sites() == []
    assert len(configuration.served(forgetful_site).synonyms.groups) == 1


def test_publishing_that_fails_leaves_the_save_as_it_is_and_is_made_up_for(forgetful_site: int):
    def refuse(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE served_words"):
            raise OSError("the disk is full")

    event.listen(db.engine, "before_cursor_execute", refuse)
    search.publish_words(ConfigurationSaved(forgetful_site))
    event.remove(db.engine, "before_cursor_execute", refuse)
    assert configuration.unpublished_sites() == [forgetful_site]
    assert search.publish_words(ConfigurationSaved(forgetful_site))
    assert configuration.unpublished_sites() == []


def test_words_of_a_site_that_is_gone_are_nothing_to_publish(forgetful_site: int):
    with transaction():
        db.session.execute(text("delete from sites where id = :id"), {"id": forgetful_site})
    assert search.publish_words(ConfigurationSaved(forgetful_site))


def test_what_another_release_stored_and_this_one_cannot_read_fails_no_save(forgetful_site: int):
    with transaction():
        db.session.add(
            LearnedWord(site_id=forgetful_site, word="tent", learned={"products": [[7]]}, opens=1, learned_at=WHEN)
        )
    with transaction():
        configuration.raise_version(forgetful_site)
    assert configuration.unpublished_sites() == [forgetful_site]
    Scheduler(lambda _name, _work: True).look()
    assert not search.publish_words(ConfigurationSaved(forgetful_site))


def published_by_an_older_release(site_id: int) -> None:
    """As if an older release had published the rules: it knows none of what makes them match more than their term."""
    with transaction():
        state = configuration.serving_state(site_id)
        assert state is not None
        state.rules = [{"id": rule["id"], "term": rule["term"], "boosts": rule["boosts"]} for rule in state.rules]
        state.saved_version = state.live_version = state.live_version + 1


def test_rules_by_condition_that_an_older_release_published_are_published_anew_once(site_id: int) -> None:
    with transaction():
        version = configuration.raise_version(site_id)
        for match in ("exact", "contains"):
            make_rule(
                db.session.get_one(Site, site_id),
                "tent",
                match=match,
                boosts=["T-1"],
                redirect_url=None,
                words_version=version,
            )
    watch, published = SnapshotWatch(), configuration.read_snapshot(site_id)
    watch.look()
    assert configuration.read_snapshot(site_id) == published, "it is whole"
    for _ in range(2):
        published_by_an_older_release(site_id)
        older = configuration.read_snapshot(site_id)
        assert older.rules != published.rules
        for _ in range(3):
            watch.look()
        anew = configuration.read_snapshot(site_id)
        assert (anew.version, anew.rules) == (older.version + 1, published.rules)


def test_rules_for_exact_searches_that_an_older_release_published_are_left(site_id: int) -> None:
    with transaction():
        version = configuration.raise_version(site_id)
        rule = {"boosts": ["T-1"], "redirect_url": None, "words_version": version}
        make_rule(db.session.get_one(Site, site_id), "tent", **rule)
    published_by_an_older_release(site_id)
    older = configuration.read_snapshot(site_id)
    SnapshotWatch().look()
    assert configuration.read_snapshot(site_id) == older
