"""Learning from clicks."""

from __future__ import annotations

import structlog

from app.domain.relevance import learning
from app.domain.relevance.learning import learn_site, learning_mode, store_study, study_counts
from app.domain.search.serving.plan import LearningMode
from app.domain.search_statistics.counting import weekly_counts
from app.domain.work.context import read_afresh
from app.jobs.follow_up import follow_up
from app.jobs.purging import is_clock_trusted
from app.ports import clock
from app.transaction import transaction

TRIES = 3

log = structlog.get_logger()


def learn(site_id: int) -> None:
    """Learn anew what shoppers open and buy for each search of a site. The counts are read before the transaction, so
    that orders need not wait. Where a merchandiser switched, forgot or restored something meanwhile, this is repeated;
    after TRIES, counts are read and stored within one transaction. While the clock is in doubt, what was learned stays,
    unless learning is switched off."""
    read_afresh()
    if learning_mode(site_id) is not LearningMode.OFF:
        if not is_clock_trusted():
            log.warning("not_learned_while_clock_in_doubt", site=site_id)
            return
        with transaction():
            learning.end_this_week(clock(), site_id)
    for _ in range(TRIES):
        read_afresh()
        studied = study_counts(clock(), site_id)
        with transaction():
            if store_study(clock(), site_id, studied):
                return
    with transaction():
        learn_site(clock(), site_id)


def forget_product(site_id: int, product_id: int) -> None:
    """Remove the counts of a product that was deleted. Never raises: the deletion is committed already."""
    with follow_up("product_counts_kept", site=site_id, product=product_id), transaction():
        weekly_counts.forget_product(site_id, product_id)


def learn_at_once(site_id: int) -> None:
    """Learn after the setting was saved. Never raises: the setting is saved, and the nightly job makes up for it."""
    with follow_up("not_learned_at_once", site=site_id):
        learn(site_id)
