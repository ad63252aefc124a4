"""The command line: each command parses, makes the domain call and prints."""

from __future__ import annotations

from flask import Flask
from flask_migrate import Migrate

from app.cli.bundles import bundle_group, demo_group
from app.cli.catalogue import pictures_group, taxonomy_group
from app.cli.database import database_group
from app.cli.machines import machines_group
from app.cli.operations import alerts_group, backup_command, mcp_command, restore_command
from app.cli.personal_data import personal_data_group
from app.cli.pos import pos_group
from app.cli.search import index_group, search_command, sitemap_group
from app.cli.sites import site_group, user_group
from app.domain.system.release import MIGRATIONS
from app.extensions import db

COMMANDS = (
    *(site_group, user_group, personal_data_group),
    *(bundle_group, demo_group, taxonomy_group, pictures_group, pos_group),
    *(search_command, index_group, sitemap_group),
    *(backup_command, restore_command, database_group, alerts_group, machines_group, mcp_command),
)


def register(app: Flask) -> None:
    """Add every command to `flask --app wsgi`."""
    Migrate(app, db, directory=str(MIGRATIONS), render_as_batch=True)
    for command in COMMANDS:
        app.cli.add_command(command)
