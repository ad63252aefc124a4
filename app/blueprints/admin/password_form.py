"""The field of a form in which users prove that they are who is signed in."""

from __future__ import annotations

from app.blueprints.admin.device_cookie import known_device
from app.blueprints.password_check import checked_user
from app.domain.shared.problems import Invalid
from app.domain.sites.models import User


def user_by_password(email: str, password: str, pointer: str = "#") -> User:
    """Raises Invalid at the pointer, TooManyRequests."""
    try:
        return checked_user(email, password, known_device(email))
    except Invalid as wrong:
        problem = wrong.problems[0]
        raise Invalid.one(problem.code, problem.message, pointer) from None
