"""`demo create`."""

from __future__ import annotations

from contextlib import suppress

import click
from flask import current_app
from flask.cli import AppGroup

from app.cli.author import command_author
from app.cli.refusals import ACTOR, reports_refusals
from app.cli.reports import print_report
from app.config import Config
from app.demo.shop import HOST, create_demo
from app.domain.search.index import runs
from app.domain.shared.problems import Conflict
from app.domain.sites.sites import site_at
from app.ports import clock, images, search_engine, worker_locks
from app.transaction import transaction

group = AppGroup("demo", help="A shop to look at.")


@group.command("create")
@reports_refusals
def create_command() -> None:
    """Make the demo shop on localhost, once; refused in production."""
    config: Config = current_app.config["SHOP"]
    report = create_demo(clock(), images(), transaction, ACTOR, config.password_memory_kib, config.production)
    if report is None:
        click.echo(f"There is a shop at {HOST} already.")
        return
    print_report(report)
    # So that the shop finds things as soon as the worker is there. One without an engine is a shop all the same.
    with suppress(Conflict), transaction():
        runs.request_rebuild(command_author(site_at(HOST).id), search_engine(), worker_locks(), runs.Scope.ALL)
