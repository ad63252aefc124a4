"""Two cookies of a shopper: the token of the basket, which no script can read, and the number of its items, which a
script writes into the header of pages that are the same for all shoppers."""

from __future__ import annotations

from datetime import timedelta

from flask import current_app, request
from werkzeug.wrappers import Response

from app.domain.orders.purge import UNTOUCHED

COUNT = "basket-count"
LONGEST_TOKEN = 100
AFTER_ORDER = timedelta(hours=1)  # How long a button that is pressed again leads to the placed order.


def basket_token() -> str | None:
    """Return the token of the shopper's basket, which may no longer exist; None without one."""
    token = request.cookies.get(_name(), "")
    return token if 0 < len(token) <= LONGEST_TOKEN else None


def set_basket_cookies(response: Response, token: str, items: int) -> None:
    """Set the basket's cookies for as long as the basket itself is kept untouched."""
    _set(response, _name(), token, UNTOUCHED, httponly=True)
    _set(response, COUNT, str(items), UNTOUCHED, httponly=False)


def set_order_cookies(response: Response, token: str) -> None:
    """Set the basket's cookies after an order: no items, and a token that this browser soon forgets."""
    _set(response, _name(), token, AFTER_ORDER, httponly=True)
    _set(response, COUNT, "0", AFTER_ORDER, httponly=False)


def _name() -> str:
    """Return the name of the cookie. Behind https it has the prefix with which browsers let no other host set it."""
    return "__Host-basket" if _is_secure() else "basket"


def _set(response: Response, name: str, value: str, kept: timedelta, httponly: bool) -> None:
    response.set_cookie(name, value, max_age=kept, path="/", secure=_is_secure(), httponly=httponly, samesite="Lax")


def _is_secure() -> bool:
    return bool(current_app.config["SESSION_COOKIE_SECURE"])
