"""Daily counts of what shoppers search for and what that leads to. Nothing here says who searched or from where."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Date, ForeignKey, Index, Integer, String, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.search_statistics.verdicts import Ending
from app.domain.shared.records import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.sites.models import ShopConfiguration
from app.extensions import Base


class CountColumns:
    """`searches` that were made and how many of them `found_nothing`; `followed` are those made while clicks were
    recorded and that no page answered, the denominator of the rates. `clicked`, `added_to_basket` and `ordered` count
    searches, not products; `revenue` is in minor units. `ruled` are searches to which a rule applied."""

    searches: Mapped[int] = mapped_column(Integer, default=0)
    found_nothing: Mapped[int] = mapped_column(Integer, default=0)
    followed: Mapped[int] = mapped_column(Integer, default=0)
    clicked: Mapped[int] = mapped_column(Integer, default=0)
    added_to_basket: Mapped[int] = mapped_column(Integer, default=0)
    ordered: Mapped[int] = mapped_column(Integer, default=0)
    revenue: Mapped[int] = mapped_column(BigInteger, default=0)
    ruled: Mapped[int] = mapped_column(Integer, default=0)


class SearchWordDay(CountColumns, Base):
    """Counts of one word (the whole query, folded) on one day of the site's time zone. The empty word stands for all
    words beyond a day's limit. `last_result_count` is how many products the latest search found, None where a page
    answered it, to which a rule sent it or which it found while no product did. `networks` counts each network once
    that searched for it on the day, however often it did."""

    __tablename__ = "search_word_days"
    __table_args__ = (Index(None, "site_id", "word", "day"),)

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    last_result_count: Mapped[int | None] = mapped_column(Integer)
    networks: Mapped[int] = mapped_column(Integer, default=0, server_default="0")


class SearchProductWeek(Base):
    """How often a product was opened from one search in the week that begins on a Monday, and then bought: where at
    least five visits opened it, and five orders bought it (gathering.py), of a site that learns from clicks. `weight`
    sums up, in hundredths, by how much each open counts for the place at which the product stood. The product may be
    gone."""

    __tablename__ = "search_product_weeks"
    __table_args__ = (
        Index(None, "site_id", "word", "week"),
        CheckConstraint("opens >= 5", name="opens_shared"),
        CheckConstraint("bought = 0 or bought >= 5", name="bought_shared"),
    )

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    week: Mapped[date] = mapped_column(Date, primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    product_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    opens: Mapped[int] = mapped_column(Integer, default=0)
    weight: Mapped[int] = mapped_column(Integer, default=0)
    bought: Mapped[int] = mapped_column(Integer, default=0)


class SearchDay(CountColumns, Base):
    """Totals of a day. `words` counts its different words."""

    __tablename__ = "search_days"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    words: Mapped[int] = mapped_column(Integer, default=0)


class SuggestionDay(Base):
    """How many lists of suggestions shoppers were `shown` on a day."""

    __tablename__ = "search_suggestion_days"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    shown: Mapped[int] = mapped_column(Integer, default=0)


class SearchWordWindow(CountColumns, Base):
    """Rolling sums of a word over the `days` days that end on `until` of the site's SearchWindow. `last_day` is that of
    its latest search."""

    __tablename__ = "search_word_windows"
    __table_args__ = (Index(None, "site_id", "days", "searches"), Index(None, "site_id", "days", "found_nothing"))

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    days: Mapped[int] = mapped_column(Integer, primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    last_result_count: Mapped[int | None] = mapped_column(Integer)
    last_day: Mapped[date] = mapped_column(Date)


class SearchWindow(Base):
    """Last day of a site's rolling windows."""

    __tablename__ = "search_windows"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    until: Mapped[date] = mapped_column(Date)


class SearchRephrasing(Base):
    """Visits of the week that begins on a Monday that searched `word`, opened nothing from it, then searched
    `next_word` and opened something: where at least five did (gathering.py)."""

    __tablename__ = "search_rephrasing_weeks"
    __table_args__ = (CheckConstraint("visits >= 5", name="visits_shared"),)

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    week: Mapped[date] = mapped_column(Date, primary_key=True)
    word: Mapped[str] = mapped_column(String(100), primary_key=True)
    next_word: Mapped[str] = mapped_column(String(100), primary_key=True)
    visits: Mapped[int] = mapped_column(Integer, default=0)


class CountedBatch(Base):
    """A batch that was counted, kept until it cannot be delivered again: a digest of its name, which begins with a
    time, and the day. Beside a day with one search, a time would say when that was made."""

    __tablename__ = "counted_batches"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime, index=True)


class SearchTermStart(Base):
    """The time since which a product has had a search term, which is stored folded."""

    __tablename__ = "search_term_starts"

    product_id: Mapped[int] = mapped_column(ForeignKey("products.id", ondelete="CASCADE"), primary_key=True)
    term: Mapped[str] = mapped_column(String(100), primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    since: Mapped[datetime] = mapped_column(UtcDateTime)


class RankingComparison(Base, ShopConfiguration):
    """A comparison of the ranking that shoppers are served with a candidate, `proposal`, in `share` percent of visits,
    through `last_day` of the site's time zone at most. `baseline` is what of the present ranking the candidate would
    replace. It runs until it has an `ending`; one at a time runs on a site. Web servers read it anew by the version of
    the shop's configuration, which its start and its end raise."""

    __tablename__ = "ranking_comparisons"
    __table_args__ = (
        Index(
            "ix_ranking_comparisons_running",
            "site_id",
            unique=True,
            sqlite_where=text("ended_at is null"),
            postgresql_where=text("ended_at is null"),
        ),
        Index(None, "site_id", "started_at"),
        CheckConstraint("share between 1 and 100", name="share_of_visits"),
        NEVER_REUSED,  # Cookies of shoppers name comparisons by their ids.
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    proposal: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    baseline: Mapped[dict[str, Any]] = mapped_column(JsonValue, default=dict)
    share: Mapped[int]
    started_at: Mapped[datetime] = mapped_column(UtcDateTime)
    last_day: Mapped[date] = mapped_column(Date)
    ended_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    ending: Mapped[str | None] = mapped_column(String(20))

    @property
    def is_final_look(self) -> bool:
        return self.ending is not None and Ending(self.ending).is_final_look


class RankingComparisonDay(Base):
    """How often on a day shoppers first opened a product of the present ranking, of the candidate, or one of neither
    (`ties`). Nothing here names a search or a product."""

    __tablename__ = "ranking_comparison_days"

    comparison_id: Mapped[int] = mapped_column(
        ForeignKey("ranking_comparisons.id", ondelete="CASCADE"), primary_key=True
    )
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), index=True)
    present: Mapped[int] = mapped_column(Integer, default=0)
    candidate: Mapped[int] = mapped_column(Integer, default=0)
    ties: Mapped[int] = mapped_column(Integer, default=0)
