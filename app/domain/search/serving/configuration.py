"""The serving configuration as it is stored: its saved and its live version, the snapshot that every process serves,
and the cache of it in a process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import Select, select
from sqlalchemy.exc import OperationalError

from app.domain.search.events import ConfigurationSaved
from app.domain.search.models import ServedConfiguration
from app.domain.search.ranking_settings import RankingSettings, ranking_of
from app.domain.search.serving.plan import Learned, Served, stop_words_of
from app.domain.search.serving.rule_set import RuleSet
from app.domain.search.serving.rules import Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymSet
from app.domain.search.understanding.parts import UnderstandingMode
from app.domain.shared.clock import Clock
from app.domain.shared.records import upsert
from app.domain.sites.settings import settings_of
from app.events import publish
from app.extensions import db

STOP_WORDS = "search-stop-words"
BY_MEANING = "search-by-meaning"
NAMES = "levelNames"  # As releases have it that know no categories of rules.
NEW_RULE = Rule("").as_json()
UNDERSTANDING = "search-understanding"
FRESH = timedelta(seconds=1)


class Versioned(Protocol):
    """A synonym or a rule; `words_version` is the site's `saved_version` of which its state is a part."""

    @property
    def words_version(self) -> int: ...


def raise_version(site_id: int) -> int:
    """Raise the saved version, in the transaction of every change of a synonym or rule, and return it: the changed
    record carries it as `words_version`. The site's row stays locked until the commit, so versions rise in the order
    of the commits."""
    first = {"saved_version": 1, "live_version": 0, "synonyms": [], "rules": [], "learned": {}}
    raised = upsert(ServedConfiguration).values(site_id=site_id, **first)
    raised = raised.on_conflict_do_update(
        index_elements=["site_id"], set_={"saved_version": ServedConfiguration.saved_version + 1}
    )
    version: int = db.session.execute(raised.returning(ServedConfiguration.saved_version)).scalar_one()
    publish(ConfigurationSaved(site_id))
    return version


def lock(site_id: int) -> None:
    """Lock the site's row, where there is one, until the commit, for a caller that writes by what it reads."""
    db.session.execute(state_query(site_id).with_for_update())


def unpublished_sites() -> list[int]:
    """Return the ids of the sites whose saved configuration is not served yet."""
    waiting = select(ServedConfiguration.site_id).where(
        ServedConfiguration.saved_version > ServedConfiguration.live_version
    )
    return list(db.session.scalars(waiting.order_by(ServedConfiguration.site_id)))


def live_versions() -> dict[int, int]:
    """Return the versions that are served, by the ids of their sites."""
    stored = select(ServedConfiguration.site_id, ServedConfiguration.live_version)
    return {row.site_id: row.live_version for row in db.session.execute(stored)}


def serving_state(site_id: int) -> ServedConfiguration | None:
    """Return the saved and the served version of a site; None before the first is saved."""
    return db.session.scalar(state_query(site_id))


def is_live(record: Versioned, state: ServedConfiguration | None) -> bool:
    """Whether shoppers are served the record as it is saved."""
    return not is_behind(state, record.words_version)


def is_behind(state: ServedConfiguration | None, version: int | None = None) -> bool:
    """Return whether that saved version, the latest for None, is not served yet. Every “not live yet” comes from here,
    so that a page and its rows agree."""
    saved, live = (state.saved_version, state.live_version) if state is not None else (0, 0)
    return (saved if version is None else version) > live


def state_query(site_id: int) -> Select[ServedConfiguration]:
    state = select(ServedConfiguration).where(ServedConfiguration.site_id == site_id)
    return state.execution_options(populate_existing=True)


def served(site_id: int) -> Served:
    """Return the serving configuration of a site as the database has it now, with the stop words, ranking, use of
    meaning and understanding that its settings name."""
    settings = settings_of(site_id)
    known = read_snapshot(site_id, stop_words_of(settings[STOP_WORDS]))
    mode = UnderstandingMode(settings[UNDERSTANDING])
    return replace(known, ranking=ranking_of(settings), by_meaning=settings[BY_MEANING], understanding=mode)


def read_snapshot(site_id: int, stop_words: frozenset[str] = frozenset()) -> Served:
    stored = ServedConfiguration
    columns = select(stored.live_version, stored.synonyms, stored.rules, stored.learned)
    row = db.session.execute(columns.where(stored.site_id == site_id)).one_or_none()
    if row is None:
        return Served(stop_words=stop_words)
    # Groups published until November 2026 named the synonyms “words”.
    groups = ({"synonyms": group.get("words"), **group} for group in row.synonyms)
    synonyms = SynonymSet.of(SynonymGroup.of_json(group, group["id"]) for group in groups)
    rules = RuleSet.of(map(rule_of_snapshot, row.rules))
    return Served(row.live_version, synonyms, rules, stop_words, learned=Learned.of_json(row.learned))


def served_names(site_id: int) -> dict[int, tuple[str, ...]]:
    """Return the names of levels and categories that each served rule has, by the ids of the rules."""
    rules = db.session.scalar(select(ServedConfiguration.rules).where(ServedConfiguration.site_id == site_id))
    return {rule["id"]: tuple(rule.get(NAMES, ())) for rule in rules or ()}


def rule_in_snapshot(rule: Rule) -> dict[str, Any]:
    """Return a stored rule as the snapshot has it: what differs from a new rule, since each process reads all rules at
    every change. The names of its levels and categories stand there, so that a search needs neither tree."""
    written = rule.as_json(for_shoppers=True)
    kept = {key: value for key, value in written.items() if value != NEW_RULE[key]}
    names = {NAMES: list(rule.names)} if rule.names else {}
    return {"id": rule.id, "term": rule.term} | kept | names


def rule_of_snapshot(stored: Mapping[str, Any]) -> Rule:
    rule = Rule.of_json(stored, stored["id"])
    return replace(rule, names=tuple(stored[NAMES])) if NAMES in stored else rule


@dataclass(frozen=True, slots=True)
class _Versions:
    read_at: datetime
    by_site: Mapping[int, int]


class ServingCache:
    """Reads the live versions at most once a second, and a site's configuration when its version is new; while the
    database does not answer, shops serve what they served. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._versions: _Versions | None = None
        self._served: dict[int, Served] = {}

    def served(
        self,
        clock: Clock,
        site_id: int,
        stop_words: Iterable[str] = (),
        ranking: RankingSettings = RankingSettings.DEFAULT,
        by_meaning: bool = False,
        understanding: UnderstandingMode = UnderstandingMode.OFF,
    ) -> Served:
        """Return the serving configuration of a site. `stop_words`, `ranking`, `by_meaning` and `understanding` as the
        settings of the site have them."""
        version = self._live_versions(clock.now()).get(site_id, 0)
        known = self._served.get(site_id, Served.NOTHING)
        if known.version != version:
            try:
                known = read_snapshot(site_id)
            except OperationalError:
                db.session.rollback()
            self._served[site_id] = known
        wanted = stop_words_of(stop_words)
        chosen = (wanted, ranking, by_meaning, understanding)
        if (known.stop_words, known.ranking, known.by_meaning, known.understanding) == chosen:
            return known
        return replace(known, stop_words=wanted, ranking=ranking, by_meaning=by_meaning, understanding=understanding)

    def _live_versions(self, now: datetime) -> Mapping[int, int]:
        """Return the live versions of all sites, by their ids. While the database does not answer, return those known,
        or none, so that search goes on without synonyms and rules rather than not at all."""
        known = self._versions
        if known is not None and abs(now - known.read_at) < FRESH:
            return known.by_site
        with self._lock:
            if self._versions is known:
                by_site = known.by_site if known is not None else {}
                try:
                    by_site = live_versions()
                except OperationalError:
                    db.session.rollback()
                self._versions = _Versions(now, by_site)
            return self._versions.by_site if self._versions is not None else {}
