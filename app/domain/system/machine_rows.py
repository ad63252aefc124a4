"""The machines of the shop as the System page lists them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.machines.coexistence import MachineFacts, obstacles
from app.domain.machines.machines import is_recent
from app.domain.machines.models import Machine
from app.domain.shared.clock import Clock
from app.domain.system.facts import Health

SILENT_ADVICE = (
    "If it will not come back, run `flask --app wsgi machines forget {}`; after a week this happens by itself."
)


@dataclass(frozen=True, slots=True)
class MachineLine:
    """A machine on the System page. `is_own`: it is the one that shows the page."""

    id: str
    facts: MachineFacts
    word: str
    health: Health
    started_at: datetime
    seen_at: datetime
    is_own: bool
    advice: str = ""


def machine_rows(clock: Clock, machines: Sequence[Machine], own: str) -> list[MachineLine]:
    running = [machine for machine in machines if is_recent(clock, machine.seen_at)]
    return [_row(machine, running, own) for machine in machines]


def _row(machine: Machine, running: Sequence[Machine], own: str) -> MachineLine:
    word, health, advice = "Runs", Health.GOOD, ""
    beside = [other for other in running if other is not machine and obstacles(machine.facts, other.facts)]
    if machine not in running:
        word, health, advice = "Silent", Health.WARN, SILENT_ADVICE.format(machine.id)
    elif beside:
        reason = obstacles(machine.facts, beside[0].facts)[0].reason
        word, health, advice = "In conflict", Health.BAD, f"It cannot run beside {beside[0].name}: {reason}. Stop one."
    seen = machine.started_at, machine.seen_at
    return MachineLine(machine.id, machine.facts, word, health, *seen, machine.id == own, advice)
