"""What people are told of a path that leads away from their shop."""

from __future__ import annotations

from app.domain.search.live.redirects import LONGEST_PATH, safe_redirect
from app.domain.shared.problems import Problem
from app.domain.shared.text import UNPRINTABLE

__all__ = ["path_problems", "safe_redirect"]


def path_problems(path: str, label: str, pointer: str) -> list[Problem]:
    """`label` begins the sentence, as in "The redirect"."""
    if len(path) > LONGEST_PATH:
        return [Problem("too_long", f"{label} is longer than {LONGEST_PATH} characters.", pointer)]
    if safe_redirect(path) is not None:
        return []
    shown = UNPRINTABLE.sub("�", path[:60])
    message = f"{label} “{shown}” must be a page of this shop, given by its path alone, such as /c/rainwear."
    return [Problem("invalid_path", message, pointer)]
