"""Learning from clicks: what shoppers open and buy for each search, from the counts of the last nine weeks.

What was learned is stored by search and published with synonyms and rules, so that every process serves the same. A
site whose setting is off learns nothing, and its counts of products are dropped. Forgetting leaves the counts: those of
the weeks up to this one no longer teach, and later ones begin anew. Undone, all of them teach again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from sqlalchemy import case, delete, func, null, or_, select, update
from sqlalchemy.orm import aliased

from app.domain.catalogue.models import Product
from app.domain.relevance.models import ALL_SEARCHES, ForgottenWord, LearnedWord
from app.domain.retention.purging import Retention
from app.domain.search.events import LearningChanged
from app.domain.search.ranking.learning import (
    FEWEST_A_WEEK,
    FEWEST_WEEKS,
    MOST_SEARCHES,
    WINDOW,
    LearnedSearch,
    ProductCount,
    learn,
)
from app.domain.search.serving import configuration
from app.domain.search.serving.plan import LearningMode, search_as_json
from app.domain.search_statistics.counting.attribution import HUNDREDTHS
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.counting.queries import site_today
from app.domain.search_statistics.counting.weekly_counts import forget_site, product_weeks
from app.domain.search_statistics.models import SearchProductWeek
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.memory import WEEK, week_of
from app.domain.shared.paging import batched
from app.domain.shared.problems import NotFound
from app.domain.sites import activity
from app.domain.sites.models import AuditEntry
from app.domain.sites.settings import settings_of
from app.events import publish
from app.extensions import db

LEARNING = "search-learning"
WORDS_AT_ONCE = 25  # Searches whose counts are in memory at a time.
MOST_A_WEEK = 200  # Opens of a product in one week that count in the order of searches; more move no search up.
AUDIT_KIND = "learning"
ALL_ID = "*"  # The subject of entries about all searches; no search that is counted consists of it.
ACTION, NO_ID = "learning.save", "-"
NO_WORDS = "Forgot or restored what was learned from clicks for a search whose words are not kept any more"
# By then no count of the weeks that it is about is left, and it says nothing but its words.
RETENTIONS = (
    Retention(
        "forgotten searches",
        ForgottenWord,
        dated=ForgottenWord.through,
        is_old=lambda now: ForgottenWord.through < (now - KEEP_WORDS).date(),
    ),
    Retention(
        "forgotten searches in the activity log",
        AuditEntry,
        dated=AuditEntry.at,
        is_old=lambda now: AuditEntry.at < now - KEEP_WORDS,
        among=(AuditEntry.action == ACTION) & AuditEntry.subject_id.not_in((ALL_ID, NO_ID)),
        emptied={"summary": NO_WORDS, "subject_id": NO_ID, "before": null(), "after": null()},
    ),
)


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


def learning_mode(site_id: int) -> LearningMode:
    return LearningMode(settings_of(site_id)[LEARNING])


def study_counts(clock: Clock, site_id: int) -> Study:
    """Return what the counts of a site teach. There may be hundreds of thousands of counts: call it before the
    transaction that stores the result, so that other writers need not wait meanwhile."""
    basis = _basis(site_id)
    if basis.mode is LearningMode.OFF:
        return Study(basis, {})
    today = site_today(clock, site_id)
    words = teaching_words(site_id, _first_week(today), MOST_SEARCHES)
    return Study(basis, _lessons(site_id, today, words, basis.forgotten))


def store_study(clock: Clock, site_id: int, studied: Study) -> bool:
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
    studied = study_counts(clock, site_id)
    store_study(clock, site_id, studied)
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
    """Return the basis of learning; a search is forgotten through its own last day or that of all, whichever is
    later."""
    rows = db.session.execute(select(ForgottenWord.word, ForgottenWord.through).where(ForgottenWord.site_id == site_id))
    through = {word: day for word, day in rows}
    all_through = through.get(ALL_SEARCHES)
    return Basis(learning_mode(site_id), {word: max(day, all_through or day) for word, day in through.items()})


def _lessons(site_id: int, today: date, words: Sequence[str], forgotten: Mapping[str, date]) -> dict[str, Lesson]:
    return {
        word: lesson
        for some in batched(words, WORDS_AT_ONCE)
        for word, lesson in _lessons_of_some(site_id, today, some, forgotten).items()
        if lesson.learned
    }


def _lessons_of_some(
    site_id: int, today: date, words: Sequence[str], forgotten: Mapping[str, date]
) -> dict[str, Lesson]:
    counts: dict[str, list[ProductCount]] = defaultdict(list)
    for change in product_weeks(site_id, words, _first_week(today)):
        through = forgotten.get(change.word, forgotten.get(ALL_SEARCHES))
        if through is None or change.week > through:
            age = (week_of(today) - change.week).days // WEEK
            weight = change.weight / HUNDREDTHS
            counts[change.word].append(ProductCount(change.product_id, age, change.opens, weight, change.bought))
    levels = _levels(site_id, {count.product_id for own in counts.values() for count in own})
    return {word: Lesson(learn(own, levels), sum(count.opens for count in own)) for word, own in counts.items()}


def _first_week(today: date) -> date:
    return week_of(today) - timedelta(weeks=WINDOW - 1)


def _levels(site_id: int, product_ids: Iterable[int]) -> Mapping[int, str | None]:
    """Return the level of each product that shoppers see."""
    shown = select(Product.id, Product.taxonomy_level_id).where(Product.site_id == site_id, Product.enabled.is_(True))
    return {
        id: level
        for some in batched(sorted(product_ids))
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
    for some in batched(gone):
        of_site = (LearnedWord.site_id == site_id) & LearnedWord.word.in_(some)
        db.session.execute(delete(LearnedWord).where(of_site), execution_options={"synchronize_session": "fetch"})
    db.session.flush()
    if changed or gone:
        configuration.raise_version(site_id)


def teaching_words(site_id: int, first: date, most: int) -> list[str]:
    """Return at most `most` searches, those with the most opens first, from which shoppers opened products in enough
    weeks since a Monday that are not forgotten."""
    model, own, all_ = SearchProductWeek, aliased(ForgottenWord), aliased(ForgottenWord)
    opens = func.sum(case((model.opens > MOST_A_WEEK, MOST_A_WEEK), else_=model.opens))
    query = (
        select(model.word)
        .outerjoin(own, (own.site_id == model.site_id) & (own.word == model.word))
        .outerjoin(all_, (all_.site_id == model.site_id) & (all_.word == ALL_SEARCHES))
        .where(model.site_id == site_id, model.week >= first, model.opens >= FEWEST_A_WEEK)
        .where(*(or_(one.through.is_(None), model.week > one.through) for one in (own, all_)))
        .group_by(model.word)
        .having(func.count(model.week.distinct()) >= FEWEST_WEEKS)
        .order_by(opens.desc(), model.word)
        .limit(most)
    )
    return list(db.session.scalars(query))


def forget_search(author: Author, word: str) -> None:
    """Forget what was learned for a search, or for all, up to the end of this week. Raises NotFound where nothing was
    learned."""
    learned = select(LearnedWord.word).where(LearnedWord.site_id == author.site_id)
    if word != ALL_SEARCHES:
        learned = learned.where(LearnedWord.word == word)
    if db.session.scalar(learned.limit(1)) is None:
        raise NotFound("Nothing is learned for this search, or not any more.")
    _forget_through(author, word, _end_of_week(author.clock, author.site_id))


def restore_search(author: Author, word: str) -> None:
    """Let the forgotten counts of a search, or of all, teach again. Raises NotFound where nothing was forgotten."""
    if db.session.get(ForgottenWord, (author.site_id, word)) is None:
        raise NotFound("This search is not forgotten, or not any more.")
    _forget_through(author, word, None)


def end_this_week(clock: Clock, site_id: int) -> None:
    """Make what was forgotten up to a later week forgotten up to this one: a clock that was ahead said that week, and
    all counts until then would teach nothing. Call it only while the clock is believed."""
    end = _end_of_week(clock, site_id)
    later = update(ForgottenWord).where(ForgottenWord.site_id == site_id, ForgottenWord.through > end)
    db.session.execute(later.values(through=end))


def _forget_through(author: Author, word: str, through: date | None) -> None:
    """Forget a search up to a day, or nothing of it for None, and learn it anew. Of all searches everything is dropped
    where all is forgotten up to now; else learning is requested, which runs after the commit."""
    configuration.lock(author.site_id)  # Else learning that is under way would store again what is forgotten here.
    row = db.session.get(ForgottenWord, (author.site_id, word))
    before = _forgotten_json(row)
    if through is None and row is not None:
        db.session.delete(row)
    elif through is not None:
        row = row or ForgottenWord(site_id=author.site_id, word=word)
        row.through, row.forgotten_at, row.forgotten_by = through, author.now(), author.name[:100]
        db.session.add(row)
    db.session.flush()
    if word != ALL_SEARCHES:
        learn_words(author.clock, author.site_id, [word])
    elif through == _end_of_week(author.clock, author.site_id):
        unlearn_site(author.clock, author.site_id)
    else:
        request_learning(author.site_id)
    what = f"for the search “{word}”" if word else "for all searches"
    summary = f"{'Forgot' if through else 'Restored'} what was learned from clicks {what}"
    after = None if through is None else {"through": through.isoformat()}
    activity.record(author, ACTION, (AUDIT_KIND, word or ALL_ID), summary, before, after)


def _end_of_week(clock: Clock, site_id: int) -> date:
    return week_of(site_today(clock, site_id)) + timedelta(days=WEEK - 1)


def _forgotten_json(row: ForgottenWord | None) -> dict[str, Any] | None:
    return None if row is None else {"through": row.through.isoformat()}


def records(site_id: int, ids: Iterable[str]) -> Mapping[str, Mapping[str, Any] | None]:
    """Return the JSON of what is forgotten of these searches, by their subject ids in the activity log."""
    words = [ALL_SEARCHES if id == ALL_ID else id for id in ids]
    query = select(ForgottenWord).where(ForgottenWord.site_id == site_id, ForgottenWord.word.in_(words))
    return {row.word or ALL_ID: _forgotten_json(row) for row in db.session.scalars(query)}


def revert(author: Author, id: str, before: Mapping[str, Any] | None) -> None:
    """Set the day up to which a search is forgotten to that of `before`; None forgets nothing of it."""
    through = date.fromisoformat(before["through"]) if before else None
    _forget_through(author, ALL_SEARCHES if id == ALL_ID else id, through)
