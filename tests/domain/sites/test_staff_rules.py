"""Who of the staff may change whom."""

from __future__ import annotations

import pytest

from app.domain.sites.roles import Role
from app.domain.sites.staff_rules import Standing, grantable, role_problems

ADMIN, SUPERADMIN = frozenset({Role.ADMIN}), frozenset({Role.SUPERADMIN})
MERCHANDISER = frozenset({Role.MERCHANDISER})


@pytest.mark.parametrize(
    ("standing", "roles", "account"),
    [
        (Standing(1, ADMIN, 2, MERCHANDISER), True, True),
        (Standing(1, ADMIN, 2, ADMIN), True, True),
        (Standing(1, ADMIN, 2, MERCHANDISER, elsewhere=True), True, False),
        (Standing(1, ADMIN, 2, SUPERADMIN), False, False),
        (Standing(1, ADMIN, 1, ADMIN), False, False),
        (Standing(1, SUPERADMIN, 1, SUPERADMIN), False, False),
        (Standing(1, SUPERADMIN, 2, SUPERADMIN), True, True),
        (Standing(1, SUPERADMIN, 2, MERCHANDISER, elsewhere=True), True, True),
    ],
)
def test_the_table_of_who_may_change_whom(standing: Standing, roles: bool, account: bool) -> None:
    assert (standing.may_change_roles, standing.may_change_account) == (roles, account)
    assert (standing.why_not is None) == account


def test_only_superadmins_make_superadmins() -> None:
    assert Role.SUPERADMIN not in grantable(ADMIN)
    assert Role.SUPERADMIN in grantable(SUPERADMIN)
    assert [problem.pointer for problem in role_problems(["SUPERADMIN", "KING"], ADMIN)] == ["#/role", "#/role"]
    assert role_problems(["SUPERADMIN"], SUPERADMIN) == []


def test_a_new_user_needs_a_role() -> None:
    assert role_problems([], ADMIN) == []
    assert [problem.code for problem in role_problems([], ADMIN, some=True)] == ["required"]
