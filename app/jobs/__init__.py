"""What runs without a request: each job is a view without HTTP, called within the application's context."""

from __future__ import annotations

from flask import Flask

from app.jobs import commands


def register(app: Flask) -> None:
    """Add the commands that run jobs."""
    app.cli.add_command(commands.group)
    app.cli.add_command(commands.scheduler_command)
    app.cli.add_command(commands.purge_command)
