"""The roles that a user can hold on a site."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    MERCHANDISER = "MERCHANDISER"
    ADMIN = "ADMIN"
    SUPERADMIN = "SUPERADMIN"
    POS_AGENT = "POS_AGENT"
