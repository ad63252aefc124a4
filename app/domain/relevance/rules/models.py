"""Rules of a site: what happens when a shopper searches a certain term."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from app.domain.search.serving.rules import Banner, PinnedSku, Rule, normalized_term
from app.domain.shared.columns import NEVER_REUSED, JsonValue, UtcDateTime
from app.domain.shared.times import rfc3339
from app.extensions import Base

AS_IN_A_RULE = ("term", "redirect_url", "enabled", "starts_at", "ends_at", "note")  # Columns that need no conversion.


class SearchRule(Base):
    """A rule for searches of exactly `term`. `pins` are `{"sku", "position"}` with 1-based positions; `starts_at` and
    `ends_at` bound when it applies. `words_version` is the site's `saved_version` of its latest change. `live_since` is
    when its present effect was first served, None while it is paused; before `starts_at` it does nothing."""

    __tablename__ = "search_rules"
    __table_args__ = (UniqueConstraint("site_id", "normalized_term"), NEVER_REUSED)

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
        return Rule(
            pins=tuple(PinnedSku(pin["sku"], pin["position"]) for pin in self.pins),
            boosts=tuple(self.boosts),
            buries=tuple(self.buries),
            banner=self.banner,
            id=self.id,
            **{name: getattr(self, name) for name in AS_IN_A_RULE},
        )

    def write(self, rule: Rule) -> None:
        """Store a rule that is checked."""
        for name in AS_IN_A_RULE:
            setattr(self, name, getattr(rule, name))
        self.pins = [{"sku": pin.sku, "position": pin.position} for pin in rule.pins]
        self.boosts, self.buries = list(rule.boosts), list(rule.buries)
        banner = rule.banner
        self.banner_text, self.banner_link_url = (banner.text, banner.link_url) if banner else (None, None)
        self.normalized_term = normalized_term(rule.term)

    def as_json(self, synced: bool) -> dict[str, Any]:
        """The JSON of contracts: Rules; `synced` says whether shoppers are served the rule as it is."""
        head = {"id": str(self.id), "term": self.term, "normalizedTerm": self.normalized_term}
        tail = {"synced": synced, "revision": self.revision, "updatedBy": self.updated_by}
        return head | self.value.as_json() | tail | {"updatedAt": rfc3339(self.updated_at)}
