"""The command line: one module for each group of commands, which parses, makes the domain call and prints."""

from __future__ import annotations

from pathlib import Path

from flask import Flask
from flask_migrate import Migrate

from app.cli import (
    alerts,
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
from app.extensions import db

MIGRATIONS = Path(__file__).parents[2] / "migrations"


def register(app: Flask) -> None:
    """Add every command to `flask --app wsgi`."""
    Migrate(app, db, directory=str(MIGRATIONS), render_as_batch=True)
    for module in (alerts, bundle, demo, index, personal_data, pictures, pos, sitemap, sites, taxonomy, users):
        app.cli.add_command(module.group)
    for command in (mcp.command, search.command):
        app.cli.add_command(command)
