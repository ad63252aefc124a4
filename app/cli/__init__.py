"""The command line: one module for each group of commands, which parses, makes the domain call and prints."""

from __future__ import annotations

from flask import Flask
from flask_migrate import Migrate

from app.cli import (
    alerts,
    backup,
    bundle,
    demo,
    index,
    mcp,
    personal_data,
    pictures,
    pos,
    search,
    sitemap,
    sites,
    taxonomy,
    users,
)
from app.domain.system.release import MIGRATIONS
from app.extensions import db


def register(app: Flask) -> None:
    """Add every command to `flask --app wsgi`."""
    Migrate(app, db, directory=str(MIGRATIONS), render_as_batch=True)
    for module in (alerts, bundle, demo, index, personal_data, pictures, pos, sitemap, sites, taxonomy, users):
        app.cli.add_command(module.group)
    for command in (backup.backup_command, backup.restore_command, mcp.command, search.command):
        app.cli.add_command(command)
