"""What makes the till installable: its manifest (W3C Web Application Manifest) and its service worker."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from flask import Response, current_app, jsonify, render_template

from app.blueprints.callers import request_host
from app.blueprints.static_files import static_url
from app.blueprints.till.blueprint import bp
from app.blueprints.till.page import STYLES
from app.domain.sites.sites import site_by_host
from app.web.permissions import public

WORKER = "till/worker.js"
# The till's own files are all of its folder; these belong to others.
SHARED = (
    "admin/base.css",
    "vendor/htm-preact-3.1.1.module.js",
    "vendor/idb-8.0.4.js",
    "vendor/receipt-printer-encoder-4.0.1.esm.js",
    "vendor/webusb-receipt-printer-2.1.0.esm.js",
)
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
    names = [name for name in (*_own_files(), *SHARED) if name != WORKER]
    files = ["/till", "/till/display", *(static_url(name) for name in sorted(names))]
    # Of the pages as well: their text changes without any file of the app.
    pages = [render_template("till/page.html", styles=STYLES), render_template("till/display.html")]
    version = sha256(json.dumps([files, pages]).encode()).hexdigest()[:12]
    head = f"const VERSION = {json.dumps(version)};\nconst FILES = {json.dumps(files, indent=1)};\n\n"
    response = Response(head + _folder().joinpath(WORKER).read_text("utf-8"), mimetype="text/javascript")
    response.headers["Service-Worker-Allowed"] = "/till"
    return response


def _own_files() -> list[str]:
    folder = _folder()
    return [file.relative_to(folder).as_posix() for file in folder.joinpath("till").rglob("*") if file.is_file()]


def _folder() -> Path:
    return Path(current_app.static_folder or "")
