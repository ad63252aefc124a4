"""The start of a machine: it is noted among the machines of the shop, unless one runs that it cannot run beside."""

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
        if not inspect(db.session.connection()).has_table(Machine.__tablename__):
            return
        if is_whole or not _runs_as(facts):
            machine_file().settle(partial(_lives, pause=pause))
        while machine_id() and (other := _register(facts, is_whole)) is not None:
            if _lives(other.id, pause):
                raise CannotStart(describe_refusal(other.name, other.seen_at, obstacles(facts, other.facts)))
    except (SQLAlchemyError, OSError) as error:
        db.session.rollback()
        log.warning("machine_not_noted", error=error_summary(error))


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
        others = [other for other in machines.running_machines(clock()) if other.id != own_id]
        in_the_way = [other for other in others if obstacles(facts, other.facts)]
        if in_the_way:
            db.session.expunge(in_the_way[0])
            return in_the_way[0]
        machines.register(clock(), own_id, facts)
        return None


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
