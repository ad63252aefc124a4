"""Site checks: crawls of a shop's pages, in search of contradictions."""

from __future__ import annotations

from app.domain.seo import site_check
from app.operations.work_context import work_context
from app.web.in_process import pages_of


def check(check_id: str) -> bool:
    """Do a slice of a check; the next is requested at its end."""
    return site_check.run_check(work_context(), pages_of, check_id)


def check_all(check_id: str) -> None:
    """Do all that is left of a check, where there is no queue for the next slice."""
    while check(check_id):
        pass
