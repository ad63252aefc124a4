"""Asking for more synonyms, in the background: what shoppers searched in vain goes to each source, what comes back is
tried on the live index, and what would find something is kept as a suggestion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import ColumnElement, func, or_, select

from app.domain.search.counting.models import SearchWordDay
from app.domain.search.engine import SearchEngine
from app.domain.search.live.asking import first_ten
from app.domain.search.live.models import SuggestionRun
from app.domain.search.live.publishing import served
from app.domain.search.live.served import Served, SynonymGroup
from app.domain.search.synonyms.candidate import Candidate
from app.domain.search.synonyms.editing import suggest as keep
from app.domain.search.synonyms.mining import FoundNothing
from app.domain.search.synonyms.source import Question, SuggestionsFailed, SuggestionSource
from app.domain.search.synonyms.vocabulary import vocabulary_of
from app.domain.shared.clock import Clock
from app.domain.shared.committing import Transaction
from app.domain.shared.problems import DomainError
from app.events import publish
from app.extensions import db

DAYS = 30
MOST_SEARCHES = 300
EACH = 2  # Suggestions for one search; more only make people read more.
LEASE = timedelta(minutes=3)
WAITING, RUNNING, DONE, FAILED = "waiting", "running", "done", "failed"


@dataclass(frozen=True, slots=True)
class SuggestionsRequested:
    """Somebody wants more suggestions for a site."""

    site_id: int


@dataclass(frozen=True, slots=True)
class Suggesting:
    """What it works with; `transaction` commits at its end. None of its functions may be called within one."""

    engine: SearchEngine
    clock: Clock
    transaction: Transaction
    sources: Sequence[SuggestionSource]


def latest(site_id: int) -> SuggestionRun | None:
    return db.session.get(SuggestionRun, site_id)


def request(clock: Clock, site_id: int, actor: str) -> bool:
    """Ask for more; False when a search for them is under way already. Call it in a transaction."""
    run, now = db.session.get(SuggestionRun, site_id, with_for_update=True), clock.now()
    if run is not None and run.state in (WAITING, RUNNING):
        publish(SuggestionsRequested(site_id))
        return False
    if run is None:
        run = SuggestionRun(site_id=site_id)
        db.session.add(run)
    run.state, run.requested_by, run.requested_at = WAITING, actor, now
    run.lease_until = run.finished_at = run.error = None
    run.added = 0
    publish(SuggestionsRequested(site_id))
    return True


def waiting_sites(clock: Clock) -> list[int]:
    """Sites whose wish nobody works on: not taken up yet, or by somebody who has been silent for too long."""
    return list(db.session.scalars(select(SuggestionRun.site_id).where(_is_free(clock))))


def work_off(means: Suggesting, site_id: int) -> None:
    """Do what was asked for, if nobody else does. A source that fails is told about; the others count."""
    with means.transaction():
        if not _take_up(means.clock, site_id):
            return
    try:
        added, failures = _suggest(means, site_id)
    except DomainError as error:
        added, failures = 0, [error.message]
    with means.transaction():
        run = db.session.get(SuggestionRun, site_id, with_for_update=True)
        if run is not None and run.state == RUNNING:
            run.state, run.finished_at = FAILED if failures else DONE, means.clock.now()
            run.added, run.error, run.lease_until = added, " ".join(failures) or None, None


def _take_up(clock: Clock, site_id: int) -> bool:
    query = select(SuggestionRun).where(SuggestionRun.site_id == site_id, _is_free(clock))
    run = db.session.scalar(query.with_for_update(skip_locked=True))
    if run is None:
        return False
    run.state, run.lease_until = RUNNING, clock.now() + LEASE
    return True


def _is_free(clock: Clock) -> ColumnElement[bool]:
    abandoned = (SuggestionRun.state == RUNNING) & (SuggestionRun.lease_until <= clock.now())
    return or_(SuggestionRun.state == WAITING, abandoned)


def _suggest(means: Suggesting, site_id: int) -> tuple[int, list[str]]:
    """How many suggestions came in, and what sources that failed said."""
    question = Question(searched_in_vain(means.clock, site_id), vocabulary_of(site_id))
    known, added, failures = served(site_id), 0, []
    for source in means.sources:
        try:
            thoughts = source.suggest(question)
        except SuggestionsFailed as failure:
            failures.append(failure.message)
            continue
        worth_it = list(_worth_it(means, site_id, known, question.nothing, thoughts))
        with means.transaction():
            added += keep(means.clock, site_id, worth_it, source.name)
    return added, failures


def searched_in_vain(clock: Clock, site_id: int) -> list[FoundNothing]:
    """The searches of the last 30 days whose latest result was nothing, the most frequent first."""
    searches, word = func.sum(SearchWordDay.searches), SearchWordDay.word
    since = (clock.now() - timedelta(days=DAYS)).date()
    recent = SearchWordDay.site_id == site_id, SearchWordDay.day > since, word != ""
    query = select(word, searches).where(*recent).group_by(word).having(func.sum(SearchWordDay.found_nothing) > 0)
    rows = db.session.execute(query.order_by(searches.desc(), word).limit(MOST_SEARCHES))
    return [FoundNothing(text, int(times)) for text, times in rows]


def _worth_it(
    means: Suggesting, site_id: int, known: Served, nothing: Sequence[FoundNothing], thoughts: Iterable[Candidate]
) -> Iterator[Candidate]:
    """The candidates whose search finds nothing today and would find something, at most EACH for a search."""
    searches = {searched.word: searched.searches for searched in nothing}
    kept: dict[str, int] = {}
    for thought in thoughts:
        word = thought.evidence.get("word") or thought.root or thought.words[0]
        if kept.get(word, 0) >= EACH or _found(means, site_id, word, known):
            continue
        group = SynonymGroup(thought.type, thought.root, thought.words)
        tried = replace(known, synonyms=known.synonyms.with_group(group))
        if would_find := _found(means, site_id, word, tried):
            kept[word] = kept.get(word, 0) + 1
            told = {"word": word, "searches": searches.get(word, 0), "days": DAYS, "wouldFind": would_find}
            yield replace(thought, evidence=dict(thought.evidence) | told)


def _found(means: Suggesting, site_id: int, words: str, known: Served) -> int:
    """Products that have all the words: some of the words are found for nearly any search."""
    ten = first_ten(means.engine, site_id, words, known, means.clock.now())
    full = ten.result.full_matches
    return ten.total if full is None else full
