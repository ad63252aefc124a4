"""The preview of a theme: the admin's link sets a cookie for an hour, in that browser only."""

from __future__ import annotations

from flask import Response, current_app, g, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.storefront.blueprint import PREVIEWS, bp, current_shop, preview_cookie
from app.domain.shared.problems import NotFound
from app.permissions import public
from app.themes.drawing import current_theme
from app.themes.preview import LASTS, previewed_theme


@bp.get("/theme-preview")
@public
def theme_preview() -> AnyResponse:
    """Set the cookie of a preview and redirect to the shop. Raises NotFound without a valid token."""
    token = request.args.get("token", "")
    if previewed_theme(token, current_shop().site_id, ports.clock().now()) is None:
        raise NotFound("This preview has ended. Open it again from the settings of the shop.")
    response = redirect("/")
    response.headers["Cache-Control"] = "no-store"
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    response.set_cookie(preview_cookie(), token, max_age=LASTS, secure=secure, httponly=True, samesite="Lax", path="/")
    return response


@bp.post("/theme-preview/end")
@public
def theme_preview_end() -> AnyResponse:
    response = redirect("/")
    secure = current_app.config["SESSION_COOKIE_SECURE"]
    response.delete_cookie(preview_cookie(), secure=secure, httponly=True, samesite="Lax", path="/")
    return response


@bp.app_template_global("previewed_label")
def previewed_label() -> str:
    """The name of the theme that is only previewed, for the bar above the page; empty for shoppers."""
    return current_theme().label if g.get(PREVIEWS) else ""


@bp.after_app_request
def keep_previews_out_of_caches(response: Response) -> Response:
    if g.get(PREVIEWS) and response.mimetype == "text/html":
        response.headers["Cache-Control"] = "no-store"
        response.headers["X-Robots-Tag"] = "noindex"
    return response
