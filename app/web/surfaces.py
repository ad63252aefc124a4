"""The table of surfaces by path prefix: how each authenticates, what its errors look like, whether answers are private.

A new surface is a row here and a blueprint.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import request


@dataclass(frozen=True, slots=True)
class Surface:
    """A surface of the shop. `takes_cookies`: a browser may send a session or basket along, so requests that change
    something must come from a page of this host. `answers_json`: errors are problem+json whatever the client asks for;
    elsewhere they are `error_page` unless the request wants JSON or a fragment. `is_private`: nothing may be stored by
    caches. `news_id` is the element of each of its pages that shows what happened. `is_themed`: its pages have the
    theme of the site. `names_problems`: its problem documents have types of their own, made of their codes."""

    prefix: str
    takes_cookies: bool = True
    answers_json: bool = False
    error_page: str = "storefront/error.html"
    is_private: bool = False
    news_id: str | None = None
    is_themed: bool = False
    names_problems: bool = False

    def problem_type(self, code: str) -> str:
        """The `type` of a problem document (RFC 9457)."""
        return problem_type(code) if self.names_problems else "about:blank"


SURFACES = (
    # Bearer tokens: blueprints/v1/callers.py.
    Surface("/v1/", takes_cookies=False, answers_json=True, is_private=True, names_problems=True),
    # Sessions: permissions.requires.
    Surface("/admin", error_page="admin/error.html", is_private=True, news_id="flashes"),
    # One page without anything of a person: what is behind it is /v1.
    Surface("/till", takes_cookies=False, error_page="till/error.html"),
    Surface("/", is_themed=True),  # The storefront, pictures and health: public.
)


def problem_type(code: str) -> str:
    """Return the type of a problem, `/problems/amount-exceeds-limit` for `amount_exceeds_limit`."""
    return f"/problems/{code.replace('_', '-')}"


def current_surface() -> Surface:
    path = request.path
    return next((surface for surface in SURFACES if path.startswith(surface.prefix)), SURFACES[-1])
