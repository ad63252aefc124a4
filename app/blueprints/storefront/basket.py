"""The basket: add to it, change it, look at it. Every form works without scripts; with them its part is swapped."""

from __future__ import annotations

from typing import Any

from flask import make_response, redirect, request
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.storefront import pace
from app.blueprints.storefront.basket_cookie import basket_token, keep_basket
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.presentation import drawn
from app.blueprints.storefront.trail import note_added
from app.domain.catalogue.rules import LONGEST_SKU
from app.domain.merchandising.product_page import small_pictures
from app.domain.orders import filling
from app.domain.orders.basket import Basket
from app.domain.orders.filling import Filled
from app.domain.orders.purge import UNTOUCHED
from app.domain.shared.problems import Conflict, DomainError, Invalid, NotFound, TooManyRequests
from app.htmx import wants_fragment
from app.permissions import public
from app.transaction import transaction

REFUSALS = (Conflict, Invalid, NotFound, TooManyRequests)
STATUS = {NotFound: 404, TooManyRequests: 429, Conflict: 409}
SILENT = ("", "")
TOLD = {
    "added": ("Added to your basket.", "good"),
    "short": ("We have fewer than you asked for: your basket holds all that are left.", "warn"),
    "removed": ("Removed from your basket.", "good"),
    "mend": ("Please look at the lines that are marked before you check out.", "bad"),
}


@bp.get("/basket")
@public
def basket() -> Response:
    return basket_page(*TOLD.get(request.args.get("told", ""), SILENT))


@bp.post("/basket")
@public
def basket_add() -> Response:
    sku, quantity = request.form.get("sku", "")[:LONGEST_SKU], _number(request.form.get("quantity", "1"))
    site_id, token = current_shop().site_id, basket_token()
    try:
        with transaction():
            filled = filling.add(ports.clock(), site_id, token, sku, quantity, lambda: pace.allows(pace.BASKETS))
    except REFUSALS as error:
        return _not_added(error)
    note_added(filled.product_id)
    return _kept(_added(filled), filled)


@bp.post("/basket/lines/<int(max=2147483647):line_id>")
@public
def basket_change(line_id: int) -> Response:
    """`to` is a button's quantity and comes before the one that was typed."""
    quantity = _number(request.form.get("to") or request.form.get("quantity", ""))
    site_id, token = current_shop().site_id, basket_token()
    try:
        with transaction():
            filled = filling.change(ports.clock(), site_id, token, line_id, quantity)
    except REFUSALS as error:
        return basket_page(error.message, "bad", _status(error))
    return _kept(_changed(filled), filled)


def basket_page(told: str = "", kind: str = "", status: int = 200) -> Response:
    """The basket with a word about what just happened, which is good, warn or bad; with htmx only the part that
    changes."""
    shop = current_shop()
    held = filling.basket_of(shop.site_id, basket_token())
    template = "storefront/_basket.html" if wants_fragment() else "storefront/basket.html"
    return private(template, status, told=told, kind=kind, days_kept=UNTOUCHED.days, **shown(held))


def shown(held: Basket) -> dict[str, Any]:
    """What templates need to show a basket."""
    ids = {line.product_id for line in held.lines if line.product_id is not None}
    pictures = small_pictures(current_shop(), ids) if ids else {}
    return {"basket": held, "items": held.items, "pictures": pictures}


def private(template: str, status: int = 200, **context: Any) -> Response:
    """A page that is one shopper's: nobody keeps it, not even their own browser for the back button."""
    answer = make_response(drawn(template, shop=current_shop(), **context), status)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _added(filled: Filled) -> Response:
    if wants_fragment():
        return private("storefront/_added.html", filled=filled, refused="")
    return redirect(f"/basket?told={'short' if filled.short else 'added'}", 303)


def _not_added(error: DomainError) -> Response:
    if wants_fragment():
        answer = private("storefront/_added.html", _status(error), filled=None, refused=error.message)
    else:
        answer = basket_page(error.message, "bad", _status(error))
    if isinstance(error, TooManyRequests):
        answer.headers["Retry-After"] = str(error.retry_after)
    return answer


def _changed(filled: Filled) -> Response:
    """With htmx, the basket as it is now; the cookie is the same as before."""
    told = "short" if filled.short else "" if filled.quantity else "removed"
    if wants_fragment():
        return basket_page(*TOLD.get(told, SILENT))
    return redirect(f"/basket?told={told}" if told else "/basket", 303)


def _kept(answer: Response, filled: Filled) -> Response:
    keep_basket(answer, filled.token, filled.items)
    return answer


def _status(error: DomainError) -> int:
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 400)


def _number(text: str) -> int:
    """-1, which is refused in words, for what is no number."""
    typed = text.strip()
    return int(typed) if typed.isascii() and typed.isdigit() and len(typed) < 6 else -1
