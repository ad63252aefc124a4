"""What other contexts follow up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionsEnded:
    """Sessions of a user ended, or stand no more since the password was changed."""

    user_id: int
