"""Faults of a full or failing disk, wherever they show: an alert and one line in the log, not a traceback each time."""

from __future__ import annotations

from app.domain.alerts.alerts import note_alert
from app.ports import clock
from app.storage_faults import cause_of, describe_fault


def note_storage_fault(error: BaseException) -> bool:
    """Note an alert and return True where the error is a fault of the storage; False for any other, which the caller
    handles."""
    cause = cause_of(error)
    if cause is None:
        return False
    note_alert(clock(), cause, describe_fault(error))
    return True
