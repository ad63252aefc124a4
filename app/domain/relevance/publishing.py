"""Publishing: saved synonyms and rules, and what was learned from clicks, become the snapshot of a site that is served,
written whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import Select, select, update

from app.domain.relevance.learning.learning import mode_of
from app.domain.relevance.learning.models import LearnedWord
from app.domain.relevance.rules.models import SearchRule
from app.domain.relevance.synonyms.models import Synonym
from app.domain.search.serving.configuration import state_query
from app.domain.search.serving.plan import Learned, LearningMode, search_of_json
from app.domain.shared.clock import Clock
from app.extensions import db


def publish(clock: Clock, site_id: int) -> int:
    """Publish the live synonyms, all rules and what was learned as they are saved; return the version that is served
    now."""
    state = db.session.scalar(state_query(site_id).with_for_update())
    if state is None or state.live_version == state.saved_version:
        return state.live_version if state is not None else 0
    synonyms = db.session.scalars(_live_synonyms(site_id)).all()
    rules = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id).order_by(SearchRule.id)).all()
    now = clock.now()
    state.synonyms = [{"id": synonym.id} | synonym.group.as_json() for synonym in synonyms]
    state.rules = [{"id": rule.id} | replace(rule.value, note="").as_json() for rule in rules]
    learned = _learned(site_id)
    state.learned = learned.as_json()
    state.learning_since = (state.learning_since or now) if learned.mode is LearningMode.ON else None
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


def _learned(site_id: int) -> Learned:
    rows = select(LearnedWord.word, LearnedWord.learned).where(LearnedWord.site_id == site_id)
    searches = {word: search_of_json(learned) for word, learned in db.session.execute(rows)}
    return Learned(mode_of(site_id), searches)


def _live_synonyms(site_id: int) -> Select[Synonym]:
    return select(Synonym).where(Synonym.site_id == site_id, Synonym.status == "LIVE").order_by(Synonym.id)
