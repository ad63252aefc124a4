"""The check of the shop's certificate, and the port to its reader. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

ENDS_SOON = timedelta(days=14)  # Automatic renewal happens a month ahead; by then it has failed for two weeks.


class NoSecureConnection(Exception):
    """No browser would connect; the message is the reason, for the owner."""


class CertificateReader(Protocol):
    def valid_until(self, host: str, port: int) -> datetime:
        """Connect as a browser does and return when the certificate ends. The caller sets a time limit, since name
        servers and the shop's server may be slow. Raises NoSecureConnection."""
        ...


class NoCertificates:
    """The reader of certificates of processes that check none."""

    def valid_until(self, host: str, port: int) -> datetime:
        raise NoSecureConnection("certificates are not read here")


def certificate_fault(host: str, valid_until: datetime, now: datetime) -> str | None:
    """Return the fault of a certificate that is accepted today, None where it does not end soon."""
    left = valid_until - now
    if left >= ENDS_SOON:
        return None
    days = "less than a day" if left.days < 1 else "1 day" if left.days == 1 else f"{left.days} days"
    return f"The certificate of {host} ends on {valid_until:%Y-%m-%d %H:%M} (UTC), in {days}."
