"""The command line: one module for each group of commands, which parses, makes the domain call and prints."""

from __future__ import annotations

from flask import Flask

from app.cli import bundle, demo, index, search, sites, taxonomy, users


def register(app: Flask) -> None:
    """Add every command to `flask --app wsgi`."""
    for module in (bundle, demo, index, sites, taxonomy, users):
        app.cli.add_command(module.group)
    app.cli.add_command(search.command)
