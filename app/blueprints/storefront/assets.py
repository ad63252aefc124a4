"""The one style sheet and the one script of a page, the files of a theme, and drawn pictures for products without
photographs, for mails as PNG. Their addresses name their content, so browsers keep them for good."""

from __future__ import annotations

from flask import Response, request, send_from_directory

from app.blueprints.callers import rate_limited
from app.blueprints.compression import compressed, once, takes_gzip
from app.blueprints.static_files import IMMUTABLE
from app.blueprints.storefront.blueprint import bp
from app.domain.catalogue.drawing_png import png_at
from app.domain.catalogue.product_drawings import drawing_at
from app.domain.shared.problems import NotFound
from app.web.permissions import public
from app.web.themes import drawing
from app.web.themes.drawing import Bundle, current_theme, themes
from app.web.themes.folders import Theme

PNGS_PER_MINUTE = 240  # Of a client: the pictures of some thirty mails, which cost a processor six seconds.
# A drawing has a style of its own for dark surroundings, also where it is opened by itself.
DRAWINGS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@bp.app_template_global("style_url")
def style_url() -> str:
    return drawing.style_sheet(current_theme()).path


@bp.app_template_global("script_url")
def script_url() -> str:
    return drawing.script().path


@bp.get("/static/themes/<name>/shop-<digest>.css")
@public
def style(name: str, digest: str) -> Response:
    return _bundle_answer(drawing.style_sheet(_theme(name)), digest, "text/css")


@bp.get("/static/shop-<digest>.js")
@public
def script(digest: str) -> Response:
    return _bundle_answer(drawing.script(), digest, "text/javascript")


@bp.get("/static/themes/<name>/files/<path:filename>")
@public
def theme_file(name: str, filename: str) -> Response:
    theme = _theme(name)
    response = send_from_directory(theme.files.absolute(), filename)
    if request.args.get("v") == drawing.version_of_files(theme):
        response.headers["Cache-Control"] = IMMUTABLE
    return response


def _theme(name: str) -> Theme:
    """Return the theme of a name. Raises NotFound."""
    theme = themes().by_name.get(name)
    if theme is None:
        raise NotFound("There is no such theme.")
    return theme


def _bundle_answer(bundle: Bundle, digest: str, mimetype: str) -> Response:
    """Return the current file, to be kept for good at its current address alone: a page from before an upgrade gets it,
    too."""
    packed = takes_gzip()
    response = Response(bundle.packed if packed else bundle.body, mimetype=mimetype)
    response.headers["Cache-Control"] = IMMUTABLE if digest == bundle.digest else "no-cache"
    response.vary.add("Accept-Encoding")
    if packed:
        response.headers["Content-Encoding"] = "gzip"
    response.set_etag(f"{bundle.digest}-gzip" if packed else bundle.digest)
    response.make_conditional(request)
    return response


@bp.get("/picture/<shape>/<name>.svg")
@public
def picture(shape: str, name: str) -> Response:
    response = compressed(_kept_drawing(drawing_at(shape, name), "image/svg+xml"), once)
    response.make_conditional(request)
    return response


@bp.get("/picture/<shape>/<name>.png")
@public
@rate_limited("drawings-as-png", PNGS_PER_MINUTE)
def picture_for_mails(shape: str, name: str) -> Response:
    response = _kept_drawing(png_at(shape, name), "image/png")
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"  # Mail programs in a browser are other sites.
    response.make_conditional(request)
    return response


def _kept_drawing(content: str | bytes, mimetype: str) -> Response:
    response = Response(content, mimetype=mimetype)
    response.headers["Cache-Control"] = IMMUTABLE
    response.headers["Content-Security-Policy"] = DRAWINGS_POLICY
    response.add_etag()
    return response
