"""Suggestions of synonyms: the background search for them, and what was rejected.

Each source gets the searches that found nothing; its candidates are tried on the live index, and those that would find
something are stored as suggestions. A rejected suggestion keeps its words for 90 days, then hashes with a key of their
own, so that it is not made again and no word of a shopper is kept for longer than searches are.
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

import structlog
from sqlalchemy import func, null, select

from app.domain.catalogue.models import Product, ProductAttributeValue
from app.domain.relevance.models import RejectedSuggestion, SuggestionRun, Synonym
from app.domain.relevance.synonym_definition import (
    AI,
    LIVE,
    REJECTED,
    SUGGESTED,
    TakenWords,
    check_synonym,
    words_digest,
)
from app.domain.relevance.synonym_mining import (
    LEAST_VISITS,
    Candidate,
    CatalogueWords,
    FoundNothing,
    Question,
    SuggestionsFailed,
    SuggestionSource,
)
from app.domain.retention.purging import Retention
from app.domain.search.engine import SearchContext
from app.domain.search.listings.content import answering_content
from app.domain.search.serving.configuration import served
from app.domain.search.serving.plan import Served, plan
from app.domain.search.serving.query import first_ten
from app.domain.search.serving.synonyms import SynonymGroup
from app.domain.search.text import MAX_WORD_LENGTH, tokens
from app.domain.search_statistics.counting import days, rolling_sums
from app.domain.search_statistics.counting.aggregation import Rephrased
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.counting.weekly_counts import rephrased
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.problems import DomainError, Invalid
from app.domain.shared.records import flush_or_conflict
from app.domain.sites.models import AuditEntry
from app.domain.sites.sites import time_zone_of
from app.domain.work import leases
from app.domain.work.leases import Claim, LeaseLost, insert_alone, perform
from app.domain.work.models import State, WorkKind, WorkRequested
from app.domain.work.progress import WorkSummary
from app.events import publish
from app.extensions import db

log = structlog.get_logger()
DAYS = 30
DAYS_OF_VISITS = max(days.PERIODS)  # More than DAYS: rephrased searches are rarer than searches that find nothing.
MOST_SEARCHES = 300
MOST_SUGGESTIONS = 500  # Suggestions of a site that await a decision.
EACH = 2  # Suggestions for one search; more only make people read more.
RENEW_AFTER = timedelta(seconds=30)
MOST_ATTEMPTS = 3
UNEXPECTED = "Something unexpected happened while suggestions were looked for; the log of the server says what."
SUGGESTIONS = WorkKind(
    "suggestions",
    SuggestionRun,
    lease=timedelta(minutes=3),
    most_attempts=MOST_ATTEMPTS,
    exhausted=f"Looking for suggestions broke off {MOST_ATTEMPTS} times; the log of the server may say why.",
)
NAMES_AT_ONCE = 2_000  # Names are read in portions: a large catalogue does not fit into memory twice.
MOST_VALUES = 5_000  # The commonest; a rare value is rarely what many shoppers miss.
SEEN_TOGETHER = 2  # Names that have two words side by side before they count as a pair.


@dataclass(frozen=True, slots=True)
class SuggestionSummary(WorkSummary):
    """The latest search for synonyms as its form shows it."""

    added: int
    compared: int


def latest_run(clock: Clock, site_id: int) -> SuggestionSummary | None:
    run = db.session.get(SuggestionRun, site_id)
    if run is None:
        return None
    shown = SuggestionSummary.fields_of(run, leases.is_unanswered(SUGGESTIONS, clock, run))
    return SuggestionSummary(**shown, added=run.added, compared=run.compared)


def request_run(author: Author) -> bool:
    """Request more suggestions; False when a search for them is under way already. Call it in a transaction."""
    run = db.session.get(SuggestionRun, author.site_id, with_for_update=True)
    publish(WorkRequested(SUGGESTIONS.name, author.site_id))
    if run is not None and run.is_unfinished:
        return False
    is_first = run is None
    run = run or SuggestionRun(site_id=author.site_id, fence=0)
    run.state, run.requested_by, run.created_at = State.WAITING.value, author.name[:100], author.now()
    run.lease_until = run.started_at = run.finished_at = run.error = None
    run.added = run.compared = run.attempts = 0
    return insert_alone(run) if is_first else True


def run_suggestions(context: SearchContext, sources: Sequence[SuggestionSource], site_id: int) -> None:
    """Do the requested run, unless another worker does. The errors of sources that fail are stored in the run; the
    suggestions of the others are kept."""
    claim = context.commit(lambda: leases.claim(SUGGESTIONS, context.clock, SuggestionRun.site_id == site_id))
    if claim is None:
        return
    run = _Run(context, claim)
    if not perform(context, claim, lambda: run.do(sources)):
        log.warning("suggestions_taken_over", site_id=site_id)


class _Run:
    """One attempt at a run."""

    def __init__(self, context: SearchContext, claim: Claim[SuggestionRun]) -> None:
        self._context, self._claim, self._site_id = context, claim, claim.site_id
        self._added, self._compared, self._failures = 0, 0, list[str]()
        self._renewed = context.clock.now()

    def do(self, sources: Iterable[SuggestionSource]) -> None:
        """Query the sources and end the run, also after an error: a run that stayed open would be repeated, and models
        cost money. Raises LeaseLost."""
        try:
            self._query_sources(sources)
        except LeaseLost:
            raise
        except DomainError as error:
            self._failures.append(error.message)
        except Exception:
            log.exception("suggestions_failed", site_id=self._site_id)
            db.session.rollback()
            self._failures.append(UNEXPECTED)
        self._context.commit(self._end)

    def _query_sources(self, sources: Iterable[SuggestionSource]) -> None:
        context, site_id = self._context, self._site_id
        site_today = days.today(context.clock, time_zone_of(site_id))
        question = _unanswered_searches(
            context,
            site_id,
            searched_in_vain(context.clock, site_id),
            rephrased(site_id, site_today, DAYS_OF_VISITS, LEAST_VISITS, MOST_SEARCHES),
        )
        known, self._compared = served(site_id), len(question.nothing)
        for source in sources:
            self._renew()
            candidates = self._renewing(self._candidates_of(source, question))
            worth_it = list(_worthwhile_candidates(context, site_id, known, question.nothing, candidates))
            with context.transaction():
                leases.renew(context.clock, self._claim)
                added = store_suggestions(context.clock, site_id, worth_it, source.name)
            self._added += added

    def _end(self) -> None:
        columns = {"compared": self._compared, "added": self._added}
        if self._failures:
            error = " ".join(dict.fromkeys(self._failures))
            leases.fail(self._context.clock, self._claim, error, **columns)
        else:
            leases.finish(self._context.clock, self._claim, **columns)

    def _candidates_of(self, source: SuggestionSource, question: Question) -> list[Candidate]:
        try:
            return source.suggest(question)
        except SuggestionsFailed as failure:
            self._failures.append(failure.message)
        except Exception:
            log.exception("suggestion_source_failed", site_id=self._site_id, source=source.name)
            self._failures.append(UNEXPECTED)
        return []

    def _renewing(self, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
        """Yield the candidates and renew the lease meanwhile: trying hundreds on a large index takes longer than a
        lease."""
        for candidate in candidates:
            if abs(self._context.clock.now() - self._renewed) >= RENEW_AFTER:
                self._renew()
            yield candidate

    def _renew(self) -> None:
        with self._context.transaction():
            leases.renew(self._context.clock, self._claim)
        self._renewed = self._context.clock.now()


def searched_in_vain(clock: Clock, site_id: int) -> list[FoundNothing]:
    """Return the searches of the last 30 days that found nothing, also at the latest time, the most frequent first."""
    sums = rolling_sums.select_sums(site_id, days.today(clock, time_zone_of(site_id)), DAYS)
    in_vain = sums.c.found_nothing > 0, sums.c.last_result_count == 0, sums.c.word != ""
    query = select(sums.c.word, sums.c.found_nothing).where(*in_vain)
    rows = db.session.execute(query.order_by(sums.c.found_nothing.desc(), sums.c.word).limit(MOST_SEARCHES))
    return [FoundNothing(text, int(times)) for text, times in rows]


def _unanswered_searches(
    context: SearchContext, site_id: int, nothing: Sequence[FoundNothing], visits: Sequence[Rephrased]
) -> Question:
    """Return the question without searches that a page or a collection answers by now, or that a rule redirects: those
    need no synonym."""
    words = list(dict.fromkeys((*(one.word for one in nothing), *(one.word for one in visits))))
    known, now = served(site_id), context.clock.now()
    answered = {word for word in words if plan(word, known, now).redirect is not None}
    answered |= answering_content(context.engine, site_id, words).keys()
    return Question(
        [one for one in nothing if one.word not in answered],
        _catalogue_words(site_id),
        [one for one in visits if one.word not in answered],
    )


def _worthwhile_candidates(
    context: SearchContext,
    site_id: int,
    known: Served,
    nothing: Sequence[FoundNothing],
    candidates: Iterable[Candidate],
) -> Iterator[Candidate]:
    """Yield the candidates by which a search that finds nothing today would find something, at most EACH for a search.
    A search that visits rephrased may find something today, which shoppers did not want; it must find more then."""
    searches = {searched.word: searched.searches for searched in nothing}
    kept: dict[str, int] = {}
    for candidate in candidates:
        word = candidate.evidence.get("word") or candidate.root or candidate.words[0]
        finds = _full_matches(context, site_id, word, known) if kept.get(word, 0) < EACH else None
        if finds is None or (finds and "visits" not in candidate.evidence):
            continue
        group = SynonymGroup(candidate.type, candidate.root, candidate.words)
        tried = replace(known, synonyms=known.synonyms.with_group(group))
        if (would_find := _full_matches(context, site_id, word, tried)) > finds:
            kept[word] = kept.get(word, 0) + 1
            evidence = {"word": word, "searches": searches.get(word, 0), "days": DAYS, "wouldFind": would_find}
            instead = {"finds": finds} if finds else {}
            yield replace(candidate, evidence=dict(candidate.evidence) | evidence | instead)


def _full_matches(context: SearchContext, site_id: int, words: str, known: Served) -> int:
    """Return how many products have all the words, since nearly any search finds some that have a few of them."""
    ten = first_ten(context.engine, site_id, words, known, context.clock.now())
    full = ten.result.full_matches
    return ten.total if full is None else full


def _catalogue_words(site_id: int) -> CatalogueWords:
    """Return the words of the products that are for sale, in three statements."""
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    shown = Product.site_id == site_id, Product.enabled
    for name in db.session.scalars(select(Product.name).where(*shown).execution_options(yield_per=NAMES_AT_ONCE)):
        found = [token[:MAX_WORD_LENGTH] for token in tokens(name)]
        words.update(found)
        pairs.update(set(pairwise(found)))
    neighbours = frozenset(pair for pair, times in pairs.items() if times >= SEEN_TOGETHER)
    brands = db.session.scalars(select(Product.manufacturer).where(*shown, Product.manufacturer != "").distinct())
    return CatalogueWords(words, neighbours, tuple(brands), _common_values(site_id))


def _common_values(site_id: int) -> tuple[str, ...]:
    """Return the commonest attribute values that have a letter: numbers mean nothing alone."""
    value = ProductAttributeValue.value
    query = select(value).where(ProductAttributeValue.site_id == site_id).group_by(value)
    commonest = query.order_by(func.count().desc(), value).limit(MOST_VALUES)
    return tuple(text for text in db.session.scalars(commonest) if any(c.isalpha() for c in text))


def store_suggestions(clock: Clock, site_id: int, candidates: Iterable[Candidate], source: str) -> int:
    """Store new candidates as suggestions of `source` (AI or MINED) and return how many. Left out are those whose words
    the site has had in one synonym before, in any direction and of any status, those that could not be accepted beside
    the live synonyms, and those beyond MOST_SUGGESTIONS."""
    rows = db.session.scalars(select(Synonym).where(Synonym.site_id == site_id)).all()
    known = {digest for row in rows for digest in digests_of(row)}
    taken = TakenWords.of(row.group for row in rows if row.status == LIVE)
    rejected = RejectedWords(site_id)
    room = MOST_SUGGESTIONS - sum(row.status == SUGGESTED for row in rows)
    added = 0
    for candidate in candidates:
        try:
            group = check_synonym(SynonymGroup(candidate.type, candidate.root, candidate.words), taken)
        except Invalid:
            continue
        if added >= room or words_digest(group) in known or words_digest(group) in rejected:
            continue
        known.add(words_digest(group))
        evidence = dict(candidate.evidence) or None
        synonym = Synonym(site_id=site_id, status=SUGGESTED, source=source, evidence=evidence)
        synonym.revision, synonym.words_version = 1, 0
        synonym.write(group)
        synonym.created_at = synonym.updated_at = clock.now()
        synonym.updated_by = "Suggested by AI" if source == AI else "Suggested by the shop"
        db.session.add(synonym)
        added += 1
    flush_or_conflict("Suggestions came in twice at the same moment. None of these were kept.")
    return added


def digests_of(synonym: Synonym) -> set[str]:
    """Return the digests of the words that a synonym has, and of those that it was suggested with."""
    return {words_digest(synonym.group), *synonym.suggested_as}


class RejectedWords:
    """The words of a site's rejected suggestions of which hashes alone are kept."""

    def __init__(self, site_id: int) -> None:
        rows = select(RejectedSuggestion.key, RejectedSuggestion.digest).where(RejectedSuggestion.site_id == site_id)
        self._hashes = [(key, digest) for key, digest in db.session.execute(rows)]

    def __contains__(self, digest: str) -> bool:
        return any(hmac.compare_digest(_hash(key, digest), known) for key, known in self._hashes)


def _hash(key: str, digest: str) -> str:
    return hmac.digest(bytes.fromhex(key), digest.encode(), "sha256").hex()


def _keep_hashes(now: datetime) -> None:
    """Keep the hashes of suggestions whose words are about to be removed. A key of its own for each of them tells
    nobody which shops rejected the same."""
    old = select(Synonym).where(Synonym.status == REJECTED, Synonym.updated_at < now - KEEP_WORDS)
    known: dict[int, RejectedWords] = {}
    for synonym in db.session.scalars(old.order_by(Synonym.id)):
        words = known.setdefault(synonym.site_id, RejectedWords(synonym.site_id))
        for digest in sorted(digests_of(synonym)):
            if digest not in words:
                key = secrets.token_hex(16)
                db.session.add(RejectedSuggestion(site_id=synonym.site_id, key=key, digest=_hash(key, digest)))
    db.session.flush()


FORGOTTEN = "Rejected a suggestion whose words are not kept any more"
RETENTIONS = (
    Retention(
        "rejected suggestions",
        Synonym,
        dated=Synonym.updated_at,
        is_old=lambda now: Synonym.updated_at < now - KEEP_WORDS,
        among=Synonym.status == REJECTED,
        prepare=_keep_hashes,
    ),
    Retention(
        "undecided suggestions",
        Synonym,
        dated=Synonym.updated_at,
        is_old=lambda now: Synonym.updated_at < now - KEEP_WORDS,
        among=Synonym.status == SUGGESTED,
    ),
    Retention(
        "words of rejected suggestions in the activity log",
        AuditEntry,
        dated=AuditEntry.at,
        is_old=lambda now: AuditEntry.at < now - KEEP_WORDS,
        among=AuditEntry.action.in_(("synonym.reject", "synonym.delete")) & AuditEntry.after.is_not(None),
        emptied={"summary": FORGOTTEN, "before": null(), "after": null()},
    ),
)
