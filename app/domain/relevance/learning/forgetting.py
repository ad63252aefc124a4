"""Make search forget what it learned for one search or for all, and undo that. Call the functions in a transaction.

The counts stay: those of the weeks up to this one no longer teach, and later ones begin anew. Undone, all of them
teach again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from sqlalchemy import null, select, update

from app.domain.relevance.learning.learning import learn_words, request_learning, unlearn_site
from app.domain.relevance.learning.models import ALL, ForgottenWord, LearnedWord
from app.domain.retention.purging import Retention
from app.domain.search.serving import configuration
from app.domain.search_statistics.counting.purge import KEEP_WORDS
from app.domain.search_statistics.counting.queries import site_today
from app.domain.shared.author import Author
from app.domain.shared.clock import Clock
from app.domain.shared.counting_memory import WEEK, week_of
from app.domain.shared.problems import NotFound
from app.domain.sites import audit
from app.domain.sites.models import AuditEntry
from app.extensions import db

KIND = "learning"
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


def forget(author: Author, word: str) -> None:
    """Forget what was learned for a search, or for ALL, up to the end of this week. Raises NotFound where nothing was
    learned."""
    learned = select(LearnedWord.word).where(LearnedWord.site_id == author.site_id)
    if db.session.scalar((learned if word == ALL else learned.where(LearnedWord.word == word)).limit(1)) is None:
        raise NotFound("Nothing is learned for this search, or not any more.")
    _set(author, word, _end_of_week(author.clock, author.site_id))


def remember(author: Author, word: str) -> None:
    """Let the forgotten counts of a search, or of ALL, teach again. Raises NotFound where nothing was forgotten."""
    if db.session.get(ForgottenWord, (author.site_id, word)) is None:
        raise NotFound("This search is not forgotten, or not any more.")
    _set(author, word, None)


def end_this_week(clock: Clock, site_id: int) -> None:
    """Make what was forgotten up to a later week forgotten up to this one: a clock that was ahead said that week, and
    all counts until then would teach nothing. Call it only while the clock is believed."""
    end = _end_of_week(clock, site_id)
    later = update(ForgottenWord).where(ForgottenWord.site_id == site_id, ForgottenWord.through > end)
    db.session.execute(later.values(through=end))


def _set(author: Author, word: str, through: date | None) -> None:
    configuration.lock(author.site_id)  # Else learning that is under way would store again what is forgotten here.
    row = db.session.get(ForgottenWord, (author.site_id, word))
    before = _state(row)
    if through is None and row is not None:
        db.session.delete(row)
    elif through is not None:
        row = row or ForgottenWord(site_id=author.site_id, word=word)
        row.through, row.forgotten_at, row.forgotten_by = through, author.now(), author.name[:100]
        db.session.add(row)
    db.session.flush()
    _relearn(author, word, through)
    after = None if through is None else {"through": through.isoformat()}
    audit.record(author, ACTION, (KIND, word or ALL_ID), _summary(word, through), before, after)


def _relearn(author: Author, word: str, through: date | None) -> None:
    """Learn one search anew. For ALL, drop everything learned where all is forgotten up to now; else request learning,
    which runs after the commit."""
    if word != ALL:
        learn_words(author.clock, author.site_id, [word])
    elif through == _end_of_week(author.clock, author.site_id):
        unlearn_site(author.clock, author.site_id)
    else:
        request_learning(author.site_id)


def _end_of_week(clock: Clock, site_id: int) -> date:
    return week_of(site_today(clock, site_id)) + timedelta(days=WEEK - 1)


def _summary(word: str, through: date | None) -> str:
    what = f"for the search “{word}”" if word else "for all searches"
    return f"{'Forgot' if through else 'Restored'} what was learned from clicks {what}"


def _state(row: ForgottenWord | None) -> dict[str, Any] | None:
    return None if row is None else {"through": row.through.isoformat()}


def records(site_id: int, ids: Iterable[str]) -> Mapping[str, Mapping[str, Any] | None]:
    """Return the JSON of what is forgotten of these searches, by their subject ids in the activity log."""
    words = [ALL if id == ALL_ID else id for id in ids]
    query = select(ForgottenWord).where(ForgottenWord.site_id == site_id, ForgottenWord.word.in_(words))
    return {row.word or ALL_ID: _state(row) for row in db.session.scalars(query)}


def revert(author: Author, id: str, before: Mapping[str, Any] | None) -> None:
    """Set the day up to which a search is forgotten to that of `before`; None forgets nothing of it."""
    through = date.fromisoformat(before["through"]) if before else None
    _set(author, ALL if id == ALL_ID else id, through)
