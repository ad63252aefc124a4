"""What makes the till installable: its manifest (W3C Web Application Manifest) and its service worker."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from flask import Response, current_app, jsonify, render_template, url_for

from app.blueprints.callers import request_host
from app.blueprints.static_files import static_url
from app.blueprints.till.blueprint import bp
from app.blueprints.till.page import STYLES
from app.domain.sites.sites import site_by_host
from app.web.permissions import public

WORKER = "till/worker.js"
BASE = "admin/base.css"
VENDORED = re.compile(r'"(?:\.\./)+(vendor/[\w.-]+)"')
ICONS: tuple[dict[str, str], ...] = (
    {"name": "till/icons/till-192.png", "sizes": "192x192", "type": "image/png", "purpose": "any"},
    {"name": "till/icons/till-512.png", "sizes": "512x512", "type": "image/png", "purpose": "any"},
    {"name": "till/icons/till-maskable-512.png", "sizes": "512x512", "type": "image/png", "purpose": "maskable"},
)


@bp.get("/manifest.webmanifest")
@public
def manifest() -> Response:
    """The manifest, with the name of the shop at this host."""
    site = site_by_host(request_host())
    shop = site.name if site else "Shop"
    response = jsonify(_manifest(shop))
    response.mimetype = "application/manifest+json"
    return response


def _manifest(shop: str) -> dict[str, Any]:
    icons = [{"src": static_url(icon["name"])} | {k: v for k, v in icon.items() if k != "name"} for icon in ICONS]
    return {
        "id": "/till",
        "name": f"Till of {shop}",
        "short_name": "Till",
        "description": "Takes payments by card and in cash, at the counter or at a market.",
        "start_url": "/till",
        "scope": "/till",
        "display": "standalone",
        "orientation": "any",
        "lang": "en",
        "background_color": "#ffffff",
        "theme_color": "#0b6e4f",
        "categories": ["business", "shopping"],
        "icons": icons,
        "shortcuts": [
            {"name": "Quick payment", "url": "/till/quick"},
            {"name": "Order", "url": "/till/order"},
        ],
    }


@bp.get("/sw.js")
@public
def worker() -> Response:
    """The service worker with the list of files that the app consists of, so that a new version of any is a new
    version of the worker."""
    own = map(static_url, app_files(Path(current_app.static_folder or "")))
    files = [url_for("till.page"), url_for("till.display"), *own]
    # Of the pages as well: their text changes without any file of the app.
    pages = [render_template("till/page.html", styles=STYLES), render_template("till/display.html")]
    version = sha256(json.dumps([files, pages]).encode()).hexdigest()[:12]
    head = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(files, indent=1)};\n\n"
    script = Path(current_app.static_folder or "", WORKER).read_text("utf-8")
    response = Response(head + script, mimetype="text/javascript")
    response.headers["Service-Worker-Allowed"] = "/till"
    return response


@lru_cache
def app_files(folder: Path) -> tuple[str, ...]:
    """Return the static files that the app consists of: all of its folder but the worker, and what those import from
    others."""
    own = [file for file in folder.joinpath("till").rglob("*") if file.is_file()]
    scripts = (file.read_text("utf-8") for file in own if file.suffix == ".js")
    vendored = {name for script in scripts for name in VENDORED.findall(script)}
    names = {file.relative_to(folder).as_posix() for file in own} | vendored | {BASE}
    return tuple(sorted(names - {WORKER}))
