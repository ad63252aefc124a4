"""The basket: add to it, change it, look at it. Every form works without scripts; with them its part is swapped.

A shopper has two cookies: the token of the basket, which no script can read, and the number of its items, which a
script writes into the header of pages that are the same for all shoppers.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from flask import current_app, make_response, redirect, request
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.storefront.attribution import note_added
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.blueprints.storefront.rate_limit import BASKETS, allows
from app.domain.catalogue.product_rules import LONGEST_SKU
from app.domain.delivery.rates import least_quote
from app.domain.merchandising.product_pages import PagePicture, small_pictures
from app.domain.orders import basket_contents
from app.domain.orders.basket import Basket, BasketLine
from app.domain.orders.models import OrderLine
from app.domain.orders.purge import UNTOUCHED
from app.domain.shared.problems import Conflict, DomainError, Invalid, NotFound, TooManyRequests
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import public

COUNT = "basket-count"
LONGEST_TOKEN = 100
AFTER_ORDER = timedelta(hours=1)  # How long a button that is pressed again leads to the placed order.
REFUSALS = (Conflict, Invalid, NotFound, TooManyRequests)
STATUS = {NotFound: 404, TooManyRequests: 429, Conflict: 409}
NO_NOTICE = ("", "")
NOTICES = {
    "added": ("Added to your basket.", "good"),
    "short": ("There are fewer in stock: your basket now has all that are left.", "warn"),
    "removed": ("Removed from your basket.", "good"),
    "fix": ("Check the marked items before you check out.", "bad"),
}


def basket_token() -> str | None:
    """Return the token of the shopper's basket, which may no longer exist; None without one."""
    token = request.cookies.get(_cookie_name(), "")
    return token if 0 < len(token) <= LONGEST_TOKEN else None


def set_basket_cookies(response: Response, token: str, items: int) -> None:
    """Set the basket's cookies for as long as the basket itself is kept untouched."""
    _set_cookie(response, _cookie_name(), token, UNTOUCHED, httponly=True)
    _set_cookie(response, COUNT, str(items), UNTOUCHED, httponly=False)


def set_order_cookies(response: Response, token: str) -> None:
    """Set the basket's cookies after an order: no items, and a token that this browser soon forgets."""
    _set_cookie(response, _cookie_name(), token, AFTER_ORDER, httponly=True)
    _set_cookie(response, COUNT, "0", AFTER_ORDER, httponly=False)


def _cookie_name() -> str:
    """Return the name of the cookie. Behind https it has the prefix with which browsers let no other host set it."""
    return "__Host-basket" if _is_secure() else "basket"


def _set_cookie(response: Response, name: str, value: str, kept: timedelta, httponly: bool) -> None:
    response.set_cookie(name, value, max_age=kept, path="/", secure=_is_secure(), httponly=httponly, samesite="Lax")


def _is_secure() -> bool:
    return bool(current_app.config["SESSION_COOKIE_SECURE"])


@bp.get("/basket")
@public
def basket() -> Response:
    return basket_page(*NOTICES.get(request.args.get("notice", ""), NO_NOTICE))


@bp.post("/basket")
@public
def basket_add() -> Response:
    sku, quantity = request.form.get("sku", "")[:LONGEST_SKU], _number(request.form.get("quantity", "1"))
    site_id, token = current_shop().site_id, basket_token()
    try:
        with transaction():
            may_begin = partial(allows, BASKETS)
            change = basket_contents.add(ports.clock(), site_id, token, sku, quantity, may_begin)
    except REFUSALS as error:
        if wants_fragment():
            refusal = private("storefront/_added.html", _status(error), change=None, refused=error.message)
        else:
            refusal = basket_page(error.message, "bad", _status(error))
        if isinstance(error, TooManyRequests):
            refusal.headers["Retry-After"] = str(error.retry_after)
        return refusal
    note_added(change.product_id)
    if wants_fragment():
        answer = added_answer(change)
    else:
        answer = redirect(f"/basket?notice={'short' if change.short else 'added'}", 303)
    set_basket_cookies(answer, change.token, change.items)
    return answer


def added_answer(change: basket_contents.BasketChange) -> Response:
    """The drawer with the line to which something was added, and with what else is in the basket."""
    held = basket_contents.basket_of(current_shop().site_id, change.token)
    added = [line for line in held.lines if line.id == change.line_id]
    others = [line for line in held.lines if line.id != change.line_id]
    context = {"change": change, "refused": "", "added": added, "others": others, **basket_context(held)}
    return private("storefront/_added.html", **context)


@bp.post("/basket/lines/<int(max=2147483647):line_id>")
@public
def basket_change(line_id: int) -> Response:
    """Change a quantity in the basket; return the basket as it is now for htmx, else a redirect to it. `to`, which a
    button sends, takes precedence over the typed quantity."""
    quantity = _number(request.form.get("to") or request.form.get("quantity", ""))
    site_id, token = current_shop().site_id, basket_token()
    try:
        with transaction():
            change = basket_contents.change(ports.clock(), site_id, token, line_id, quantity)
    except REFUSALS as error:
        return basket_page(error.message, "bad", _status(error))
    notice = "short" if change.short else "" if change.quantity else "removed"
    if wants_fragment():
        answer = basket_page(*NOTICES.get(notice, NO_NOTICE))
    else:
        answer = redirect(f"/basket?notice={notice}" if notice else "/basket", 303)
    set_basket_cookies(answer, change.token, change.items)
    return answer


def basket_page(notice: str = "", kind: str = "", status: int = 200) -> Response:
    """The basket with a notice, whose kind is good, warn or bad; with htmx only the part that changes."""
    shop = current_shop()
    held = basket_contents.basket_of(shop.site_id, basket_token())
    template = "storefront/_basket.html" if wants_fragment() else "storefront/basket.html"
    delivery = shop.delivery
    context: dict[str, Any] = {
        "notice": notice,
        "kind": kind,
        "days_kept": UNTOUCHED.days,
        "delivery": delivery,
        "least": least_quote(delivery, held.parcel(delivery), shop.currency),
        **basket_context(held),
    }
    return private(template, status, **context)


def basket_context(held: Basket) -> dict[str, Any]:
    """Return the context of templates that show a basket."""
    return {"basket": held, "items": held.items, "pictures": pictures_of(held.lines)}


def pictures_of(lines: Iterable[BasketLine | OrderLine]) -> dict[str, PagePicture]:
    """The small picture of each line's variant or product, by SKU."""
    products = {line.sku: line.product_id for line in lines if line.product_id is not None}
    return small_pictures(current_shop(), products) if products else {}


def private(template: str, status: int = 200, **context: Any) -> Response:
    """A page for one shopper, which no cache may store, not even the browser for its back button."""
    answer = make_response(drawn(template, shop=current_shop(), **context), status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _status(error: DomainError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


def _number(text: str) -> int:
    """Return the sent number; for any other text -1, which is refused with a reason."""
    typed = text.strip()
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 6 else -1
