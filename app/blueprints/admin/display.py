"""How values are written on the admin's pages: filters and functions of its templates."""

from __future__ import annotations

import hashlib
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from flask import current_app, url_for

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.shared.times import rfc3339

bp.add_app_template_filter(rfc3339, "rfc3339")

STEPS = ((60, 1, "second"), (3_600, 60, "minute"), (86_400, 3_600, "hour"), (86_400 * 45, 86_400, "day"))


@bp.app_template_filter("counted")
def counted(number: int) -> str:
    """19406 as "19,406"."""
    return f"{number:,}"


@bp.app_template_filter("numbered")
def numbered(number: int, noun: str) -> str:
    """ "1 page", "19,406 products"; for nouns that take an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@bp.app_template_filter("ago")
def ago(moment: datetime) -> str:
    """How long ago, in the one unit that fits; dates after six weeks."""
    seconds = int((ports.clock().now() - moment).total_seconds())
    if seconds < 5:
        return "just now"
    for limit, size, noun in STEPS:
        if seconds < limit:
            return f"{numbered(seconds // size, noun)} ago"
    return f"on {moment.day} {moment:%B %Y}"


@bp.app_template_filter("exact_time")
def exact_time(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M:%S} UTC"


@bp.app_template_filter("local_time")
def local_time(moment: datetime, time_zone: str) -> str:
    """To the minute, on the wall of a shop in that time zone."""
    local = moment.astimezone(ZoneInfo(time_zone))
    return f"{local.day} {local:%B %Y, %H:%M}"


@bp.app_template_global("static_url")
def static_url(filename: str) -> str:
    """The address of a file of ours, with its fingerprint, so that browsers can keep it and never keep an old one."""
    file = Path(current_app.static_folder or "") / filename
    return url_for("static", filename=filename, v=_fingerprint(file, file.stat().st_mtime_ns))


@lru_cache(maxsize=256)
def _fingerprint(file: Path, _changed: int) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
