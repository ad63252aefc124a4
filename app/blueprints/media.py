"""Pictures of products: those of a site on its own hosts, and on any host for users who are signed in to work on it."""

from __future__ import annotations

from flask import Blueprint, Response
from flask_login import current_user

from app import ports
from app.blueprints.storefront.blueprint import current_shop
from app.domain.catalogue.picture_storage import TRY_AGAIN_AFTER, PicturesUnavailable
from app.domain.shared.problems import NotFound
from app.domain.work.context import read_afresh
from app.operations.storage import note_pictures_unavailable
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
    read_afresh()  # No connection of the database is held while the storage of pictures answers.
    try:
        return Response(ports.images().read(site_id, file), mimetype=kind, headers=headers)
    except PicturesUnavailable as error:
        note_pictures_unavailable(error)
        # Short, and not the page of an error, which a page of thirty pictures would have drawn thirty times.
        later = {"Retry-After": str(TRY_AGAIN_AFTER), "Cache-Control": "no-store"}
        return Response("Pictures are unavailable.\n", 503, later, mimetype="text/plain")
