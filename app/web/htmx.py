"""Requests of htmx and answers to them."""

from __future__ import annotations

from flask import Response, request
from werkzeug.urls import iri_to_uri


def wants_fragment() -> bool:
    """Whether the request is for a part of a page. False for a link that replaces the body and for a restored history
    entry, which need the whole page."""
    headers = request.headers
    if headers.get("HX-Request") != "true":
        return False
    replaces_body = headers.get("HX-Boosted") == "true" and headers.get("HX-Target", "body") == "body"
    return not replaces_body and headers.get("HX-History-Restore-Request") != "true"


def push_address(response: Response, address: str) -> None:
    """Make the browser show the address of what a fragment shows, as a step that Back returns from. A restored history
    entry is such a step already: another one would leave Forward nowhere to go."""
    if wants_fragment():
        response.headers["HX-Push-Url"] = address


def redirect_page(location: str) -> Response:
    """Make the browser go to another page although the request is of htmx."""
    response = Response(status=204)
    response.headers["HX-Redirect"] = iri_to_uri(location)
    return response
