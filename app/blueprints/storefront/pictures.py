"""Drawn pictures for products without photographs."""

from __future__ import annotations

from flask import Response

from app.blueprints.storefront.blueprint import bp
from app.domain.catalogue.pictures import drawing_at
from app.permissions import public


@bp.get("/picture/<shape>/<name>.svg")
@public
def picture(shape: str, name: str) -> Response:
    response = Response(drawing_at(shape, name), mimetype="image/svg+xml")
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
