"""The description of the API as a page to read, made on the server from the same document that programs read."""

from __future__ import annotations

import re

from flask import Blueprint, current_app, render_template
from markupsafe import Markup, escape

from app.blueprints.v1.description import described
from app.blueprints.v1.reader_chapters import Page, read_page
from app.permissions import public

bp = Blueprint("v1_reader", __name__, url_prefix="/v1")
PAGE = "shop-api-page"
CODE = re.compile(r"`([^`]+)`")


@bp.get("/docs")
@public
def docs() -> str:
    """Show the page. The description is read once, since it does not change while the process runs."""
    page: Page | None = current_app.extensions.get(PAGE)
    if page is None:
        page = current_app.extensions[PAGE] = read_page(described())
    return render_template("v1/docs.html", page=page, prose=prose)


def prose(text: str) -> Markup:
    """Return a text as paragraphs, with what stands between backticks as code."""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]
    return Markup("").join(Markup("<p>{}</p>").format(_with_code(part)) for part in paragraphs)


def _with_code(text: str) -> Markup:
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))
