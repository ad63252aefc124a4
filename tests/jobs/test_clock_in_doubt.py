"""What is computed from dated records stays while the clock is in doubt, and is right again once the clock is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select

from app.domain.orders.models import ProductSales
from app.domain.relevance import learning as forgetting
from app.domain.relevance.models import ForgottenWord, LearnedWord, SuggestionRun
from app.domain.search.serving.plan import LearningMode
from app.domain.search_statistics.counting import rolling_sums
from app.domain.search_statistics.counting.events import Event, EventKind
from app.domain.search_statistics.popular import counted_searches
from app.domain.shared.author import Author
from app.domain.sites.settings import change_settings
from app.extensions import db
from app.jobs import purging, relevance
from app.jobs.scheduled import run_scheduled
from app.jobs.search_statistics import drain
from app.ports import counting
from app.transaction import transaction
from tests.counted_searches import count, count_opens
from tests.factories import make_order, make_product, make_site
from tests.fakes.clock import StoppedClock
from tests.jobs.machine import Machine

pytestmark = pytest.mark.usefixtures("context")
FAR = timedelta(days=400)
either_way = pytest.mark.parametrize("jump", [FAR, -FAR], ids=["ahead", "behind"])


@pytest.fixture
def site_id(context: None, clock: StoppedClock) -> int:
    """A shop whose customers searched for tents, opened one and bought it in the last days."""
    today = clock.now().date()
    with transaction():
        site = make_site()
        change_settings(site.id, {"search-learning": LearningMode.ON.value})
        tent = make_product(site, "T-1", name="Tent")
        make_order(site, product=tent, status="COLLECTED", submitted_at=clock.now(), settled_at=clock.now())
        count_opens(site.id, today, "tent", tent.id)
        for age in range(1, 21):
            day = today - timedelta(days=age)
            count(site.id, today, day, "tent", searches=4)
        return site.id


@pytest.fixture
def machine(site_id: int, clock: StoppedClock) -> Machine:
    """It has run through a night."""
    made = Machine(clock)
    made.run(days=1)
    assert {"learn", "count-sales", "suggest"} <= set(made.begun)
    return made


def computed(site_id: int) -> dict[str, object]:
    db.session.rollback()
    popular = [(one.words, one.searches) for one in counted_searches(site_id)]
    learned = {row.word: (row.learned, row.learned_at) for row in db.session.scalars(select(LearnedWord))}
    run = db.session.get(SuggestionRun, site_id)
    return {
        "learned": learned,
        "popular": popular,
        "windows": rolling_sums.window_end(site_id),
        "sales": list(db.session.scalars(select(ProductSales.units))),
        "suggestions looked for": run and run.created_at,
    }


def search(clock: StoppedClock, site_id: int, word: str) -> None:
    counting().note([Event(EventKind.SEARCHED, site_id, word, clock.now().date(), 3, True)])
    drain()


@either_way
def test_nights_with_a_clock_in_doubt_leave_all_that_was_computed(
    machine: Machine, site_id: int, jump: timedelta
) -> None:
    before = computed(site_id)
    assert all(before.values()), "there is something of each"
    machine.set_clock(jump)
    for _ in range(3):
        machine.run(days=1)
    assert computed(site_id) == before


@either_way
def test_so_does_a_worker_that_counts_searches_meanwhile(machine: Machine, site_id: int, jump: timedelta) -> None:
    """It may run before the scheduler has seen that the clock was set."""
    before = computed(site_id)
    machine.clock.jump(seconds=jump.total_seconds())
    search(machine.clock, site_id, "mug")
    machine.look()
    search(machine.clock, site_id, "stove")
    assert computed(site_id) == before


@pytest.mark.parametrize("job", ["learn", "count-sales", "suggest"])
def test_so_does_a_job_that_is_run_by_name(machine: Machine, site_id: int, job: str) -> None:
    before = computed(site_id)
    machine.clock.jump(seconds=FAR.total_seconds())
    run_scheduled(job, is_by_hand=True)
    assert computed(site_id) == before


@either_way
def test_once_the_clock_is_right_again_all_is_computed_as_ever(machine: Machine, site_id: int, jump: timedelta) -> None:
    before = computed(site_id)
    machine.set_clock(jump)
    machine.run(hours=2)
    machine.set_clock(-jump)
    search(machine.clock, site_id, "mug")
    machine.run(days=1)
    after = computed(site_id)
    for name in ("popular", "sales"):
        assert after[name] == before[name]
    assert after["windows"] == machine.clock.now().date()
    learned = db.session.get_one(LearnedWord, (site_id, "tent"))
    assert learned.learned_at > machine.clock.now() - timedelta(days=1), "the night learned anew"


def test_windows_that_a_clock_ahead_has_advanced_end_today_again(machine: Machine, site_id: int) -> None:
    """As after a jump that was within the tolerance, or a version that advanced them."""
    before = computed(site_id)
    with transaction():
        rolling_sums.advance(site_id, machine.clock.now().date() + FAR)
    assert computed(site_id)["popular"] == []
    machine.run(seconds=10)
    assert computed(site_id) == before


def test_a_search_that_was_forgotten_while_the_clock_was_ahead_learns_again_from_the_next_week(
    machine: Machine, site_id: int
) -> None:
    machine.set_clock(FAR)
    with transaction():
        forgetting.forget_search(Author(site_id, "Mia Moss", machine.clock), "tent")
    machine.set_clock(-FAR)
    machine.run(days=1)
    assert computed(site_id)["learned"] == {}, "it is forgotten as it was asked for"
    forgotten = db.session.get_one(ForgottenWord, (site_id, "tent"))
    assert timedelta(0) <= forgotten.through - machine.clock.now().date() < timedelta(days=7), "and not for 400 days"


def test_switching_learning_off_drops_what_was_learned_by_any_clock(machine: Machine, site_id: int) -> None:
    machine.set_clock(FAR)
    with transaction():
        change_settings(site_id, {"search-learning": LearningMode.OFF.value})
    relevance.learn(site_id)
    assert computed(site_id)["learned"] == {}


def test_a_clock_that_a_person_confirms_is_followed_at_once(machine: Machine, site_id: int) -> None:
    """A shop that was off for longer than the counts reach."""
    machine.set_clock(FAR)
    purging.purge_all("Mia Moss")
    machine.run(seconds=10)
    assert computed(site_id)["windows"] == machine.clock.now().date()
