"""The log lines of alerts: one when an alert is raised, and one when it has ended."""

from __future__ import annotations

import structlog

from app.domain.alerts.alerts import AlertEnded, AlertRaised

log = structlog.get_logger()


def log_raised(event: AlertRaised) -> None:
    cause = event.cause
    fields = {"cause": cause.key, "severity": cause.severity.value, "site": event.site_id, "subject": event.subject}
    log.error("alert_raised", **fields, detail=event.detail)


def log_ended(event: AlertEnded) -> None:
    log.warning("alert_ended", cause=event.cause.key, site=event.site_id, subject=event.subject)
