"""The permissions of roles: one table, and the decorators by which every route declares its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import StrEnum
from functools import wraps
from typing import Any, TypeVar

from flask import Flask
from flask_login import current_user

from app.domain.shared.problems import Forbidden
from app.domain.sites.accounts import Role
from app.extensions import login_manager

View = TypeVar("View", bound=Callable[..., Any])
PUBLIC = "public"
SIGNED_IN = "signed_in"  # Declared by views that every user with a session may call, about what is their own.
DECLARED = "declared_permission"


class Permission(StrEnum):
    USE_ADMIN = "use_admin"
    MANAGE_SEARCH = "manage_search"
    MANAGE_CATALOGUE = "manage_catalogue"
    MANAGE_CONTENT = "manage_content"
    MANAGE_TAXONOMY = "manage_taxonomy"
    ACTIVATE_TAXONOMY = "activate_taxonomy"
    MANAGE_MERCHANDISING = "manage_merchandising"
    MANAGE_ORDERS = "manage_orders"
    MANAGE_POS = "manage_pos"
    USE_POS = "use_pos"
    MANAGE_USERS = "manage_users"
    MANAGE_SETTINGS = "manage_settings"
    MANAGE_PERSONAL_DATA = "manage_personal_data"
    SEE_MACHINE = "see_machine"
    MANAGE_SITES = "manage_sites"
    MANAGE_BACKUPS = "manage_backups"


_MERCHANDISER = frozenset(
    {
        Permission.USE_ADMIN,
        Permission.MANAGE_SEARCH,
        Permission.MANAGE_CATALOGUE,
        Permission.MANAGE_CONTENT,
        Permission.MANAGE_TAXONOMY,
        Permission.MANAGE_MERCHANDISING,
    }
)
_ADMIN = _MERCHANDISER | {
    Permission.ACTIVATE_TAXONOMY,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_POS,
    Permission.USE_POS,
    Permission.MANAGE_USERS,
    Permission.MANAGE_SETTINGS,
    Permission.MANAGE_PERSONAL_DATA,
    Permission.SEE_MACHINE,
}
ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.MERCHANDISER: _MERCHANDISER,
    Role.ADMIN: _ADMIN,
    Role.SUPERADMIN: _ADMIN | {Permission.MANAGE_SITES, Permission.MANAGE_BACKUPS},
    Role.POS_AGENT: frozenset({Permission.USE_POS}),
}

# Reasons for refusals that would otherwise puzzle people who may do nearly everything else.
WHO_MAY = {
    Permission.MANAGE_ORDERS: "Orders hold customers’ addresses; admins of this shop see them.",
    Permission.MANAGE_BACKUPS: "Backups hold all sites of the server; superadmins see them.",
}


def allowed(roles: Collection[Role], permission: Permission) -> bool:
    return any(permission in ROLE_PERMISSIONS[role] for role in roles)


def requires(permission: Permission) -> Callable[[View], View]:
    """Declare and check the permission of a view. Without a session it answers 401, a page by leading to signing in and
    back; without the permission it raises Forbidden."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if not current_user.is_authenticated:
                return login_manager.unauthorized()
            if not allowed(current_user.roles, permission):
                raise Forbidden(WHO_MAY.get(permission, "Your role on this site does not allow this."))
            return view(*args, **kwargs)

        setattr(checked, DECLARED, permission.value)
        return checked  # type: ignore[return-value]

    return decorate


def public(view: View) -> View:
    """Declare that every caller may call this route."""
    setattr(view, DECLARED, PUBLIC)
    return view


def check_every_route_declares(app: Flask) -> None:
    """Check that every route declares its permission, since a forgotten one must not be public. Raises RuntimeError."""
    silent = [name for name, view in app.view_functions.items() if name != "static" and not hasattr(view, DECLARED)]
    if silent:
        raise RuntimeError(f"Routes without a declared permission: {', '.join(sorted(silent))}.")
