"""The port to email: what is sent, and what sends it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class MailNotSent(Exception):
    """The error that a mail could not be sent; its message is for people and names no address."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one person, in text and the same in HTML. `key` identifies the mail: it is the same at every try."""

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
        """Remove the mails to an address that this mailer keeps, and return their number. Raises OSError."""
        ...


class NoMailer:
    """The mailer of a shop that sends no mail."""

    def send(self, mail: Mail) -> None:
        raise MailNotSent("No mail is set up.")

    def forget(self, address: str) -> int:
        return 0
