"""Learning from clicks."""

from __future__ import annotations

from app.domain.relevance.learning.learning import learn_site
from app.domain.work.context import read_afresh
from app.ports import clock
from app.transaction import transaction


def learn(site_id: int) -> None:
    """Learn anew what shoppers open and buy for each search of a site."""
    read_afresh()
    with transaction():
        learn_site(clock(), site_id)
