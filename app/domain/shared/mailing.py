"""The port to email: what is sent, and what sends it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class MailNotSent(Exception):
    """The mail was not taken; the message says why, for people, and names no address."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one person, in text and the same in HTML. `key` is the same however often the mail is sent."""

    to: str
    subject: str
    text: str
    html: str
    key: str


class Mailer(Protocol):
    def send(self, mail: Mail) -> None:
        """Send a mail within half a minute at most. Raises MailNotSent."""
        ...

    def forget(self, address: str) -> int:
        """Remove the mails to an address that are kept here; how many. Raises OSError."""
        ...


class NoMailer:
    """The mailer of a shop that sends no mail."""

    def send(self, mail: Mail) -> None:
        raise MailNotSent("No mail is set up.")

    def forget(self, address: str) -> int:
        return 0
