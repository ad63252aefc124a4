"""The heartbeat of a machine, by which the others and the System page see that it runs."""

from __future__ import annotations

from dataclasses import dataclass

from flask import current_app

from app.domain.alerts.alerts import adopt_alerts
from app.domain.machines import machines
from app.operations.machine import facts_of
from app.ports import clock, machine_id
from app.transaction import transaction


@dataclass
class Heartbeat:
    """The heartbeat, at each look of the scheduler that is due. One that was forgotten meanwhile registers again."""

    _at: float | None = None

    def look(self) -> None:
        now = clock().monotonic()
        if self._at is not None and now - self._at < machines.BETWEEN_BEATS.total_seconds():
            return
        own = machine_id()
        if not own:
            return  # The disk takes no file, which the watch over the disks reports.
        with transaction():
            if self._at is None:
                adopt_alerts(clock(), own)
            if not machines.beat(clock(), own):
                machines.register(clock(), own, facts_of(current_app.config["SHOP"]))
        self._at = now
