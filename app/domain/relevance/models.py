"""Tables of search relevance: synonyms and their suggestions, search rules, replays, golden searches, judgement lists,
and what was learned from clicks."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, Date, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.relevance.synonym_definition import LIVE, SynonymState, fingerprint
from app.domain.search.models import ServedConfiguration
from app.domain.search.serving.configuration import is_live
from app.domain.search.serving.rules import Banner, Rule
from app.domain.search.serving.synonyms import SynonymGroup, SynonymType
from app.domain.shared.clock import rfc3339
from app.domain.shared.records import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.work.models import LeasedWork, state_known
from app.extensions import Base

ALL_SEARCHES = ""  # In place of a search: all of them.


class Synonym(Base):
    """A group of words. `root` is the word that finds the others where `type` is ONE_WAY, None where it is EQUIVALENT.
    `fingerprint` is the same for every way to write the group down; `suggested_as` are the digests of the words that it
    was suggested with, before people edited them. By both a suggestion that was decided is recognised. `words_version`
    is the site's `saved_version` of its latest change; `live_since` is when the group was first served to shoppers with
    these words."""

    __tablename__ = "synonyms"
    __table_args__ = (
        UniqueConstraint("site_id", "fingerprint"),
        Index(None, "site_id", "status", "id"),
        CheckConstraint(f"type in ({', '.join(map(repr, map(str, SynonymType)))})", name="type_known"),
        CheckConstraint("status in ('LIVE', 'SUGGESTED', 'REJECTED')", name="status_known"),
        CheckConstraint("source in ('MANUAL', 'AI', 'MINED')", name="source_known"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    type: Mapped[str] = mapped_column(String(12))
    root: Mapped[str | None] = mapped_column(String(200))
    words: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    status: Mapped[str] = mapped_column(String(12), default="LIVE")
    source: Mapped[str] = mapped_column(String(8), default="MANUAL")
    evidence: Mapped[dict[str, Any] | None] = mapped_column(JsonValue)
    fingerprint: Mapped[str] = mapped_column(String(64))
    suggested_as: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    revision: Mapped[int] = mapped_column(default=1)
    words_version: Mapped[int] = mapped_column(default=0)
    live_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))

    @property
    def group(self) -> SynonymGroup:
        return SynonymGroup.of_row(self, id=self.id)

    def write(self, group: SynonymGroup) -> None:
        """Store a group that is checked."""
        group.write_row(self)
        self.fingerprint = fingerprint(group)

    @property
    def record(self) -> dict[str, Any]:
        """The whole record, as bundles and the activity log store it; equal while a synonym is unchanged."""
        return self.group.as_json() | SynonymState.of_row(self).as_json()

    def is_synced(self, state: ServedConfiguration | None) -> bool:
        """Whether the synonym is served as it is saved; true of any that is not live."""
        return self.status != LIVE or is_live(self, state)

    def as_json(self, state: ServedConfiguration | None) -> dict[str, Any]:
        """The JSON of contracts: Synonyms."""
        changed = {"updatedBy": self.updated_by, "updatedAt": rfc3339(self.updated_at)}
        head = {"id": str(self.id)} | self.record
        return head | {"synced": self.is_synced(state), "revision": self.revision} | changed


class RejectedSuggestion(Base):
    """A suggestion that was rejected so long ago that its words are gone: a hash of them, with the key of the hash."""

    __tablename__ = "rejected_suggestions"

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    key: Mapped[str] = mapped_column(String(32))
    digest: Mapped[str] = mapped_column(String(64))


class SuggestionRun(LeasedWork, Base):
    """The latest search for synonyms of a site: who requested it, how it ended, and what a source that failed said.
    `compared` counts the searches without results that were looked at, `added` the suggestions that came of them."""

    __tablename__ = "suggestion_runs"
    queue = "builds"
    __table_args__ = (state_known(),)

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    added: Mapped[int] = mapped_column(default=0)
    compared: Mapped[int] = mapped_column(default=0)


class SearchRule(Base):
    """A rule for searches that meet `term`, or one of `other_terms`, in the way of `match`, a `Match`. `categories`
    are paths of the primary tree. `pins` are
    `{"sku", "position"}` with 1-based positions, groups are as in the JSON of a rule; `starts_at` and `ends_at` bound
    when it applies. `words_version` is the site's `saved_version` of its latest change. `live_since` is when its
    present effect was first served, None while it is paused; before `starts_at` it does nothing."""

    __tablename__ = "search_rules"
    __table_args__ = (UniqueConstraint("site_id", "match", "normalized_term"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    term: Mapped[str] = mapped_column(String(200))
    normalized_term: Mapped[str] = mapped_column(String(200))
    pins: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list)
    boosts: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    buries: Mapped[list[str]] = mapped_column(JsonValue, default=list)
    redirect_url: Mapped[str | None] = mapped_column(String(500))
    banner_text: Mapped[str | None] = mapped_column(String(500))
    banner_link_url: Mapped[str | None] = mapped_column(String(500))
    enabled: Mapped[bool] = mapped_column(default=True)
    starts_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ends_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    note: Mapped[str] = mapped_column(Text, default="")
    match: Mapped[str] = mapped_column(String(12), default="exact", server_default="exact")
    other_terms: Mapped[list[str]] = mapped_column(JsonValue, default=list, server_default="[]")
    levels: Mapped[list[str]] = mapped_column(JsonValue, default=list, server_default="[]")
    categories: Mapped[list[str]] = mapped_column(JsonValue, default=list, server_default="[]")
    priority: Mapped[int] = mapped_column(default=100, server_default="100")
    boost_groups: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list, server_default="[]")
    bury_groups: Mapped[list[dict[str, Any]]] = mapped_column(JsonValue, default=list, server_default="[]")
    revision: Mapped[int] = mapped_column(default=1)
    words_version: Mapped[int] = mapped_column(default=0)
    live_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))

    @property
    def banner(self) -> Banner | None:
        return Banner(self.banner_text, self.banner_link_url) if self.banner_text else None

    @property
    def value(self) -> Rule:
        return Rule.of_row(self, id=self.id)

    def as_json(self, synced: bool) -> dict[str, Any]:
        """The JSON of contracts: Rules; `synced` says whether shoppers are served the rule as it is."""
        head = {"id": str(self.id), "term": self.term, "normalizedTerm": self.normalized_term}
        tail = {"synced": synced, "revision": self.revision, "updatedBy": self.updated_by}
        return head | self.value.as_json() | tail | {"updatedAt": rfc3339(self.updated_at)}


class SearchReplay(LeasedWork, Base):
    """The top searches of the last 30 days, answered before and after a change that is not saved. `proposal` is that
    change, `report` what it would do; `done` and `total` count searches."""

    __tablename__ = "search_replays"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    proposal: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    report: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)


class GoldenSearch(Base):
    """For `query`, the product `sku` is among the first `within`. `rank` and `passes` are of the latest check, None
    before the first; `failing_since` is when it began to fail."""

    __tablename__ = "golden_searches"
    __table_args__ = (
        UniqueConstraint("site_id", "query", "sku"),
        CheckConstraint("within > 0", name="within_one"),
        {"sqlite_autoincrement": True},  # Ids are never reused: the activity log names records by them.
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    query: Mapped[str] = mapped_column(String(200))
    sku: Mapped[str] = mapped_column(String(64))
    within: Mapped[int] = mapped_column(default=5)
    passes: Mapped[bool | None]
    rank: Mapped[int | None]
    checked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    failing_since: Mapped[datetime | None] = mapped_column(UtcDateTime)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))


class JudgementList(Base):
    """Searches with rated products. `combination` says how the ratings of several people become one, `in_previews`
    whether previews of changes are judged by the list, which one of a site may be; a rebuild by which its NDCG falls by
    more than `largest_drop` thousandths is blocked. `pool_size` is how many products of an order are shown to be
    rated; those of `candidate`, a proposal as JSON, are shown beside those of today. `ratings_version` counts the
    changes of searches and ratings, `revision` those of everything else."""

    __tablename__ = "judgement_lists"
    __table_args__ = (
        UniqueConstraint("site_id", "name"),
        CheckConstraint("combination in ('mean', 'median')", name="combination_known"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    combination: Mapped[str] = mapped_column(String(8), default="mean")
    in_previews: Mapped[bool] = mapped_column(default=False)
    largest_drop: Mapped[int | None]
    pool_size: Mapped[int] = mapped_column(default=10)
    candidate: Mapped[dict[str, Any] | None] = mapped_column(JsonValue)
    ratings_version: Mapped[int] = mapped_column(default=1)
    revision: Mapped[int] = mapped_column(default=1)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_by: Mapped[str] = mapped_column(String(100))


class JudgedSearch(Base):
    """A search of a judgement list."""

    __tablename__ = "judged_searches"
    __table_args__ = (UniqueConstraint("list_id", "normalized_query"), NEVER_REUSED)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    list_id: Mapped[int] = mapped_column(ForeignKey("judgement_lists.id", ondelete="CASCADE"))
    query: Mapped[str] = mapped_column(String(200))
    normalized_query: Mapped[str] = mapped_column(String(200))


class ProductRating(Base):
    """How well a product answers a search, from 0 to 3, by one rater. Ratings from files have no `rater_id`, and
    `rater` is empty; so is `rater_id` once the user is gone."""

    __tablename__ = "product_ratings"
    __table_args__ = (
        UniqueConstraint("search_id", "sku", "rater_id"),
        CheckConstraint("rating between 0 and 3", name="rating_known"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    search_id: Mapped[int] = mapped_column(ForeignKey("judged_searches.id", ondelete="CASCADE"))
    sku: Mapped[str] = mapped_column(String(64))
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    rater: Mapped[str] = mapped_column(String(100), default="")
    rating: Mapped[int]
    rated_at: Mapped[datetime] = mapped_column(UtcDateTime)


class JudgementRun(LeasedWork, Base):
    """The NDCG of every search of a list, computed in the background: as things are, or before and after the change
    `proposal` that is not saved. `depends_on` names the state of index, configuration and ratings that it is of."""

    __tablename__ = "judgement_runs"
    queue = "builds"
    __table_args__ = (
        Index(None, "list_id", "created_at"),
        Index(None, "site_id"),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    list_id: Mapped[int] = mapped_column(ForeignKey("judgement_lists.id", ondelete="CASCADE"))
    proposal: Mapped[dict[str, Any] | None] = mapped_column(JsonValue)
    depends_on: Mapped[str] = mapped_column(String(64), default="")
    report: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)


class LearnedWord(Base):
    """What was learned for one search, in the form of serving/learned.py. `opens` is how often its products were
    opened."""

    __tablename__ = "learned_searches"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    learned: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    opens: Mapped[int] = mapped_column(Integer, default=0)
    learned_at: Mapped[datetime] = mapped_column(UtcDateTime)


class ForgottenWord(Base):
    """A search, or ALL, that learns nothing from the counts of the weeks that begin on or before `through`. The search
    is kept as long as there may be such counts."""

    __tablename__ = "forgotten_searches"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    through: Mapped[date] = mapped_column(Date)
    forgotten_at: Mapped[datetime] = mapped_column(UtcDateTime)
    forgotten_by: Mapped[str] = mapped_column(String(100))
