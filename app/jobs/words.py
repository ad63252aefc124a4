"""Saved synonyms and rules become what shoppers are served."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.search.live import publishing
from app.domain.shared.problems import DomainError
from app.extensions import db
from app.ports import clock
from app.transaction import transaction

log = structlog.get_logger()


def publish(site_id: int) -> bool:
    """Whether it could. Never raises: who saved has saved, and the scheduler publishes what was left."""
    try:
        with transaction():
            publishing.publish(clock(), site_id)
    except (DomainError, SQLAlchemyError, OSError) as error:
        db.session.rollback()
        log.warning("words_not_published", site=site_id, error=str(error))
        return False
    return True


def publish_forgotten() -> None:
    for site_id in publishing.unpublished_sites():
        publish(site_id)
