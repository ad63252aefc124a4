"""The X-Robots-Tag of every page: what the page decided, else noindex."""

from __future__ import annotations

from flask import Flask, Response, g

from app.domain.seo.indexing_decision import NOINDEX
from app.surfaces import current_surface

HIDDEN = "noindex, nofollow"


def init_robots(app: Flask) -> None:
    app.after_request(_tag)


def _tag(response: Response) -> Response:
    """Set X-Robots-Tag of HTML: the page's own decision, else noindex, since fragments, errors and baskets are not to
    be listed; for the admin nofollow as well."""
    if response.mimetype == "text/html" and "X-Robots-Tag" not in response.headers:
        robots = g.decision.robots if "decision" in g and response.status_code == 200 else NOINDEX
        response.headers["X-Robots-Tag"] = HIDDEN if current_surface().is_private else robots
    return response
