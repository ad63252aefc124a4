"""The port to the channels that take alerts to people, and the notice that they send. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from app.domain.alerts.causes import Cause
from app.domain.shared.times import rfc3339


class NotSent(Exception):
    """The channel did not take the notice; the message is the reason, for the owner."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The notice that an alert was raised or has ended, or a test. `id` is the same however often the notice is sent;
    `site` is the shop's host, None for the whole machine."""

    id: str
    cause: Cause
    site: str | None
    subject: str
    detail: str
    first_seen_at: datetime
    last_seen_at: datetime
    ended_at: datetime | None = None
    is_test: bool = False

    @property
    def event(self) -> str:
        if self.is_test:
            return "alert_test"
        return "alert_ended" if self.ended_at else "alert_raised"

    @property
    def sentence(self) -> str:
        return "This is a test of the shop’s alerts; nothing is wrong." if self.is_test else self.cause.sentence

    @property
    def title(self) -> str:
        """One line, for the subject of a mail."""
        prefix = "Test" if self.is_test else "Over" if self.ended_at else self.cause.severity.value.capitalize()
        return f"{prefix}: {self.sentence} ({self.site or 'whole server'})"

    @property
    def text(self) -> str:
        """The body of a mail."""
        about = f"{self.subject}: {self.detail}" if self.subject else self.detail
        times = f"First seen {rfc3339(self.first_seen_at)}, last seen {rfc3339(self.last_seen_at)}."
        news = f"Resolved {rfc3339(self.ended_at)}." if self.ended_at else f"What to do: {self.cause.advice}"
        paragraphs = [self.sentence, about] if self.is_test else [self.sentence, about, news, times]
        return "\n\n".join(paragraphs) + "\n"

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "event": self.event,
            "cause": self.cause.key,
            "severity": self.cause.severity.value,
            "site": self.site,
            "subject": self.subject,
            "sentence": self.sentence,
            "detail": self.detail,
            "advice": self.cause.advice,
            "firstSeenAt": rfc3339(self.first_seen_at),
            "lastSeenAt": rfc3339(self.last_seen_at),
            "endedAt": rfc3339(self.ended_at) if self.ended_at else None,
        }


class AlertChannel(Protocol):
    @property
    def name(self) -> str: ...

    def send(self, notice: Notice) -> None:
        """Send a notice within half a minute at most. Raises NotSent."""
        ...
