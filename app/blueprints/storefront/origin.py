"""The protection of the shop's own forms against forgery.

They carry no token: a token belongs to a session, and the shop has none, so that a page is the same
for everybody and can be cached. Instead a request that changes something must not come from another
site's page, which browsers name with each request that is not just a link (Sec-Fetch-Site, before
that Origin, before that Referer). A request without any of these comes from no browser but from a
program, which has no shopper's cookie to abuse. Nor do other sites' forms send the cookie that
names a basket (SameSite).
"""

from __future__ import annotations

from flask import request

from app.blueprints.storefront.blueprint import bp
from app.domain.shared.problems import Forbidden
from app.guards import SAFE_METHODS, host_of


@bp.before_request
def refuse_foreign_origin() -> None:
    if request.method not in SAFE_METHODS and _is_foreign():
        raise Forbidden("Please use the form on the shop’s own page.")


def _is_foreign() -> bool:
    headers = request.headers
    fetched_from = headers.get("Sec-Fetch-Site")
    if fetched_from is not None:
        return fetched_from != "same-origin"
    named = headers.get("Origin") or headers.get("Referer")
    return named is not None and host_of(named) != request.host
