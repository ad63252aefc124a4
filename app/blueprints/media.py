"""Pictures of products, the same on every host: their names are made from their content and cannot be guessed."""

from __future__ import annotations

from flask import Blueprint, Response

from app import ports
from app.permissions import public

bp = Blueprint("media", __name__)
HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}


@bp.get("/media/<int(max=2147483647):site_id>/<file>")
@public
def picture(site_id: int, file: str) -> Response:
    return Response(ports.images().read(site_id, file), mimetype="image/webp", headers=HEADERS)
