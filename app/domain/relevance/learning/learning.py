"""Learn what shoppers open and buy for each search, from the counts of the last nine weeks.

What was learned is stored by search and published with synonyms and rules, so that every process serves the same. A
site whose setting is off learns nothing, and its counts of products are dropped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import delete, select

from app.domain.catalogue.models import Product
from app.domain.relevance.learning.models import ALL, ForgottenWord, LearnedWord
from app.domain.relevance.learning.teaching import teaching_words
from app.domain.search.events import LearningChanged
from app.domain.search.ranking.learning import (
    MOST_SEARCHES,
    WINDOW,
    LearnedSearch,
    ProductCount,
    learn,
)
from app.domain.search.serving import configuration
from app.domain.search.serving.plan import LearningMode, search_as_json
from app.domain.search_statistics.counting.aggregation import ProductChange
from app.domain.search_statistics.counting.attribution import HUNDREDTHS
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.counting.weekly_counts import forget_site, product_weeks
from app.domain.shared.clock import Clock
from app.domain.shared.counting_memory import WEEK, week_of
from app.domain.shared.portions import portions
from app.domain.sites.settings import settings_of
from app.events import publish
from app.extensions import db

LEARNING = "search-learning"
WORDS_AT_ONCE = 25  # Searches whose counts are in memory at a time.


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one search taught, and how often its products were opened."""

    learned: LearnedSearch
    opens: int


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of learning: the setting, and for each search the day up to which counts are forgotten."""

    mode: LearningMode
    forgotten: Mapping[str, date]


@dataclass(frozen=True, slots=True)
class Study:
    """What the counts of a site teach, and on which basis."""

    basis: Basis
    lessons: Mapping[str, Lesson]


def mode_of(site_id: int) -> LearningMode:
    return LearningMode(settings_of(site_id)[LEARNING])


def study(clock: Clock, site_id: int) -> Study:
    """Return what the counts of a site teach. There may be hundreds of thousands of counts: call it before the
    transaction that stores the result, so that other writers need not wait meanwhile."""
    basis = _basis(site_id)
    if basis.mode is LearningMode.OFF:
        return Study(basis, {})
    today = site_today(clock, site_id)
    words = teaching_words(site_id, _first_week(today), MOST_SEARCHES)
    return Study(basis, _lessons(site_id, today, words, basis.forgotten))


def store(clock: Clock, site_id: int, studied: Study) -> bool:
    """Store the result of `study` in place of what was learned before. Returns False, and stores nothing, where
    learning was switched or a search forgotten or restored meanwhile: study again. Call it in a transaction."""
    configuration.lock(site_id)
    if _basis(site_id) != studied.basis:
        return False
    _replace(clock, site_id, studied.lessons, None)
    if studied.basis.mode is LearningMode.OFF:
        forget_site(site_id)
    return True


def request_learning(site_id: int) -> None:
    """Have a site learn anew after the commit, in the background where there is a worker."""
    publish(LearningChanged(site_id))


def learn_site(clock: Clock, site_id: int) -> int:
    """Learn all searches of a site anew, while other writers wait, and return how many taught something. Call it in a
    transaction."""
    configuration.lock(site_id)
    studied = study(clock, site_id)
    store(clock, site_id, studied)
    return len(studied.lessons)


def learn_words(clock: Clock, site_id: int, words: Sequence[str]) -> None:
    """Learn these searches anew, as after one was forgotten. Call it in a transaction."""
    configuration.lock(site_id)
    basis = _basis(site_id)
    if basis.mode is not LearningMode.OFF:
        _replace(clock, site_id, _lessons(site_id, site_today(clock, site_id), words, basis.forgotten), words)


def unlearn_site(clock: Clock, site_id: int) -> None:
    """Drop all that was learned, as after all of it was forgotten. Call it in a transaction."""
    configuration.lock(site_id)
    _replace(clock, site_id, {}, None)


def _basis(site_id: int) -> Basis:
    return Basis(mode_of(site_id), _forgotten(site_id))


def _lessons(site_id: int, today: date, words: Sequence[str], forgotten: Mapping[str, date]) -> dict[str, Lesson]:
    return {
        word: lesson
        for some in portions(words, WORDS_AT_ONCE)
        for word, lesson in _lessons_of_some(site_id, today, some, forgotten).items()
        if lesson.learned
    }


def _lessons_of_some(
    site_id: int, today: date, words: Sequence[str], forgotten: Mapping[str, date]
) -> dict[str, Lesson]:
    counts: dict[str, list[ProductCount]] = defaultdict(list)
    for change in product_weeks(site_id, words, _first_week(today)):
        through = forgotten.get(change.word, forgotten.get(ALL))
        if through is None or change.week > through:
            counts[change.word].append(_count(change, today))
    levels = _levels(site_id, {count.product_id for own in counts.values() for count in own})
    return {word: Lesson(learn(own, levels), sum(count.opens for count in own)) for word, own in counts.items()}


def _count(change: ProductChange, today: date) -> ProductCount:
    age = (week_of(today) - change.week).days // WEEK
    return ProductCount(change.product_id, age, change.opens, change.weight / HUNDREDTHS, change.bought)


def _first_week(today: date) -> date:
    return week_of(today) - timedelta(weeks=WINDOW - 1)


def _forgotten(site_id: int) -> dict[str, date]:
    """Return, by search, the last day that teaches nothing: its own or that of all, whichever is later."""
    rows = db.session.execute(select(ForgottenWord.word, ForgottenWord.through).where(ForgottenWord.site_id == site_id))
    through = {word: day for word, day in rows}
    all_through = through.get(ALL)
    return {word: max(day, all_through or day) for word, day in through.items()}


def _levels(site_id: int, product_ids: Iterable[int]) -> Mapping[int, str | None]:
    """Return the level of each product that shoppers see."""
    shown = select(Product.id, Product.taxonomy_level_id).where(Product.site_id == site_id, Product.enabled.is_(True))
    return {
        id: level
        for some in portions(sorted(product_ids))
        for id, level in db.session.execute(shown.where(Product.id.in_(some)))
    }


def _replace(clock: Clock, site_id: int, lessons: Mapping[str, Lesson], words: Sequence[str] | None) -> None:
    """Store the lessons in place of those of `words`, or of all for None. They are published where they changed."""
    stored = select(LearnedWord).where(LearnedWord.site_id == site_id)
    stored = stored if words is None else stored.where(LearnedWord.word.in_(words))
    known = {row.word: row for row in db.session.scalars(stored)}
    now, changed = clock.now(), False
    for word, lesson in lessons.items():
        row = known.get(word)
        if row is None:
            row = LearnedWord(site_id=site_id, word=word)
            db.session.add(row)
        written = search_as_json(lesson.learned)
        changed |= row.learned != written
        row.learned, row.opens, row.learned_at = written, lesson.opens, now
    gone = [word for word in known if word not in lessons]
    for some in portions(gone):
        of_site = (LearnedWord.site_id == site_id) & LearnedWord.word.in_(some)
        db.session.execute(delete(LearnedWord).where(of_site), execution_options={"synchronize_session": "fetch"})
    db.session.flush()
    if changed or gone:
        configuration.raise_version(site_id)
