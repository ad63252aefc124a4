"""Publishing: saved synonyms and rules, and what was learned from clicks, become the snapshot of a site that is served,
written whole."""

from __future__ import annotations

from sqlalchemy import select, update

from app.domain.relevance.learning import learning_mode
from app.domain.relevance.models import LearnedWord, SearchRule, Synonym
from app.domain.relevance.rule_levels import with_names
from app.domain.relevance.synonym_definition import LIVE
from app.domain.search.serving.configuration import rule_in_snapshot, state_query
from app.domain.search.serving.plan import Learned, LearningMode, search_of_json
from app.domain.search.serving.term_index import Match
from app.domain.shared.clock import Clock
from app.extensions import db

MATCH, CATEGORIES = "match", "categories"  # As the snapshot of a rule has them that is not exact, or has any.


def lacks_conditions(site_id: int) -> bool:
    """Whether what is served says of a rule by condition only its term, and so means searches for exactly that, or
    lacks its categories: an older release published it, while a newer one takes its place."""
    wider = select(SearchRule.id, SearchRule.categories).where(
        SearchRule.site_id == site_id, SearchRule.match != Match.EXACT.value
    )
    needed = {row.id: {MATCH, CATEGORIES} if row.categories else {MATCH} for row in db.session.execute(wider)}
    state = db.session.scalar(state_query(site_id)) if needed else None
    return state is not None and any(not needed.get(rule["id"], set()) <= rule.keys() for rule in state.rules)


def publish(clock: Clock, site_id: int) -> int:
    """Publish the live synonyms, all rules and what was learned as they are saved; return the version that is served
    now."""
    state = db.session.scalar(state_query(site_id).with_for_update())
    if state is None or state.live_version == state.saved_version:
        return state.live_version if state is not None else 0
    live = select(Synonym).where(Synonym.site_id == site_id, Synonym.status == LIVE).order_by(Synonym.id)
    synonyms = db.session.scalars(live).all()
    rules = db.session.scalars(select(SearchRule).where(SearchRule.site_id == site_id).order_by(SearchRule.id)).all()
    now = clock.now()
    state.synonyms = [{"id": synonym.id} | synonym.group.as_json(for_shoppers=True) for synonym in synonyms]
    state.rules = [rule_in_snapshot(rule) for rule in with_names(site_id, [row.value for row in rules])]
    rows = db.session.execute(select(LearnedWord.word, LearnedWord.learned).where(LearnedWord.site_id == site_id))
    learned = Learned(learning_mode(site_id), {word: search_of_json(stored) for word, stored in rows})
    state.learned = learned.as_json()
    state.learning_since = (state.learning_since or now) if learned.mode is LearningMode.ON else None
    state.live_version, state.published_at = state.saved_version, now
    for model, is_served in ((Synonym, Synonym.status == LIVE), (SearchRule, SearchRule.enabled.is_(True))):
        begins = update(model).where(model.site_id == site_id, model.live_since.is_(None), is_served)
        db.session.execute(begins.values(live_since=now).execution_options(synchronize_session="fetch"))
    return state.live_version
