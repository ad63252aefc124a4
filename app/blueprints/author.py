"""The signed-in user as the author of a change."""

from __future__ import annotations

from flask_login import current_user

from app.domain.shared.author import Author, Origin
from app.domain.sites.roles import Role
from app.ports import clock


def is_superadmin() -> bool:
    return Role.SUPERADMIN in current_user.roles


def current_author() -> Author:
    return Author(current_user.site_id, current_user.display_name, clock(), Origin.ADMIN)
