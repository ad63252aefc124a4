"""Events of sites for other contexts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionsEnded:
    """Sessions of a user ended, or became invalid by a new password."""

    user_id: int


@dataclass(frozen=True, slots=True)
class SiteCreated:
    """A site was made. It has nothing yet but its host and name."""

    site_id: int
