"""What a shop chose for its looks: the style sheet of its look, and its pictures, for templates."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

from flask import Response, request

from app.blueprints.compression import compressed, once
from app.blueprints.static_files import IMMUTABLE, static_url
from app.blueprints.storefront.blueprint import bp
from app.domain.appearance.declaration import Appearance
from app.domain.catalogue.markup import MEDIA_PREFIX
from app.domain.catalogue.pictures import StoredImage, form_of, jpeg_form, srcset
from app.domain.merchandising.shop import Shop
from app.domain.shared.problems import NotFound
from app.web.permissions import public
from app.web.themes.look import Look, look_style


class ShownPicture(NamedTuple):
    """A stored picture as templates show it; `small` and `jpeg` are the addresses of its other forms."""

    url: str
    srcset: str
    width: int
    height: int
    small: str
    jpeg: str


@bp.get("/static/look/<name>.css")
@public
def look(name: str) -> Response:
    """Return the style sheet of a look, to be kept for good at the address that names its content."""
    chosen = Look.named(name)
    if chosen is None:
        raise NotFound("There is no such look.")
    style = _style_of(chosen)
    response = Response(style, mimetype="text/css")
    is_current = request.args.get("v") == _digest(style)
    response.headers["Cache-Control"] = IMMUTABLE if is_current else "no-cache"
    return compressed(response, once)


@bp.app_template_global("look_url")
def look_url(appearance: Appearance) -> str:
    """Return the address of the style sheet of an appearance; empty where all is as the theme has it."""
    return _address_of(Look.of(appearance))


@lru_cache(maxsize=64)
def _address_of(chosen: Look) -> str:
    return "" if chosen.is_plain else f"/static/look/{chosen.name}.css?v={_digest(_style_of(chosen))}"


@bp.app_template_global("font_url")
def font_url(appearance: Appearance) -> str:
    """Return the address of the font of an appearance, which pages load with their style sheets; empty for that of the
    theme."""
    file = Look.of(appearance).font_file
    return _vendored(file) if file else ""


@bp.app_template_global("shop_picture")
def shop_picture(shop: Shop, picture: StoredImage) -> ShownPicture:
    url = f"{MEDIA_PREFIX}{shop.site_id}/{picture.file}"
    sizes = srcset(url, picture.width, picture.height)
    return ShownPicture(url, sizes, picture.width, picture.height, form_of(url, "small"), jpeg_form(url))


@lru_cache(maxsize=64)
def _style_of(chosen: Look) -> str:
    return look_style(chosen, _vendored)


def _vendored(file: str) -> str:
    return static_url(f"vendor/{file}")


def _digest(style: str) -> str:
    return hashlib.sha256(style.encode()).hexdigest()[:12]
