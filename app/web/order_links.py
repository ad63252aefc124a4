"""Links to the pages of orders, for every surface and job that names one to its shopper."""

from __future__ import annotations

from app.web.tokens import current_signer, order_of_token, order_token


def order_path(site_id: int, order_id: str) -> str:
    return f"/order/{order_token(current_signer(), site_id, order_id)}"


def calendar_path(site_id: int, order_id: str) -> str:
    return f"/orders/{order_token(current_signer(), site_id, order_id)}/collect.ics"


def order_of_link(site_id: int, token: str) -> str | None:
    """Return the id of the order of a link; None for a token that is not the site's."""
    return order_of_token(current_signer(), site_id, token)
