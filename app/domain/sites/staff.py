"""The members of a shop's staff: what one may change of another, and listing, inviting and changing them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select

from app.domain.shared.author import Author, Origin
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Forbidden, Invalid, Problem
from app.domain.shared.records import contains, existing, flush_or_conflict
from app.domain.shared.text import line_problems, one_line
from app.domain.sites import accounts, activity, api_sessions, personal_tokens, second_factors
from app.domain.sites.accounts import Role, password_problems
from app.domain.sites.models import RoleGrant, SignInSession, User
from app.domain.sites.sign_in_sessions import SignedIn, close_sessions_of
from app.extensions import db

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


@dataclass(frozen=True, slots=True)
class Member:
    """A user who holds a role on the shop; one without a password was invited. `seen_at` is when one of the user's
    browser sessions was last used, None without a session."""

    user_id: int
    email: str
    display_name: str
    enabled: bool
    roles: tuple[Role, ...]
    rights: StaffRights
    seen_at: datetime | None = None
    has_password: bool = True
    has_second_factor: bool = False


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


def members(actor: SignedIn) -> list[Member]:
    """Return all members of the shop that the actor works on, by name; four queries however many there are."""
    here = select(RoleGrant.user_id).where(RoleGrant.site_id == actor.site_id)
    users = db.session.scalars(select(User).where(User.id.in_(here)).order_by(User.display_name, User.id)).all()
    return _members(actor, users)


def find_users(site_id: int, words: str, limit: int) -> Sequence[User]:
    """Return the first users who hold a role on the shop and have the words in their name or email address, by name."""
    here = select(RoleGrant.user_id).where(RoleGrant.site_id == site_id)
    has_words = or_(contains(User.display_name, words), contains(User.email, words))
    query = select(User).where(User.id.in_(here), has_words)
    return db.session.scalars(query.order_by(User.display_name, User.id).limit(limit)).all()


def member(actor: SignedIn, user_id: int) -> Member:
    """Return a member of the shop's staff. Raises NotFound for a user who holds no role on the shop."""
    return _members(actor, [_user(actor.site_id, user_id)])[0]


def invite(
    clock: Clock, memory_kib: int, actor: SignedIn, email: str, name: str, password: str, roles: Collection[str]
) -> tuple[User, bool]:
    """Add a user with roles on the actor's shop; return the user, and whether they were known before. Only a superadmin
    adds a user who is known: they keep name and password, which another shop's admin may have chosen. Raises Invalid
    with every problem; that an address is taken is said only when all else is right, so that it cannot be probed
    without adding."""
    known = accounts.find_user(email)
    adopted = _user_to_adopt(actor, known)
    if problems := invitation_problems(actor, email, name, password, roles):
        raise Invalid(problems)
    if known is not None and adopted is None:
        raise Invalid.one("address_not_addable", NOT_ADDABLE, "#/email")
    user = adopted or accounts.create_user(clock, memory_kib, email, one_line(name), password)
    for role in roles:
        accounts.grant(user, actor.site_id, Role(role))
    _note_added(_author(clock, actor), user, roles)
    return user, adopted is not None


def invitation_problems(actor: SignedIn, email: str, name: str, password: str, roles: Collection[str]) -> list[Problem]:
    """Return all problems that can be found before a user is added."""
    problems = role_problems(roles, actor.roles, some=True)
    if _user_to_adopt(actor, accounts.find_user(email)) is None:
        problems += [*accounts.user_problems(email.strip(), name), *password_problems(password)]
    return problems


def _user_to_adopt(actor: SignedIn, known: User | None) -> User | None:
    return known if may_adopt(actor.roles) else None


def change(
    clock: Clock, actor: SignedIn, user_id: int, name: str, roles: Collection[str], enabled: bool
) -> tuple[User, bool]:
    """Change a member's roles, name and sign-in; return the user, and whether anything changed. Without a role here
    they are no member any more. Raises NotFound, Forbidden, and Invalid with every problem."""
    found = member(actor, user_id)
    if not found.rights.may_change_roles:
        raise Forbidden(found.rights.why_not or "You cannot change this user.")
    if problems := [
        *role_problems(roles, actor.roles),
        *line_problems(name, "The name", 100, "#/displayName", required=True),
    ]:
        raise Invalid(problems)
    user = _user(actor.site_id, user_id)
    before = _facts(found.display_name, [role.value for role in found.roles], found.enabled)
    held = _replace_roles(clock, user, actor.site_id, {Role(role) for role in roles})
    if found.rights.may_change_account:
        user.display_name, user.enabled = one_line(name), enabled
    after = _facts(user.display_name, held, user.enabled)
    if not user.enabled:
        api_sessions.end_of_user(clock, user.id)
        close_sessions_of(user.id)
        personal_tokens.revoke_tokens_of(clock, user.id)
    if after != before:
        _note_changed(_author(clock, actor), user, before, after)
    return user, after != before


def holds_just(user: User, site_id: int, roles: Collection[Role]) -> bool:
    """Whether `set_roles` with these roles would change nothing."""
    here, elsewhere = _granted_roles(user.id, site_id)
    return here | elsewhere == {*roles} | elsewhere


def set_roles(author: Author, user: User, roles: Collection[Role]) -> None:
    """Make these the user's roles on the author's site, and log it. Whether the author may is the caller's to check.
    Raises Conflict."""
    held_before = accounts.roles_of(user.id, author.site_id)
    before = _facts(user.display_name, held_before, user.enabled)
    held = _replace_roles(author.clock, user, author.site_id, {*roles})
    if not held_before:
        _note_added(author, user, held)
    elif (after := _facts(user.display_name, held, user.enabled)) != before:
        _note_changed(author, user, before, after)


def reset_password(clock: Clock, memory_kib: int, actor: SignedIn, user_id: int, password: str) -> User:
    """Set a new password, which ends all sessions of the user. Raises NotFound, Forbidden, Invalid."""
    found = member(actor, user_id)
    if not found.rights.may_change_account:
        raise Forbidden(found.rights.why_not or "You cannot change this user.")
    user = _user(actor.site_id, user_id)
    accounts.set_password(memory_kib, user, password)
    _note(_author(clock, actor), user, "user.password", f"Set a new password for {user.display_name}")
    return user


def turn_off_second_factor(clock: Clock, actor: SignedIn, user_id: int) -> User:
    """Turn the second factor of a member off who has neither the phone nor a recovery code any more. Raises NotFound,
    Forbidden, Conflict."""
    found = member(actor, user_id)
    if not found.rights.may_change_account:
        raise Forbidden(found.rights.why_not or "You cannot change this user.")
    user = _user(actor.site_id, user_id)
    second_factors.turn_off(_author(clock, actor), user)
    return user


def _members(actor: SignedIn, users: Collection[User]) -> list[Member]:
    ids = [user.id for user in users]
    grants: dict[int, list[tuple[str, int]]] = {user_id: [] for user_id in ids}
    query = select(RoleGrant.user_id, RoleGrant.role, RoleGrant.site_id).where(RoleGrant.user_id.in_(ids))
    for user_id, role, site_id in db.session.execute(query):
        grants[user_id].append((role, site_id))
    seen, with_second_factor = _last_seen(ids), second_factors.users_with(ids)
    return [_member(actor, user, grants[user.id], seen.get(user.id), user.id in with_second_factor) for user in users]


def _member(
    actor: SignedIn, user: User, grants: list[tuple[str, int]], seen_at: datetime | None, has_second_factor: bool
) -> Member:
    roles = accounts.roles_among(grants, actor.site_id)
    rights = StaffRights(
        actor_id=actor.user_id,
        actor_roles=actor.roles,
        user_id=user.id,
        user_roles=roles,
        elsewhere=any(site_id != actor.site_id for _, site_id in grants),
    )
    return Member(
        user.id,
        user.email,
        user.display_name,
        user.enabled,
        tuple(sorted(roles)),
        rights,
        seen_at,
        has_password=user.password_hash is not None,
        has_second_factor=has_second_factor,
    )


def _last_seen(user_ids: list[int]) -> dict[int, datetime]:
    query = select(SignInSession.user_id, func.max(SignInSession.last_seen_at))
    rows = db.session.execute(query.where(SignInSession.user_id.in_(user_ids)).group_by(SignInSession.user_id))
    return {user_id: seen_at for user_id, seen_at in rows}


def _user(site_id: int, user_id: int) -> User:
    here = select(RoleGrant.user_id).where(RoleGrant.site_id == site_id)
    user = db.session.scalar(select(User).where(User.id == user_id, User.id.in_(here)))
    return existing(user, "User not found.")


def _replace_roles(clock: Clock, user: User, site_id: int, wanted: set[Role]) -> list[Role]:
    """Replace the user's roles on the site; return those that count there afterwards, sorted. A superadmin's may stand
    on another site and stays there. A user who lost a role must sign in to the till anew, and the access tokens of one
    who lost all are revoked. Raises Conflict."""
    before = accounts.roles_of(user.id, site_id)
    user.grants = [grant for grant in user.grants if grant.site_id != site_id or Role(grant.role) in wanted]
    kept = accounts.roles_among(((grant.role, grant.site_id) for grant in user.grants), site_id)
    user.grants += [RoleGrant(user_id=user.id, site_id=site_id, role=role.value) for role in sorted(wanted - kept)]
    flush_or_conflict("Another user changed this user’s roles at the same moment. Nothing was saved.")
    held = kept | wanted
    if not held.issuperset(before):
        api_sessions.end_of_user(clock, user.id)
    if not held:
        personal_tokens.revoke_tokens_of(clock, user.id, site_id)
    return sorted(held)


def _granted_roles(user_id: int, site_id: int) -> tuple[set[Role], set[Role]]:
    """Return the roles that were granted on the site, and those granted elsewhere that count here, too."""
    query = select(RoleGrant.role, RoleGrant.site_id).where(RoleGrant.user_id == user_id)
    grants = [(Role(role), granted_at) for role, granted_at in db.session.execute(query)]
    here = {role for role, granted_at in grants if granted_at == site_id}
    return here, {role for role, granted_at in grants if granted_at != site_id and role is Role.SUPERADMIN}


def _facts(name: str, roles: Collection[str], enabled: bool) -> dict[str, object]:
    return {"displayName": name, "roles": sorted(roles), "enabled": enabled}


def _author(clock: Clock, actor: SignedIn) -> Author:
    return Author(actor.site_id, actor.display_name, clock, Origin.ADMIN)


def _note_added(author: Author, user: User, roles: Collection[str]) -> None:
    _note(author, user, "user.add", f"Added the user {user.display_name}", after={"roles": sorted(roles)})


def _note_changed(author: Author, user: User, before: object, after: object) -> None:
    _note(author, user, "user.change", f"Changed the user {user.display_name}", before, after)


def _note(author: Author, user: User, action: str, summary: str, before: object = None, after: object = None) -> None:
    activity.record(author, action, ("user", str(user.id)), summary, before, after)
