"""Whether browsers accept the shop's certificate, and for how long, and the port to who reads it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

ENDS_SOON = timedelta(days=14)  # What renews certificates by itself does so a month ahead; two weeks of it failed.


class NoSecureConnection(Exception):
    """No browser would connect; the message is the reason, for the owner."""


class CertificateReader(Protocol):
    def valid_until(self, host: str, port: int) -> datetime:
        """Connect as a browser does and return when the certificate ends. How long that takes is up to the names' and
        the shop's servers: the caller sets a time limit. Raises NoSecureConnection."""
        ...


class NoCertificates:
    """The reader of certificates of processes that check none."""

    def valid_until(self, host: str, port: int) -> datetime:
        raise NoSecureConnection("certificates are not read here")


def certificate_fault(host: str, valid_until: datetime, now: datetime) -> str | None:
    """Return what is wrong with a certificate that is accepted today, None if nothing."""
    left = valid_until - now
    if left >= ENDS_SOON:
        return None
    days = "less than a day" if left.days < 1 else "1 day" if left.days == 1 else f"{left.days} days"
    return f"The certificate of {host} ends on {valid_until:%Y-%m-%d %H:%M} (UTC), in {days}."
