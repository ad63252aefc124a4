"""The checks for a recent backup and for a certificate that does not end soon, and the port to the reader of
certificates. Pure: the folder is read by app/jobs/safeguards.py."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

AHEAD = timedelta(days=1)  # A file dated further ahead says nothing of its age; time zones differ by less.
ENDS_SOON = timedelta(days=14)  # Automatic renewal happens a month ahead; by then it has failed for two weeks.


def backup_fault(folder: str, newest: datetime | None, now: datetime, longest: timedelta) -> str | None:
    """Return the fault of a backup folder, None where its newest file is recent enough. `newest` is the time of that
    file, None without a file."""
    if newest is None:
        return f"There is no file in {folder} or the folders in it; empty ones do not count."
    if newest - now > AHEAD:
        return f"The newest file in {folder} is dated {_format_minute(newest)}, which is in the future."
    if now - newest <= longest:
        return None
    allowed = f"at most {_format_days(longest)} {'is' if longest.days == 1 else 'are'} allowed"
    return f"The newest file in {folder} is of {_format_minute(newest)}, {_format_days(now - newest)} ago; {allowed}."


def _format_minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} (UTC)"


def _format_days(age: timedelta) -> str:
    return "1 day" if age.days == 1 else f"{age.days} days"


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
