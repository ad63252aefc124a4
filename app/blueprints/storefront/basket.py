"""The basket: add to it, change it, look at it. Every form works without scripts; with them its part is swapped."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from flask import make_response, redirect, request
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.storefront import rate_limit
from app.blueprints.storefront.attribution import note_added
from app.blueprints.storefront.basket_cookie import basket_token, set_basket_cookies
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.domain.catalogue.product_rules import LONGEST_SKU
from app.domain.merchandising.product_pages import PagePicture, small_pictures
from app.domain.orders import basket_contents
from app.domain.orders.basket import Basket, BasketLine
from app.domain.orders.basket_contents import BasketChange
from app.domain.orders.models import OrderLine
from app.domain.orders.purge import UNTOUCHED
from app.domain.shared.problems import Conflict, DomainError, Invalid, NotFound, TooManyRequests
from app.htmx import wants_fragment
from app.permissions import public
from app.transaction import transaction

REFUSALS = (Conflict, Invalid, NotFound, TooManyRequests)
STATUS = {NotFound: 404, TooManyRequests: 429, Conflict: 409}
NO_NOTICE = ("", "")
NOTICES = {
    "added": ("Added to your basket.", "good"),
    "short": ("There are fewer in stock: your basket now has all that are left.", "warn"),
    "removed": ("Removed from your basket.", "good"),
    "fix": ("Check the marked items before you check out.", "bad"),
}


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
            may_begin = partial(rate_limit.allows, rate_limit.BASKETS)
            change = basket_contents.add(ports.clock(), site_id, token, sku, quantity, may_begin)
    except REFUSALS as error:
        return _not_added(error)
    note_added(change.product_id)
    return _with_cookies(_added(change), change)


@bp.post("/basket/lines/<int(max=2147483647):line_id>")
@public
def basket_change(line_id: int) -> Response:
    """Change a quantity in the basket. `to`, which a button sends, takes precedence over the typed quantity."""
    quantity = _number(request.form.get("to") or request.form.get("quantity", ""))
    site_id, token = current_shop().site_id, basket_token()
    try:
        with transaction():
            change = basket_contents.change(ports.clock(), site_id, token, line_id, quantity)
    except REFUSALS as error:
        return basket_page(error.message, "bad", _status(error))
    return _with_cookies(_changed(change), change)


def basket_page(notice: str = "", kind: str = "", status: int = 200) -> Response:
    """The basket with a notice, whose kind is good, warn or bad; with htmx only the part that changes."""
    shop = current_shop()
    held = basket_contents.basket_of(shop.site_id, basket_token())
    template = "storefront/_basket.html" if wants_fragment() else "storefront/basket.html"
    return private(template, status, notice=notice, kind=kind, days_kept=UNTOUCHED.days, **shown(held))


def shown(held: Basket) -> dict[str, Any]:
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


def _added(change: BasketChange) -> Response:
    if wants_fragment():
        return private("storefront/_added.html", change=change, refused="")
    return redirect(f"/basket?notice={'short' if change.short else 'added'}", 303)


def _not_added(error: DomainError) -> Response:
    if wants_fragment():
        answer = private("storefront/_added.html", _status(error), change=None, refused=error.message)
    else:
        answer = basket_page(error.message, "bad", _status(error))
    if isinstance(error, TooManyRequests):
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


def _changed(change: BasketChange) -> Response:
    """Return the answer to a change: for htmx the basket as it is now, else a redirect to it."""
    notice = "short" if change.short else "" if change.quantity else "removed"
    if wants_fragment():
        return basket_page(*NOTICES.get(notice, NO_NOTICE))
    return redirect(f"/basket?notice={notice}" if notice else "/basket", 303)


def _with_cookies(answer: Response, change: BasketChange) -> Response:
    set_basket_cookies(answer, change.token, change.items)
    return answer


def _status(error: DomainError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


def _number(text: str) -> int:
    """Return the sent number; for any other text -1, which is refused with a reason."""
    typed = text.strip()
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 6 else -1
