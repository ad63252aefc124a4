"""This machine beside the others: it is noted at its start, unless one runs that it cannot run beside; and some work
waits until no other runs."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

import structlog
from flask import current_app
from sqlalchemy import inspect, make_url
from sqlalchemy.exc import SQLAlchemyError

from app.config import Config
from app.domain.machines import machines
from app.domain.machines.coexistence import MachineFacts, describe_refusal, obstacles
from app.domain.machines.models import Machine
from app.domain.shared.clock import rfc3339
from app.domain.shared.problems import DomainError
from app.domain.shared.redaction import error_summary
from app.domain.system.release import version
from app.domain.work.context import read_afresh
from app.extensions import db
from app.operations.instance import CannotStart
from app.ports import clock, machine_file, machine_id
from app.transaction import transaction

BETWEEN_LOOKS = 1.0  # Seconds.

log = structlog.get_logger()
Pause = Callable[[float], None]


class StillRuns(DomainError):
    """The shop runs on another machine, which must be stopped first."""

    code = "still_runs"


def facts_of(config: Config) -> MachineFacts:
    """Return the facts of this machine."""
    kind = make_url(config.database_url).get_backend_name()
    return MachineFacts(platform.node() or "unknown", version(), config.search_engine, kind, config.pictures)


def admit(facts: MachineFacts | None = None, is_whole: bool = False, pause: Pause = time.sleep) -> None:
    """Note that this machine runs with these facts, by default those of its configuration. Raises CannotStart while
    another machine runs beside which it cannot. `is_whole`: the whole shop starts on this machine; a part of one that
    runs already may always start again. One that seems to run is watched until it is seen again or has been silent for
    a minute, so this may take that long. A database that does not answer or has no tables yet, and a folder that takes
    no file, are no reason to stay away: the scheduler notes the machine once it can."""
    facts = facts or facts_of(current_app.config["SHOP"])
    try:
        if not _are_known():
            return
        if is_whole or not _runs_as(facts):
            machine_file().settle(partial(_lives, pause=pause))
        while machine_id() and (other := _register(facts, is_whole)) is not None:
            _refuse_beside(other, facts, pause)
    except (SQLAlchemyError, OSError) as error:
        db.session.rollback()
        log.warning("machine_not_noted", error=error_summary(error))


def check_others(facts: MachineFacts | None = None, pause: Pause = time.sleep) -> None:
    """Check what `admit` does, and note nothing: a program that ends before the shop starts, such as a migration, is no
    machine. Raises CannotStart."""
    facts = facts or facts_of(current_app.config["SHOP"])
    try:
        while _are_known() and (other := _in_the_way(facts)) is not None:
            _refuse_beside(other, facts, pause)
    except (SQLAlchemyError, OSError) as error:
        db.session.rollback()
        log.warning("machines_unknown", error=error_summary(error))


def running_beside(pause: Pause = time.sleep) -> Machine | None:
    """Return another machine that runs; None where none does, and where the database does not say. One that was seen
    less than a minute ago is watched until it is seen again or the minute is over."""
    try:
        while _are_known():
            other = next(iter(_others()), None)
            if other is None or _lives(other.id, pause):
                return other
    except (SQLAlchemyError, OSError) as error:
        db.session.rollback()
        log.warning("machines_unknown", error=error_summary(error))
    return None


def check_alone(pause: Pause = time.sleep) -> None:
    """Check that the shop runs on no other machine. Raises StillRuns."""
    if (other := running_beside(pause)) is not None:
        raise StillRuns(
            f"The shop runs on the machine {other.name} (last seen {rfc3339(other.seen_at)}): stop it there first."
        )


def conflict() -> str | None:
    """Return why this machine cannot run beside another that runs; None where it can. One that was away for a while, or
    started while the database was, may have been followed by another. Raises SQLAlchemyError."""
    facts = facts_of(current_app.config["SHOP"])
    if (other := _in_the_way(facts)) is None:
        return None
    return describe_refusal(other.name, other.seen_at, obstacles(facts, other.facts))


def check_one_release() -> None:
    """Check that the machines that run are of one release: the database may be a single release ahead of each. Raises
    CannotStart."""
    try:
        running = machines.running_machines(clock()) if _are_known() else []
    except SQLAlchemyError:
        db.session.rollback()
        return
    if len({machine.release for machine in running}) > 1:
        found = ", ".join(f"{machine.name} {machine.release}" for machine in running)
        raise CannotStart(
            f"The upgrade before is not finished ({found}): bring every machine to one release first, or wait a minute "
            "where one was stopped."
        )


def _are_known() -> bool:
    """Whether the database has a table of machines."""
    return inspect(db.session.connection()).has_table(Machine.__tablename__)


def _refuse_beside(other: Machine, facts: MachineFacts, pause: Pause) -> None:
    """Raise CannotStart where a machine that is in the way lives."""
    if _lives(other.id, pause):
        raise CannotStart(describe_refusal(other.name, other.seen_at, obstacles(facts, other.facts)))


def _runs_as(facts: MachineFacts) -> bool:
    """Whether this machine was seen lately, with these facts. Its name is that of the part which noted it first: each
    container may have another host name."""
    own = {machine.id: machine.facts for machine in machines.running_machines(clock())}
    known = own.get(machine_id())
    return known is not None and replace(known, name=facts.name) == facts


def _register(facts: MachineFacts, is_whole: bool) -> Machine | None:
    """Register this machine and return None, or a machine that is in its way, and then nothing is written."""
    own_id = machine_id()
    with transaction():
        machines.lock_machines()
        if not is_whole and _runs_as(facts):
            machines.beat(clock(), own_id)
            return None
        if (other := _in_the_way(facts)) is not None:
            return other
        machines.register(clock(), own_id, facts)
        return None


def _in_the_way(facts: MachineFacts) -> Machine | None:
    """Return a machine that was seen lately, beside which one with these facts cannot run."""
    return next((other for other in _others() if obstacles(facts, other.facts)), None)


def _others() -> list[Machine]:
    """Return the other machines that were seen lately, as they were found: what is read later does not change them."""
    own_id = machine_id()
    others = [other for other in machines.running_machines(clock()) if other.id != own_id]
    for other in others:
        db.session.expunge(other)
    return others


def _lives(other_id: str, pause: Pause) -> bool:
    """Whether a machine is seen again before it has been silent for long."""
    first = _last_seen(other_id)
    if first is not None and machines.is_recent(clock(), first):
        print(f"Waiting to see whether another machine, seen a moment ago, still runs ({other_id}).", file=sys.stderr)
    seen = first
    while seen is not None and seen == first and machines.is_recent(clock(), seen):
        pause(BETWEEN_LOOKS)
        seen = _last_seen(other_id)
    return seen is not None and seen != first


def _last_seen(machine: str) -> datetime | None:
    read_afresh()
    return machines.last_seen(machine)
