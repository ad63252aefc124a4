"""Machines that will not come back are forgotten, with what only they could end: their alerts, their unfinished work
and the runs of their jobs. Call it in a transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import delete

from app.domain.alerts.alerts import end_alerts_of_machine
from app.domain.alerts.models import JobFailures
from app.domain.machines.coexistence import on_machine
from app.domain.machines.machines import forgettable, is_recent
from app.domain.machines.models import Machine
from app.domain.search.models import JobSlot
from app.domain.shared.clock import Clock
from app.domain.shared.problems import Conflict
from app.domain.shared.records import existing
from app.domain.system.job_runs import JobRun
from app.domain.work import leases
from app.domain.work.models import WorkKind
from app.extensions import db

GONE = "The machine with its file is gone. Start it again."


def silent_machine(clock: Clock, machine_id: str) -> Machine:
    """Return a machine that does not run. Raises NotFound, Conflict."""
    machine = existing(db.session.get(Machine, machine_id), f"There is no machine {machine_id}.")
    if is_recent(clock, machine.seen_at):
        raise Conflict(f"The machine {machine.name} runs, or ran a minute ago. Stop it first.")
    return machine


def forget_machine(clock: Clock, kinds: Iterable[WorkKind[Any]], machine_id: str) -> None:
    """Forget a machine, which registers again if it runs. `kinds` are those of leased work."""
    for kind in kinds:
        leases.end_work_of_machine(kind, clock, machine_id, GONE)
    ending = on_machine("%", machine_id)
    for model in (JobFailures, JobRun, JobSlot):
        of_machine = delete(model).where(model.job.like(ending))
        db.session.execute(of_machine, execution_options={"synchronize_session": False})
    end_alerts_of_machine(clock, machine_id)
    db.session.execute(delete(Machine).where(Machine.id == machine_id))


def forget_machines(clock: Clock, kinds: Iterable[WorkKind[Any]], own: str) -> list[str]:
    """Forget the machines that were not seen for a week, and return their ids. `own` is the id of this one, which runs,
    whenever it was seen by a clock that was set since."""
    kinds, gone = tuple(kinds), [machine_id for machine_id in forgettable(clock) if machine_id != own]
    for machine_id in gone:
        forget_machine(clock, kinds, machine_id)
    return gone
