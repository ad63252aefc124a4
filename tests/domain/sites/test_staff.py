"""Who of the staff may change whom."""

from __future__ import annotations

import pytest

from app.domain.sites.accounts import Role
from app.domain.sites.staff import StaffRights, grantable, role_problems

ADMIN, SUPERADMIN = frozenset({Role.ADMIN}), frozenset({Role.SUPERADMIN})
MERCHANDISER = frozenset({Role.MERCHANDISER})


@pytest.mark.parametrize(
    ("rights", "roles", "account"),
    [
        (StaffRights(1, ADMIN, 2, MERCHANDISER), True, True),
        (StaffRights(1, ADMIN, 2, ADMIN), True, True),
        (StaffRights(1, ADMIN, 2, MERCHANDISER, elsewhere=True), True, False),
        (StaffRights(1, ADMIN, 2, SUPERADMIN), False, False),
        (StaffRights(1, ADMIN, 1, ADMIN), False, False),
        (StaffRights(1, SUPERADMIN, 1, SUPERADMIN), False, False),
        (StaffRights(1, SUPERADMIN, 2, SUPERADMIN), True, True),
        (StaffRights(1, SUPERADMIN, 2, MERCHANDISER, elsewhere=True), True, True),
    ],
)
def test_the_table_of_who_may_change_whom(rights: StaffRights, roles: bool, account: bool) -> None:
    assert (rights.may_change_roles, rights.may_change_account) == (roles, account)
    assert (rights.why_not is None) == account


def test_only_superadmins_make_superadmins() -> None:
    assert Role.SUPERADMIN not in grantable(ADMIN)
    assert Role.SUPERADMIN in grantable(SUPERADMIN)
    assert [problem.pointer for problem in role_problems(["SUPERADMIN", "KING"], ADMIN)] == ["#/role", "#/role"]
    assert role_problems(["SUPERADMIN"], SUPERADMIN) == []


def test_a_new_user_needs_a_role() -> None:
    assert role_problems([], ADMIN) == []
    assert [problem.code for problem in role_problems([], ADMIN, some=True)] == ["required"]
