"""The publication of saved synonyms and rules to shoppers."""

from __future__ import annotations

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.domain.relevance import publishing
from app.domain.search.events import ConfigurationSaved
from app.domain.search.serving import configuration
from app.domain.shared.problems import DomainError
from app.extensions import db
from app.log_redaction import error_summary
from app.ports import clock
from app.storage_alerts import note_storage_fault
from app.transaction import transaction

log = structlog.get_logger()


def publish(saved: ConfigurationSaved, again: bool = False) -> bool:
    """Publish the saved synonyms and rules of a site at once and in this process, so that what a merchandiser saved is
    served when the next page answers; return whether that succeeded. Never raises: they are saved, and the scheduler
    publishes what was left, `again` each second, for which a line in the log is enough."""
    site_id = saved.site_id
    try:
        with transaction():
            publishing.publish(clock(), site_id)
    except (DomainError, SQLAlchemyError, OSError) as error:
        db.session.rollback()
        if not note_storage_fault(error):
            log.warning("words_not_published", site=site_id, error=error_summary(error))
        return False
    except Exception as error:
        db.session.rollback()
        log.error("words_not_published", site=site_id, error=error_summary(error), exc_info=not again)
        return False
    return True


def publish_forgotten() -> None:
    for site_id in configuration.unpublished_sites():
        publish(ConfigurationSaved(site_id), again=True)
