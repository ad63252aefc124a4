"""Saved synonyms and rules become what shoppers are served: one snapshot of a site, written whole."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Select, select, update
from sqlalchemy.exc import IntegrityError

from app.domain.search.events import WordsChanged
from app.domain.search.live.models import SearchRule, ServedWords, Synonym
from app.domain.search.live.served import RuleSet, Served, SynonymSet, stop_words_of
from app.domain.search.live.snapshot import group_of, read_group, read_rule, rule_of, stored_group, stored_rule
from app.domain.shared.clock import Clock
from app.domain.sites.settings import settings_of
from app.events import publish as tell
from app.extensions import db

STOP_WORDS = "search-stop-words"


def touch(site_id: int) -> int:
    """Call it in the transaction of every change of a synonym or rule; the version that the changed record carries as
    `words_version`. The site's row stays locked until the commit, so versions rise in the order of the commits."""
    version = _raised(site_id) or _first(site_id) or _raised(site_id)
    tell(WordsChanged(site_id))
    assert version is not None, "the row is there after one of two tries to make it"
    return version


def _raised(site_id: int) -> int | None:
    raised = (
        update(ServedWords)
        .where(ServedWords.site_id == site_id)
        .values(saved_version=ServedWords.saved_version + 1)
        .returning(ServedWords.saved_version)
        .execution_options(synchronize_session=False)
    )
    return db.session.scalar(raised)


def _first(site_id: int) -> int | None:
    """None where another transaction was first."""
    try:
        with db.session.begin_nested():
            db.session.add(ServedWords(site_id=site_id, saved_version=1, live_version=0, synonyms=[], rules=[]))
    except IntegrityError:
        return None
    return 1


def publish(clock: Clock, site_id: int) -> int:
    """Serves what is saved: the live synonyms and all rules. The version that is live now."""
    state = db.session.scalar(_state(site_id).with_for_update())
    if state is None or state.live_version == state.saved_version:
        return state.live_version if state is not None else 0
    synonyms = db.session.scalars(_live_synonyms(site_id)).all()
    rules = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id).order_by(SearchRule.id)).all()
    now = clock.now()
    state.synonyms = [stored_group(group_of(synonym)) for synonym in synonyms]
    state.rules = [stored_rule(rule_of(rule)) for rule in rules]
    state.live_version, state.published_at = state.saved_version, now
    _begin_to_live(site_id, now)
    return state.live_version


def _begin_to_live(site_id: int, now: datetime) -> None:
    for model, is_served in ((Synonym, Synonym.status == "LIVE"), (SearchRule, SearchRule.enabled.is_(True))):
        db.session.execute(
            update(model)
            .where(model.site_id == site_id, model.live_since.is_(None), is_served)
            .values(live_since=now)
            .execution_options(synchronize_session="fetch")
        )


def unpublished_sites() -> list[int]:
    """Sites whose saved synonyms or rules are not served yet."""
    waiting = select(ServedWords.site_id).where(ServedWords.saved_version > ServedWords.live_version)
    return list(db.session.scalars(waiting.order_by(ServedWords.site_id)))


def served_state(site_id: int) -> ServedWords | None:
    """Which version of a site's words is saved and which is served; None before the first is saved."""
    return db.session.scalar(_state(site_id))


def is_live(row: Synonym | SearchRule, state: ServedWords | None) -> bool:
    """Whether shoppers are served the row as it is saved."""
    return not is_behind(state, row.words_version)


def is_behind(state: ServedWords | None, version: int | None = None) -> bool:
    """Whether shoppers are not served yet what was saved, or deleted, with that version; with the latest for None.
    Every “not live yet” comes from here, so that a page and its rows agree."""
    saved, live = (state.saved_version, state.live_version) if state is not None else (0, 0)
    return (saved if version is None else version) > live


def served(site_id: int) -> Served:
    """What is live now, read afresh, with the site's stop words."""
    return read_snapshot(site_id, stop_words_of(settings_of(site_id)[STOP_WORDS]))


def read_snapshot(site_id: int, stop_words: frozenset[str] = frozenset()) -> Served:
    columns = select(ServedWords.live_version, ServedWords.synonyms, ServedWords.rules)
    row = db.session.execute(columns.where(ServedWords.site_id == site_id)).one_or_none()
    if row is None:
        return Served(stop_words=stop_words)
    synonyms = SynonymSet.of(map(read_group, row.synonyms))
    return Served(row.live_version, synonyms, RuleSet.of(map(read_rule, row.rules)), stop_words)


def _state(site_id: int) -> Select[ServedWords]:
    state = select(ServedWords).where(ServedWords.site_id == site_id)
    return state.execution_options(populate_existing=True)


def _live_synonyms(site_id: int) -> Select[Synonym]:
    return select(Synonym).where(Synonym.site_id == site_id, Synonym.status == "LIVE").order_by(Synonym.id)
