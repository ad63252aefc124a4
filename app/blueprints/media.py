"""Pictures of products: those of a site on its own hosts, and on any host for users who are signed in to work on it."""

from __future__ import annotations

from flask import Blueprint, Response
from flask_login import current_user

from app import ports
from app.blueprints.storefront.blueprint import current_shop
from app.domain.shared.problems import NotFound
from app.web.permissions import public

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
    headers = HEADERS
    if site_id != current_shop().site_id:
        if not (current_user.is_authenticated and current_user.site_id == site_id):
            raise NotFound("There is no such picture.")
        headers = HEADERS | {"Cache-Control": "private, max-age=31536000, immutable"}
    kind = "image/jpeg" if file.endswith(".jpg") else "image/webp"
    return Response(ports.images().read(site_id, file), mimetype=kind, headers=headers)
