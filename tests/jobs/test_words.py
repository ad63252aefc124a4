"""What was saved of synonyms and rules is served although the process that saved it died, or could not publish."""

from __future__ import annotations

import pytest
from sqlalchemy import event, text

from app.domain.relevance.models import LearnedWord
from app.domain.search.events import ConfigurationSaved
from app.domain.search.serving import configuration
from app.events import PENDING
from app.extensions import db
from app.jobs import words
from app.jobs.scheduler import Scheduler
from app.transaction import transaction
from tests.factories import WHEN, make_synonym
from tests.searching import add_site

pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def site_id() -> int:
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


def test_the_scheduler_publishes_what_was_forgotten_at_its_next_look(site_id: int):
    Scheduler(lambda _name, _work: True).look()
    assert configuration.unpublished_sites() == []
    assert len(configuration.served(site_id).synonyms.groups) == 1


def test_publishing_that_fails_leaves_the_save_as_it_is_and_is_made_up_for(site_id: int):
    def refuse(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE served_words"):
            raise OSError("the disk is full")

    event.listen(db.engine, "before_cursor_execute", refuse)
    words.publish(ConfigurationSaved(site_id))
    event.remove(db.engine, "before_cursor_execute", refuse)
    assert configuration.unpublished_sites() == [site_id]
    assert words.publish(ConfigurationSaved(site_id))
    assert configuration.unpublished_sites() == []


def test_words_of_a_site_that_is_gone_are_nothing_to_publish(site_id: int):
    with transaction():
        db.session.execute(text("delete from sites where id = :id"), {"id": site_id})
    assert words.publish(ConfigurationSaved(site_id))


def test_what_another_release_stored_and_this_one_cannot_read_fails_no_save(site_id: int):
    with transaction():
        db.session.add(LearnedWord(site_id=site_id, word="tent", learned={"products": [[7]]}, opens=1, learned_at=WHEN))
    with transaction():
        configuration.raise_version(site_id)
    assert configuration.unpublished_sites() == [site_id]
    Scheduler(lambda _name, _work: True).look()
    assert not words.publish(ConfigurationSaved(site_id))
