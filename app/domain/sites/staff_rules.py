"""Rules for changes by one member of staff to another. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from app.domain.shared.problems import Problem
from app.domain.sites.roles import Role

NOT_ADDABLE = "This address cannot be added here; ask a superadmin."
ORDER = (Role.MERCHANDISER, Role.ADMIN, Role.POS_AGENT, Role.SUPERADMIN)


@dataclass(frozen=True, slots=True)
class StaffRights:
    """The rights of an actor (`actor_*`) to change a user. `elsewhere` says that the user also works for another
    shop."""

    actor_id: int
    actor_roles: frozenset[Role]
    user_id: int
    user_roles: frozenset[Role]
    elsewhere: bool = False

    @property
    def actor_is_superadmin(self) -> bool:
        return Role.SUPERADMIN in self.actor_roles

    @property
    def is_oneself(self) -> bool:
        return self.actor_id == self.user_id

    @property
    def may_change_roles(self) -> bool:
        """Whether the actor may change the user's roles: a superadmin's only as a superadmin, and never one's own."""
        return not self.is_oneself and (self.actor_is_superadmin or Role.SUPERADMIN not in self.user_roles)

    @property
    def may_change_account(self) -> bool:
        """Whether the actor may change name, password and sign-in. These hold on every shop, so only a superadmin may
        where the user also works for another one."""
        return self.may_change_roles and (self.actor_is_superadmin or not self.elsewhere)

    @property
    def why_not(self) -> str | None:
        if self.is_oneself:
            return "You cannot change your own roles. Change your password in the menu under your name."
        if not self.may_change_roles:
            return "A superadmin can only be changed by a superadmin."
        if not self.may_change_account:
            return "They also work for another shop, so only a superadmin can change their name, password or sign-in."
        return None


def grantable(actor_roles: Collection[Role]) -> tuple[Role, ...]:
    """Return the roles that an actor may grant, in order: SUPERADMIN only for a superadmin."""
    return tuple(role for role in ORDER if role is not Role.SUPERADMIN or Role.SUPERADMIN in actor_roles)


def may_adopt(actor_roles: Collection[Role]) -> bool:
    """Whether the actor may give roles to a known user. The person who chose that user's password could sign in with
    the new roles, so an admin of one shop cannot judge it."""
    return Role.SUPERADMIN in actor_roles


def role_problems(wanted: Collection[str], actor_roles: Collection[Role], some: bool = False) -> list[Problem]:
    """Return the problems of chosen roles. `some`: at least one role is needed."""
    allowed = {role.value for role in grantable(actor_roles)}
    refused = sorted(set(wanted) - allowed)
    problems = [Problem("role_not_allowed", f"You cannot give the role {name[:40]!r}.", "#/role") for name in refused]
    if some and not wanted:
        problems.append(Problem("required", "Choose at least one role.", "#/role"))
    return problems
