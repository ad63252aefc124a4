"""The command line as the author of a change."""

from __future__ import annotations

from app.cli.refusals import ACTOR
from app.domain.shared.author import Author, Origin
from app.ports import clock


def command_author(site_id: int) -> Author:
    return Author(site_id, ACTOR, clock(), Origin.COMMAND_LINE)
