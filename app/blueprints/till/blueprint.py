"""The till's blueprint, and the headers of its pages."""

from __future__ import annotations

from flask import Blueprint, Response

from app.blueprints.compression import compressed, once

bp = Blueprint("till", __name__, url_prefix="/till")
# What a till may use beyond other pages: the camera for bar codes, printers at USB and serial ports, passkeys.
PERMISSIONS = (
    "camera=(self), usb=(self), serial=(self), publickey-credentials-get=(self), publickey-credentials-create=(self), "
    "screen-wake-lock=(self), geolocation=(), microphone=(), payment=()"
)


@bp.after_request
def _set_headers(response: Response) -> Response:
    """Let the worker and the browser revalidate: the pages are the same for everybody, without anything of a person."""
    response.headers["Permissions-Policy"] = PERMISSIONS
    response.headers.setdefault("Cache-Control", "no-cache")
    return compressed(response, once)
