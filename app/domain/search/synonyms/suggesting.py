"""Asking for more synonyms, in the background: what shoppers searched in vain goes to each source, what comes back is
tried on the live index, and what would find something is kept as a suggestion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

import structlog
from sqlalchemy import ColumnElement, or_, select

from app.domain.search.counting import days, windows
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
from app.domain.sites.time_zone import time_zone_of
from app.events import publish
from app.extensions import db

log = structlog.get_logger()

DAYS = 30
MOST_SEARCHES = 300
EACH = 2  # Suggestions for one search; more only make people read more.
LEASE = timedelta(minutes=3)
RENEW_AFTER = timedelta(seconds=30)
MOST_TRIES = 3  # Of a run whose worker died.
UNEXPECTED = "Something unexpected happened while suggestions were looked for; the log of the server says what."
BROKEN_OFF = f"Looking for suggestions broke off {MOST_TRIES} times; the log of the server may say why."
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
        run = SuggestionRun(site_id=site_id, fence=0)
        db.session.add(run)
    run.state, run.requested_by, run.requested_at = WAITING, actor, now
    run.lease_until = run.finished_at = run.error = None
    run.added = run.compared = run.tries = 0
    publish(SuggestionsRequested(site_id))
    return True


def waiting_sites(clock: Clock) -> list[int]:
    """Sites whose wish nobody works on: not taken up yet, or by somebody who has been silent for too long."""
    return list(db.session.scalars(select(SuggestionRun.site_id).where(_is_free(clock))))


def work_off(means: Suggesting, site_id: int) -> None:
    """Do what was asked for, if nobody else does. A source that fails is told about; the others count."""
    with means.transaction():
        fence = _take_up(means.clock, site_id)
    if fence is None:
        return
    run = _Run(means, site_id, fence)
    try:
        run.go()
    except _TakenOver:
        log.warning("suggestions_taken_over", site_id=site_id)
        return
    except DomainError as error:
        run.failures.append(error.message)
    except Exception:
        # Whatever it was, the run ends: one that stayed open would be begun again and again, and models cost money.
        log.exception("suggestions_failed", site_id=site_id)
        run.failures.append(UNEXPECTED)
    with suppress(_TakenOver):
        run.end()


def _take_up(clock: Clock, site_id: int) -> int | None:
    """The fence by which the run is known from now on; None where it is not free, or has broken off too often."""
    query = select(SuggestionRun).where(SuggestionRun.site_id == site_id, _is_free(clock))
    run = db.session.scalar(query.with_for_update(skip_locked=True))
    if run is None:
        return None
    if run.tries >= MOST_TRIES:
        run.state, run.finished_at, run.lease_until, run.error = FAILED, clock.now(), None, BROKEN_OFF
        return None
    run.state, run.lease_until = RUNNING, clock.now() + LEASE
    run.tries, run.fence = run.tries + 1, run.fence + 1
    return run.fence


def _is_free(clock: Clock) -> ColumnElement[bool]:
    abandoned = (SuggestionRun.state == RUNNING) & (SuggestionRun.lease_until <= clock.now())
    return or_(SuggestionRun.state == WAITING, abandoned)


class _TakenOver(Exception):
    """Another works on the run, or nobody any more: whoever finds this out changes nothing."""


class _Run:
    """One attempt at a run. What it writes, it writes only while it still is the one that has the run."""

    def __init__(self, means: Suggesting, site_id: int, fence: int) -> None:
        self.added, self.compared, self.failures = 0, 0, list[str]()
        self._means, self._site_id, self._fence = means, site_id, fence
        self._renewed = means.clock.now()

    def go(self) -> None:
        """Raises DomainError, _TakenOver."""
        means, site_id = self._means, self._site_id
        question = Question(searched_in_vain(means.clock, site_id), vocabulary_of(site_id))
        known, self.compared = served(site_id), len(question.nothing)
        for source in means.sources:
            self._renew()
            thoughts = self._renewing(self._thoughts_of(source, question))
            worth_it = list(_worth_it(means, site_id, known, question.nothing, thoughts))
            with means.transaction():
                self._mine()
                added = keep(means.clock, site_id, worth_it, source.name)
            self.added += added

    def end(self) -> None:
        """Raises _TakenOver."""
        with self._means.transaction():
            run = self._mine()
            run.state, run.finished_at = FAILED if self.failures else DONE, self._means.clock.now()
            run.compared = self.compared
            run.added, run.error, run.lease_until = self.added, " ".join(dict.fromkeys(self.failures)) or None, None

    def _thoughts_of(self, source: SuggestionSource, question: Question) -> list[Candidate]:
        try:
            return source.suggest(question)
        except SuggestionsFailed as failure:
            self.failures.append(failure.message)
        except Exception:
            log.exception("suggestion_source_failed", site_id=self._site_id, source=source.name)
            self.failures.append(UNEXPECTED)
        return []

    def _renewing(self, thoughts: Iterable[Candidate]) -> Iterator[Candidate]:
        """Trying hundreds of candidates on a large index takes longer than a lease."""
        for thought in thoughts:
            if self._means.clock.now() - self._renewed >= RENEW_AFTER:
                self._renew()
            yield thought

    def _renew(self) -> None:
        with self._means.transaction():
            self._renewed = self._means.clock.now()
            self._mine().lease_until = self._renewed + LEASE

    def _mine(self) -> SuggestionRun:
        run = db.session.get(SuggestionRun, self._site_id, with_for_update=True, populate_existing=True)
        if run is None or run.state != RUNNING or run.fence != self._fence:
            raise _TakenOver
        return run


def searched_in_vain(clock: Clock, site_id: int) -> list[FoundNothing]:
    """The searches of the last 30 days that found nothing and still do, those first that did so most often."""
    sums = windows.read(site_id, days.today(clock, time_zone_of(site_id)), DAYS)
    in_vain = sums.c.found_nothing > 0, sums.c.last_result_count == 0, sums.c.word != ""
    query = select(sums.c.word, sums.c.found_nothing).where(*in_vain)
    rows = db.session.execute(query.order_by(sums.c.found_nothing.desc(), sums.c.word).limit(MOST_SEARCHES))
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
