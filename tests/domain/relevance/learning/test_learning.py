"""What shoppers open for a search is learned from its counts, published, forgotten and restored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, insert, select

from app.domain.catalogue import products
from app.domain.relevance import learning as forgetting
from app.domain.relevance import publishing
from app.domain.relevance.learned_searches import learned_rows, learning_state
from app.domain.relevance.learning import learn_site, learn_words, store_study, study_counts, teaching_words
from app.domain.relevance.models import ALL_SEARCHES, ForgottenWord, LearnedWord
from app.domain.relevance.proposals import LearningProposal, apply_proposal, as_json, read_proposal
from app.domain.search.engine import LearnedFactors, SearchRequest
from app.domain.search.serving.configuration import served, serving_state
from app.domain.search.serving.plan import Learned, LearningMode, plan
from app.domain.search.serving.query import expand_request
from app.domain.search_statistics.models import SearchProductWeek
from app.domain.shared.author import Author
from app.domain.shared.memory import week_of
from app.domain.shared.problems import NotFound
from app.domain.sites.models import AuditEntry, Site
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs import relevance
from app.transaction import WRITING, transaction
from tests.counted_searches import count_opens
from tests.factories import make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.purging import purged

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
pytestmark = pytest.mark.usefixtures("context")


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock(NOW)


@pytest.fixture
def site_id() -> int:
    with transaction():
        return make_site().id


@pytest.fixture
def product_id(site_id: int) -> int:
    with transaction():
        return make_product(db.session.get_one(Site, site_id), "T-1", name="Tent").id


def count(
    site_id: int, word: str, product_id: int, weeks_ago: range = range(1, 4), opens: int = 20, bought: int = 0
) -> None:
    with transaction():
        count_opens(site_id, NOW.date(), word, product_id, weeks_ago, opens, bought)


def learn(clock: StoppedClock, site_id: int, mode: LearningMode = LearningMode.ON) -> int:
    with transaction():
        change_settings(site_id, {"search-learning": mode.value})
        number = learn_site(clock, site_id)
    publish(clock, site_id)
    return number


def publish(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        publishing.publish(clock, site_id)


def request(site_id: int, words: str = "tent") -> SearchRequest:
    return expand_request(site_id, SearchRequest(words=words), plan(words, served(site_id), NOW))


def author(clock: StoppedClock, site_id: int) -> Author:
    return Author(site_id, "Mia Moss", clock)


def test_what_was_learned_reaches_the_request_of_that_search_alone(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    assert learn(clock, site_id) == 1
    [(document, factor)] = request(site_id, " TENT ").learned.documents
    assert document == f"p{product_id}" and 1.3 < factor < 1.5
    assert request(site_id, "tents").learned == LearnedFactors()


@pytest.mark.parametrize("mode", [LearningMode.OFF, LearningMode.SHADOW])
def test_off_and_in_shadow_requests_stay_exactly_as_they_are(
    clock: StoppedClock, site_id: int, product_id: int, mode: LearningMode
) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id, mode)
    untaught = plan("tent", replace(served(site_id), learned=Learned.NOTHING), NOW)
    assert request(site_id) == expand_request(site_id, SearchRequest(words="tent"), untaught)
    assert bool(served(site_id).learned.of("tent")) is (mode is LearningMode.SHADOW)


def test_a_replay_compares_shadow_with_on(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id, LearningMode.SHADOW)
    proposal = read_proposal(as_json(LearningProposal(on=True)))
    now = served(site_id)
    assert not plan("tent", now, NOW).learned
    assert plan("tent", apply_proposal(now, proposal), NOW).learned.products[0].product_id == product_id


def test_since_when_shoppers_are_served_it_is_kept_until_they_are_not(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    since = serving_state(site_id).learning_since
    clock.move(days=1)
    count(site_id, "stove", product_id)
    learn(clock, site_id)
    assert since == NOW and serving_state(site_id).learning_since == since
    learn(clock, site_id, LearningMode.OFF)
    assert serving_state(site_id).learning_since is None
    assert db.session.scalars(select(LearnedWord)).all() == []


def test_products_that_are_hidden_or_gone_and_other_sites_teach_nothing(clock: StoppedClock, site_id: int) -> None:
    with transaction():
        hidden = make_product(db.session.get_one(Site, site_id), "T-2", enabled=False).id
        other = make_site(host="other.test")
        elsewhere = make_product(other, "T-3").id
    for id in (hidden, elsewhere, 987_654):
        count(site_id, "tent", id)
    assert learn(clock, site_id) == 0


def test_learning_again_what_is_known_publishes_nothing_new(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    before = serving_state(site_id).saved_version
    learn(clock, site_id)
    assert serving_state(site_id).saved_version == before


def test_what_is_forgotten_moves_nothing_until_it_is_restored(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    count(site_id, "stove", product_id)
    learn(clock, site_id)
    with transaction():
        forgetting.forget_search(author(clock, site_id), "tent")
    publish(clock, site_id)
    assert not request(site_id).learned and request(site_id, "stove").learned
    learn(clock, site_id)
    assert not request(site_id).learned, "the nightly job leaves it forgotten"
    with transaction():
        forgetting.restore_search(author(clock, site_id), "tent")
    publish(clock, site_id)
    assert request(site_id).learned
    entries = db.session.scalars(select(AuditEntry.summary).order_by(AuditEntry.id)).all()
    assert entries == [
        "Forgot what was learned from clicks for the search “tent”",
        "Restored what was learned from clicks for the search “tent”",
    ]


def test_all_is_forgotten_and_what_comes_later_is_learned_anew(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    with transaction():
        forgetting.forget_search(author(clock, site_id), ALL_SEARCHES)
    publish(clock, site_id)
    assert not request(site_id).learned
    count(site_id, "tent", product_id, range(-3, 0))
    clock.move(days=24)
    learn(clock, site_id)
    assert request(site_id).learned


def test_what_was_never_learned_or_forgotten_can_be_neither(clock: StoppedClock, site_id: int) -> None:
    for change in (forgetting.forget_search, forgetting.restore_search):
        with pytest.raises(NotFound), transaction():
            change(author(clock, site_id), "tent")


def test_the_words_of_a_forgotten_search_go_after_ninety_days(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    with transaction():
        forgetting.forget_search(author(clock, site_id), "tent")
    clock.move(days=92)  # It is forgotten to the end of the week, two days later.
    purged(clock, *forgetting.RETENTIONS)
    assert db.session.scalars(select(ForgottenWord.word)).all() == ["tent"]
    clock.move(days=1)
    purged(clock, *forgetting.RETENTIONS)
    assert db.session.scalars(select(ForgottenWord.word)).all() == []
    [entry] = db.session.scalars(select(AuditEntry))
    assert (entry.subject_id, entry.summary) == (forgetting.NO_ID, forgetting.NO_WORDS)
    assert (entry.before, entry.after) == (None, None)


def test_forgetting_can_be_undone_like_other_changes(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    with transaction():
        forgetting.forget_search(author(clock, site_id), ALL_SEARCHES)
    assert forgetting.records(site_id, ["*", "tent"]) == {"*": {"through": "2026-11-22"}}
    with transaction():
        forgetting.revert(author(clock, site_id), "*", None)
    relevance.learn(site_id)
    publish(clock, site_id)
    assert forgetting.records(site_id, ["*"]) == {} and request(site_id).learned


def test_what_programs_invent_in_a_few_weeks_takes_no_real_search_its_place(site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id, range(1, 4), opens=8)
    for number in range(4):
        count(site_id, f"invented {number}", product_id, range(1, 3), opens=10_000)
        count(site_id, f"seldom {number}", product_id, range(1, 9), opens=7)
    assert words_that_teach(site_id, most=1) == ["tent"]


def test_a_busy_week_puts_no_search_before_others(site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id, range(1, 5), opens=100)
    count(site_id, "stove", product_id, range(1, 4), opens=8)
    count(site_id, "stove", product_id, range(4, 5), opens=50_000)
    assert words_that_teach(site_id) == ["tent", "stove"]


def test_a_shop_that_stops_learning_keeps_no_counts_of_products(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id, LearningMode.SHADOW)
    assert db.session.scalars(select(SearchProductWeek)).all()
    learn(clock, site_id, LearningMode.OFF)
    assert db.session.scalars(select(SearchProductWeek)).all() == []


def test_what_was_forgotten_takes_no_place(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id, opens=30)
    count(site_id, "stove", product_id)
    learn(clock, site_id)
    with transaction():
        forgetting.forget_search(author(clock, site_id), "tent")
    assert words_that_teach(site_id) == ["stove"]
    with transaction():
        forgetting.forget_search(author(clock, site_id), ALL_SEARCHES)
    assert words_that_teach(site_id) == []
    count(site_id, "stove", product_id, range(-3, 0))
    assert words_that_teach(site_id) == ["stove"]


def test_learning_and_forgetting_follow_one_after_the_other(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    changes = (
        lambda: learn_site(clock, site_id),
        lambda: learn_words(clock, site_id, ["tent"]),
        lambda: forgetting.revert(author(clock, site_id), "tent", None),
    )
    for change in changes:
        db.session.rollback()
        with statements() as sent, transaction():
            change()
        reads = [sql for sql in sent if sql.lstrip().startswith("SELECT")]
        assert "FROM served_words" in reads[0]


def test_learning_reads_the_counts_while_others_write(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    db.session.rollback()
    with statements() as sent:
        relevance.learn(site_id)
    [read] = [place for place, sql in enumerate(sent) if "FROM search_product_weeks" in sql and "weight" in sql]
    [locked] = [place for place, sql in enumerate(sent) if "FROM served_words" in sql and "saved_version" in sql][:1]
    assert read < locked


@pytest.mark.parametrize("meanwhile", ["forgotten", "all forgotten", "switched off"])
def test_what_was_forgotten_while_the_counts_were_read_is_not_learned_again(
    clock: StoppedClock, site_id: int, product_id: int, meanwhile: str
) -> None:
    count(site_id, "tent", product_id)
    learn(clock, site_id)
    studied = study_counts(clock, site_id)
    with transaction():
        if meanwhile == "switched off":
            change_settings(site_id, {"search-learning": "off"})
        else:
            forgetting.forget_search(author(clock, site_id), "tent" if meanwhile == "forgotten" else ALL_SEARCHES)
    with transaction():
        assert not store_study(clock, site_id, studied)
    relevance.learn(site_id)
    assert db.session.scalars(select(LearnedWord)).all() == []


def test_what_is_forgotten_each_time_that_the_counts_were_read_is_forgotten(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    for number in range(5):
        count(site_id, f"tent {number}", product_id)
    learn(clock, site_id)
    db.session.rollback()
    words = iter(range(5))

    def forget_next(*_: object) -> None:
        number = next(words, None)
        if number is not None:
            with db.engine.connect() as other:
                row = {"site_id": site_id, "word": f"tent {number}", "through": NOW.date(), "forgotten_at": NOW}
                other.execution_options(writing=True).execute(insert(ForgottenWord), row | {"forgotten_by": "Mia"})
                other.commit()

    with once_counts_are_read(forget_next):
        relevance.learn(site_id)
    assert {row.word for row in learned_rows(site_id).items} == {"tent 3", "tent 4"}


@contextmanager
def once_counts_are_read(do: Callable[[], None]) -> Iterator[None]:
    def after(_connection: object, _cursor: object, sql: str, *_: object) -> None:
        is_writing = db.session().info.get(WRITING)
        if "FROM search_product_weeks" in sql and "weight" in sql and not is_writing:
            do()

    event.listen(db.engine, "after_cursor_execute", after)
    try:
        yield
    finally:
        event.remove(db.engine, "after_cursor_execute", after)


def test_counts_of_a_deleted_product_are_gone_before_another_has_its_number(
    clock: StoppedClock, site_id: int, product_id: int
) -> None:
    count(site_id, "tent", product_id)
    count(site_id, "tent", product_id + 1)
    with transaction():
        products.delete(author(clock, site_id), product_id)
    assert set(db.session.scalars(select(SearchProductWeek.product_id))) == {product_id + 1}


@contextmanager
def statements() -> Iterator[list[str]]:
    sent: list[str] = []

    def note(_connection: object, _cursor: object, sql: str, *_: object) -> None:
        sent.append(sql)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(db.engine, "before_cursor_execute", note)


def words_that_teach(site_id: int, most: int = 500) -> list[str]:
    return teaching_words(site_id, week_of(NOW.date()) - timedelta(weeks=8), most)


def test_the_list_shows_the_evidence(clock: StoppedClock, site_id: int, product_id: int) -> None:
    count(site_id, "tent", product_id, bought=7)
    learn(clock, site_id)
    [row] = learned_rows(site_id).items
    assert (row.word, row.evidence) == ("tent", "60 opens, 21 bought")
    assert [(one.name, one.percent) for one in row.products] == [("Tent", 40)]
    seldom = product_id + 1
    count(site_id, "tent", seldom, range(1, 3), opens=100)
    with transaction():
        make_product(db.session.get_one(Site, site_id), "T-9")
    learn(clock, site_id)
    assert learned_rows(site_id).items[0].evidence == "60 opens, 21 bought", "of what is moved alone"
    assert learning_state(site_id).searches == 1
    assert learned_rows(site_id, contains="stove").items == ()
