"""Tables of how a site presents itself to search engines."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import Date, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.shared.records import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.work.models import LeasedWork, OfMachine, state_known
from app.extensions import Base


def _one_unfinished(name: str, *more: str) -> Index:
    """Return the index that allows one unfinished row of a site and `more` columns."""
    unfinished = text("state in ('waiting', 'running')")
    return Index(name, "site_id", *more, unique=True, sqlite_where=unfinished, postgresql_where=unfinished)


class SitemapBuild(OfMachine, LeasedWork, Base):
    """A run that writes a site's sitemap on a machine, each of which serves its own; `done` counts the addresses
    written, in so many `files`. `left_out` counts entries that the generator rejected, the first of which stand in
    `warnings`, one a line. While `search_was_away`, landing pages are missing and empty categories are listed."""

    __tablename__ = "sitemap_builds"
    queue = "builds"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        _one_unfinished("uq_sitemap_builds_unfinished", "machine"),
        state_known(),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    files: Mapped[int] = mapped_column(default=0)
    left_out: Mapped[int] = mapped_column(default=0)
    warnings: Mapped[str] = mapped_column(Text, default="")
    search_was_away: Mapped[bool] = mapped_column(default=False)


class SiteCheck(LeasedWork, Base):
    """A crawl of a site through its own pages; `done` of `total` counts addresses, `findings` what it found, `counts`
    the same by kind, `unvisited` the links to addresses that were more than a check reads. `progress` is the state from
    which one that is under way goes on."""

    __tablename__ = "site_checks"
    __table_args__ = (
        Index(None, "site_id", "created_at"),
        _one_unfinished("uq_site_checks_unfinished"),
        state_known(),
    )

    queue = "builds"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    findings: Mapped[int] = mapped_column(default=0)
    counts: Mapped[dict[str, int]] = mapped_column(JsonValue, default=dict)
    unvisited: Mapped[int] = mapped_column(default=0)
    progress: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)


class SiteCheckFinding(Base):
    """A contradiction that a site check found. `url` is the address that it is about, `linked_from` a page that leads
    there."""

    __tablename__ = "site_check_findings"
    __table_args__ = (Index(None, "check_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    check_id: Mapped[str] = mapped_column(ForeignKey("site_checks.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(40))
    url: Mapped[str] = mapped_column(String(2000))
    linked_from: Mapped[str] = mapped_column(String(2000), default="")
    detail: Mapped[str] = mapped_column(String(1000), default="")


class CrawlerHits(Base):
    """The number of requests of a crawler family to addresses of a site that are not indexable, on a day, by the
    parameter that decided so (empty for other reasons). Holds no address and no IP."""

    __tablename__ = "crawler_hits"

    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(Date, primary_key=True)
    family: Mapped[str] = mapped_column(String(32), primary_key=True)
    parameter: Mapped[str] = mapped_column(String(64), primary_key=True, default="")
    hits: Mapped[int] = mapped_column(default=0)


class Redirect(Base):
    """An address of a site that has no page any more, and where its visitors are sent (app/domain/seo/redirects).
    `old_path` is in lower case, without parameters; `new_path` a path of the site, or an absolute address elsewhere;
    `new_query` the parameters of the new address. `reach` and `source` are a Reach and a Source. `revision` rises with
    every change. `hits` are those who were sent on, the last of them on the day `last_hit_on` of the site."""

    __tablename__ = "redirects"
    __table_args__ = (
        UniqueConstraint("site_id", "old_path"),
        Index(None, "site_id", "new_path"),
        Index(None, "site_id", "updated_at", "id"),
        NEVER_REUSED,
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    site_id: Mapped[int] = mapped_column(ForeignKey("sites.id", ondelete="CASCADE"))
    old_path: Mapped[str] = mapped_column(String(1200))
    new_path: Mapped[str] = mapped_column(String(1200))
    new_query: Mapped[str] = mapped_column(String(500), default="")
    reach: Mapped[str] = mapped_column(String(10))
    source: Mapped[str] = mapped_column(String(20))
    updated_by: Mapped[str] = mapped_column(String(100), default="")
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    revision: Mapped[int] = mapped_column(default=1)
    hits: Mapped[int] = mapped_column(default=0, server_default="0")
    last_hit_on: Mapped[date | None]
