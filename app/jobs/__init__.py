"""Background jobs: each is a view without HTTP, called within the application's context."""

from __future__ import annotations

from flask import Flask

from app.jobs import commands
from app.jobs.leased import LEASED_JOBS
from app.jobs.scheduled import job_facts
from app.ports import SCHEDULED_JOBS, WORK_KINDS


def register(app: Flask) -> None:
    """Register the commands that run jobs, and the facts about jobs that pages show."""
    app.extensions[SCHEDULED_JOBS] = job_facts
    app.extensions[WORK_KINDS] = tuple(leased.kind for leased in LEASED_JOBS.values())
    app.cli.add_command(commands.group)
    app.cli.add_command(commands.scheduler_command)
    app.cli.add_command(commands.purge_command)
