"""Synonyms written, told to publishing and to the activity log, and put back."""

from __future__ import annotations

import threading

import pytest
from flask import Flask
from sqlalchemy import select

from app.domain.relevance import publishing, synonym_suggestions, synonyms
from app.domain.relevance.models import Synonym
from app.domain.relevance.synonym_definition import StatusFilter, SynonymList
from app.domain.relevance.synonym_mining import Candidate
from app.domain.relevance.synonyms import revert_synonym
from app.domain.search.serving import configuration
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, NotFound, StaleRevision
from app.domain.sites.models import AuditEntry, Site
from app.extensions import db
from app.transaction import transaction
from tests.factories import make_site, make_synonym
from tests.fakes.clock import StoppedClock

pytestmark = pytest.mark.usefixtures("context")
MIA = "Mia Moss"


def both(*words: str) -> SynonymGroup:
    return SynonymGroup(SynonymType.EQUIVALENT, None, words)


def one_way(root: str, *words: str) -> SynonymGroup:
    return SynonymGroup(SynonymType.ONE_WAY, root, words)


def candidate(root: str, *words: str, **evidence: object) -> Candidate:
    return Candidate(SynonymType.ONE_WAY, root, words, evidence)


@pytest.fixture
def site_id(context: None) -> int:
    with transaction():
        return make_site().id


def served_words(site_id: int, words: str) -> list[tuple[str, ...]]:
    return [one.others for one in configuration.served(site_id).synonyms.expand(words).applied]


def entries() -> list[tuple[str, object, object]]:
    rows = db.session.scalars(select(AuditEntry).order_by(AuditEntry.id))
    return [(row.action, row.before, row.after) for row in rows]


def test_a_synonym_lives_from_being_added_to_being_deleted(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        made = synonyms.add(Author(site_id, MIA, clock), both("mobile", "cell phone")).id
    assert served_words(site_id, "cell phones") == [("mobile",)]
    with transaction():
        assert synonyms.change(Author(site_id, MIA, clock), made, 1, one_way("handy", "mobile"))
    assert (served_words(site_id, "handy"), served_words(site_id, "mobile")) == ([("mobile",)], [])
    with transaction():
        assert not synonyms.change(Author(site_id, MIA, clock), made, 2, one_way(" handy ", "mobile"))
        assert synonyms.delete(Author(site_id, MIA, clock), made, 2) == "handy → mobile"
    assert served_words(site_id, "handy") == []
    first, second, third = entries()
    assert (first[0], first[1], first[2]["synonyms"]) == ("synonym.add", None, ["mobile", "cell phone"])
    assert (second[0], second[1], second[2]["root"]) == ("synonym.change", first[2], "handy")
    assert (third[0], third[1], third[2]) == ("synonym.delete", second[2], None)


def test_what_is_saved_and_not_published_is_told(clock: StoppedClock, site_id: int) -> None:
    """No transaction of the application, so nothing publishes after the commit."""
    synonym = synonyms.add(Author(site_id, MIA, clock), both("mobile", "phone"))
    state = configuration.serving_state(site_id)
    assert not synonym.as_json(state)["synced"]
    page = synonyms.synonym_page(site_id, SynonymList(waiting=True))
    assert (page.waits, [one.id for one in page.found.items]) == (True, [synonym.id])
    publishing.publish(clock, site_id)
    db.session.flush()
    page = synonyms.synonym_page(site_id, SynonymList(waiting=True))
    assert (page.waits, page.found.total_items) == (False, 0)
    assert synonym.as_json(page.state)["synced"]
    db.session.rollback()


def test_a_stale_save_and_another_sites_synonym_write_nothing(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        made = synonyms.add(Author(site_id, MIA, clock), both("mobile", "phone")).id
        theirs = make_synonym(make_site("other.test")).id
    with pytest.raises(StaleRevision), transaction():
        synonyms.change(Author(site_id, MIA, clock), made, 0, both("a", "b"))
    for act in (synonyms.delete, synonyms.reject, synonyms.accept):
        with pytest.raises(NotFound), transaction():
            act(Author(site_id, MIA, clock), theirs, 1)
    assert len(entries()) == 1


def test_a_shop_has_a_thousand_synonyms(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        site = make_site("full.test")
        for number in range(1_000):
            make_synonym(site, f"left{number}", f"right{number}")
        full = site.id
    with pytest.raises(Invalid) as caught, transaction():
        synonyms.add(Author(full, MIA, clock), both("one", "more"))
    assert caught.value.problems[0].code == "too_many_synonyms"


def test_a_rejected_suggestion_never_comes_back(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        assert synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop")] * 2, "MINED") == 1
    synonym = db.session.scalars(select(Synonym)).one()
    with transaction():
        synonyms.reject(Author(site_id, MIA, clock), synonym.id, 1)
    with transaction():
        assert synonym_suggestions.store_suggestions(clock, site_id, [candidate("Labtops", "laptops")], "AI") == 0
    assert [one.status for one in db.session.scalars(select(Synonym))] == ["REJECTED"]
    assert served_words(site_id, "labtop") == []


def test_a_suggestion_that_was_edited_and_deleted_never_comes_back(clock: StoppedClock, site_id: int) -> None:
    thought = Candidate(SynonymType.EQUIVALENT, None, ("blorf", "monitor"))
    with transaction():
        synonym_suggestions.store_suggestions(clock, site_id, [thought], "MINED")
    synonym = db.session.scalars(select(Synonym)).one()
    with transaction():
        synonyms.accept(Author(site_id, MIA, clock), synonym.id, 1, both("blorf", "laptop"))
    with transaction():
        assert synonym_suggestions.store_suggestions(clock, site_id, [thought], "AI") == 0
        synonyms.change(Author(site_id, MIA, clock), synonym.id, 2, both("blorf", "screen"))
    with transaction():
        synonyms.delete(Author(site_id, MIA, clock), synonym.id, 3)
    with transaction():
        assert synonym_suggestions.store_suggestions(clock, site_id, [thought], "MINED") == 0
    assert [one.status for one in db.session.scalars(select(Synonym))] == ["REJECTED"]


@pytest.mark.parametrize("again", (one_way("blorf", "monitor"), one_way("Monitors", "blorf"), both("monitor", "blorf")))
def test_rejected_words_never_come_back_whichever_finds_which(
    clock: StoppedClock, site_id: int, again: SynonymGroup
) -> None:
    with transaction():
        synonym_suggestions.store_suggestions(
            clock, site_id, [Candidate(SynonymType.EQUIVALENT, None, ("blorf", "monitor"))], "MINED"
        )
    with transaction():
        synonyms.reject(Author(site_id, MIA, clock), db.session.scalars(select(Synonym.id)).one(), 1)
    with transaction():
        assert (
            synonym_suggestions.store_suggestions(
                clock, site_id, [Candidate(again.type, again.root, again.words)], "AI"
            )
            == 0
        )


def test_a_rejected_suggestion_whose_place_was_taken_and_given_back_never_comes_back(
    clock: StoppedClock, site_id: int
) -> None:
    with transaction():
        synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop")], "MINED")
        synonyms.reject(Author(site_id, MIA, clock), db.session.scalars(select(Synonym.id)).one(), 1)
        made = synonyms.add(Author(site_id, MIA, clock), one_way("lapotp", "laptop")).id
    with transaction():
        synonyms.change(Author(site_id, MIA, clock), made, 1, one_way("labtop", "laptop"))
    for _, before, _ in reversed(entries()[1:]):
        with transaction():
            revert_synonym(Author(site_id, MIA, clock), made, before)
    assert served_words(site_id, "lapotp") == served_words(site_id, "labtop") == []
    with transaction():
        assert synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop")], "MINED") == 0


@pytest.mark.parametrize("since", ("LIVE", "SUGGESTED", "REJECTED"))
def test_a_suggestion_comes_back_only_where_its_words_are_free(clock: StoppedClock, site_id: int, since: str) -> None:
    with transaction():
        synonym_suggestions.store_suggestions(clock, site_id, [candidate("blorf", "monitor")], "MINED")
    first = db.session.scalars(select(Synonym.id)).one()
    with transaction():
        synonyms.accept(Author(site_id, "Ann Ash", clock), first, 1, one_way("zonk", "laptop"))
        make_synonym(db.session.get_one(Site, site_id), "monitor", root="blorf", status=since)
    with pytest.raises(Conflict, match="blorf → monitor"), transaction():
        revert_synonym(Author(site_id, MIA, clock), first, entries()[0][1])
    assert [(one.root, one.status) for one in db.session.scalars(select(Synonym).order_by(Synonym.id))] == [
        ("zonk", "LIVE"),
        ("blorf", since),
    ]


def test_suggestions_beside_which_live_synonyms_cannot_stand_are_left_out(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        synonyms.add(Author(site_id, MIA, clock), one_way("labtop", "laptop"))
        both_ways = Candidate(SynonymType.EQUIVALENT, None, ("only one",))
        assert (
            synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "desk"), both_ways], "AI") == 0
        )


def test_a_suggestion_is_accepted_as_it_was_edited(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop", searches=4)], "MINED")
    synonym = db.session.scalars(select(Synonym)).one()
    with transaction():
        synonyms.accept(Author(site_id, MIA, clock), synonym.id, 1, one_way("labtop", "laptop", "notebook"))
    assert served_words(site_id, "labtop") == [("laptop", "notebook")]
    assert (synonym.status, synonym.source, synonym.revision) == ("LIVE", "MINED", 2)
    with pytest.raises(Conflict), transaction():
        synonyms.accept(Author(site_id, MIA, clock), synonym.id, 2)


def test_a_deleted_synonym_that_was_suggested_once_is_not_suggested_again(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop")], "MINED")
    synonym = db.session.scalars(select(Synonym)).one()
    with transaction():
        synonyms.accept(Author(site_id, MIA, clock), synonym.id, 1)
    with transaction():
        synonyms.delete(Author(site_id, MIA, clock), synonym.id, 2)
    assert (synonym.status, served_words(site_id, "labtop")) == ("REJECTED", [])
    with transaction():
        assert synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop")], "MINED") == 0
        again = synonyms.add(Author(site_id, MIA, clock), one_way("labtop", "laptop"))
        assert (again.id, again.status, again.source) == (synonym.id, "LIVE", "MINED")


def test_a_synonym_changed_into_a_rejected_one_takes_its_place(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        synonym_suggestions.store_suggestions(clock, site_id, [candidate("labtop", "laptop")], "MINED")
        made = synonyms.add(Author(site_id, MIA, clock), one_way("lapotp", "laptop")).id
    with transaction():
        assert synonyms.change(Author(site_id, MIA, clock), made, 1, one_way("labtop", "laptop"))
    assert [(one.id, one.source) for one in db.session.scalars(select(Synonym))] == [(made, "MINED")]


def test_a_synonym_of_other_words_is_live_since_then(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        synonym, began = synonyms.add(Author(site_id, MIA, clock), both("mobile", "phone")), clock.now()
    clock.move(hours=1)
    with transaction():
        synonyms.change(Author(site_id, MIA, clock), synonym.id, 1, both("mobile", "phone"))
    assert synonym.live_since == began
    with transaction():
        synonyms.change(Author(site_id, MIA, clock), synonym.id, synonym.revision, both("mobile", "handset"))
    assert synonym.live_since == clock.now()


def test_every_change_can_be_put_back_from_what_the_log_keeps(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        made = synonyms.add(Author(site_id, MIA, clock), both("mobile", "phone")).id
    with transaction():
        synonyms.change(Author(site_id, MIA, clock), made, 1, both("mobile", "handset"))
    with transaction():
        synonyms.delete(Author(site_id, MIA, clock), made, 2)
    for action, before, after in reversed(entries()):
        now = db.session.get(Synonym, made, populate_existing=True)
        assert (now.record if now else None) == after, f"undoing {action}"
        with transaction():
            revert_synonym(Author(site_id, MIA, clock), made, before)
    assert db.session.scalars(select(Synonym)).all() == []
    assert [entry[0] for entry in entries()][3:] == ["synonym.undo"] * 3


def test_what_is_put_back_must_find_its_words_free(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        made = synonyms.add(Author(site_id, MIA, clock), both("mobile", "phone")).id
        synonyms.delete(Author(site_id, MIA, clock), made, 1)
        synonyms.add(Author(site_id, MIA, clock), both("phone", "blower"))
    before = entries()[1][1]
    with pytest.raises(Invalid, match="in another synonym already"), transaction():
        revert_synonym(Author(site_id, MIA, clock), made + 50, before)


def test_the_list_is_filtered_as_search_folds_words(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        for words in (("Café", "coffee shop"), ("mobile", "phone"), ("tv", "television")):
            synonyms.add(Author(site_id, MIA, clock), both(*words))
            clock.move(seconds=5)
        synonym_suggestions.store_suggestions(
            clock, site_id, [candidate("a", "b", searches=2), candidate("c", "d", searches=9)], "AI"
        )

    def words(**request: object) -> list[str]:
        found = synonyms.find_synonyms(site_id, SynonymList(**request), None)  # type: ignore[arg-type]
        return [synonym.words[0] for synonym in found.items]

    assert words(words="cafe") == ["Café"]
    assert words() == ["tv", "mobile", "Café"]
    assert words(page=2, page_size=2) == ["Café"]
    assert words(status=StatusFilter.SUGGESTED) == ["d", "b"]
    assert words(type=SynonymType.ONE_WAY) == []
    page = synonyms.synonym_page(site_id, SynonymList())
    assert [one.root for one in page.suggestions] == ["c", "a"]
    assert page.counts == {"LIVE": 3, "SUGGESTED": 2, "REJECTED": 0}


@pytest.mark.concurrent
def test_of_many_who_take_a_word_at_once_one_gets_it(app: Flask, clock: StoppedClock, site_id: int) -> None:
    start, outcomes = threading.Barrier(8), []

    def add(number: int) -> None:
        with app.app_context():
            start.wait()
            try:
                with transaction():
                    synonyms.add(Author(site_id, MIA, clock), both("phone", f"word{number}"))
                outcomes.append("added")
            except Invalid as invalid:
                outcomes.append(invalid.problems[0].code)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["added"] + ["word_taken"] * 7
    assert len(synonyms.live_groups(site_id)) == len(configuration.served(site_id).synonyms.groups) == 1
