"""Events of sites for other contexts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionsEnded:
    """Sessions of a user ended, or stand no more since the password was changed."""

    user_id: int
