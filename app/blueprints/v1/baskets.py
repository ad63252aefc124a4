"""Baskets of programs and tills: filled by SKU, paid by card, submitted as orders."""

from __future__ import annotations

from functools import wraps
from typing import Any

from flask import g

from app.blueprints.v1.api import ApiBlueprint
from app.blueprints.v1.basket_shapes import (
    CREATE_EXAMPLE,
    UPDATE_EXAMPLE,
    BasketShape,
    CreateBasketBody,
    SubmitBasketBody,
    SubmittedShape,
    UpdateBasketBody,
)
from app.blueprints.v1.bearer import caller, calling_author, identified
from app.blueprints.v1.description import LOCATION
from app.domain.orders.basket_view import view_basket
from app.domain.orders.baskets import Owner, WantedLine, create_basket, find_basket, replace_lines
from app.domain.orders.models import Order
from app.domain.pos import access, baskets
from app.domain.pos.baskets import BasketUser
from app.domain.shared.problems import Forbidden
from app.permissions import DECLARED, Permission, View, allowed
from app.transaction import transaction

bp = ApiBlueprint("v1_baskets", __name__, tag="Basket", url_prefix="/v1/basket", description="Baskets")


def requires_basket_user(view: View) -> View:
    """Lets in agents and admins, with a token for a till or one for the API. Stands above the decorators that read
    the body."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        g.api_caller = identified()
        if not allowed(caller().roles, Permission.USE_POS):
            raise Forbidden("Your role on this site does not allow working at a till.", "pos_role_required")
        known = access.standing(caller().site_id, caller().user_id, caller().session_id, None)
        g.basket_user = BasketUser(caller().user_id, caller().roles, known.agent)
        return view(*args, **kwargs)

    setattr(checked, DECLARED, Permission.USE_POS.value)
    return checked  # type: ignore[return-value]


@bp.post("")
@requires_basket_user
@bp.described("createBasket", 401, 403, 404, 409, 415)
@bp.arguments(CreateBasketBody, example=CREATE_EXAMPLE)
@bp.response(201, BasketShape, headers=LOCATION)
def create(body: dict[str, Any]) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Begin a basket, with or without lines.

    Agents need the permission to build orders. Every line that names nothing for sale is listed in `errors` (400), and
    so is every line of which there is not enough in stock (409 `out_of_stock`).
    """
    baskets.check_builder(_user())
    owner = Owner(caller().user_id, body["channel"], _location(body.get("location_id")))
    with transaction():
        answer = _basket_json(create_basket(calling_author(), owner, _wanted(body)))
    return answer, 201, {"Location": f"/v1/basket/{answer['id']}"}


@bp.get("/<basket_id>")
@requires_basket_user
@bp.described("getBasket", 401, 403, 404)
@bp.response(200, BasketShape)
def basket(basket_id: str) -> dict[str, Any]:
    """A basket as it is now, also one that became an order."""
    return _basket_json(_checked(basket_id))


@bp.put("/<basket_id>")
@requires_basket_user
@bp.described("updateBasket", 401, 403, 404, 409, 415)
@bp.arguments(UpdateBasketBody, example=UPDATE_EXAMPLE)
@bp.response(200, BasketShape)
def update(body: dict[str, Any], basket_id: str) -> dict[str, Any]:
    """Put exactly these lines into a basket.

    `revision` is the one that was read last; after another change the answer is 409 `stale_revision` with
    `currentRevision`. While a payment is under way, and once it succeeded, it is 409 `basket_locked`.
    """
    with transaction():
        _checked(basket_id)
        return _basket_json(replace_lines(calling_author(), basket_id, _wanted(body), body["revision"]))


@bp.put("/<basket_id>/submit")
@requires_basket_user
@bp.described("submitBasket", 401, 403, 404, 409, 415)
@bp.arguments(SubmitBasketBody, required=False)
@bp.response(200, SubmittedShape)
def submit(body: dict[str, Any] | None, basket_id: str) -> dict[str, Any]:
    """Make a paid basket an order; again, it answers the same.

    Stock is counted down once and fulfilment follows once. What was paid is always placed: where stock ran out since
    the payment, staff are told what is missing. Not paid yet: 409 `payment_required`; paid with another amount than
    the total: 409 `amount_mismatch`. What costs nothing needs no payment.
    """
    with transaction():
        _checked(basket_id)
        order = baskets.submit_basket(calling_author(), basket_id, (body or {}).get("payment_intent_id"))
        return {"order_id": order.id, "order_number": str(order.number), "status": "SUBMITTED"}


def _user() -> BasketUser:
    found: BasketUser = g.basket_user
    return found


def _checked(basket_id: str) -> Order:
    """The basket, which the caller may use."""
    found = find_basket(caller().site_id, basket_id)
    baskets.check_basket(_user(), found)
    return found


def _location(location_id: str | None) -> str | None:
    """The till where it is filled, where the caller works."""
    if location_id is None:
        return None
    known = access.standing(caller().site_id, caller().user_id, caller().session_id, location_id)
    return access.check_location(known, caller().roles, settles=False).location_id


def _wanted(body: dict[str, Any]) -> list[WantedLine]:
    return [WantedLine(line["sku_code"], line["quantity"]) for line in body["lines"]]


def _basket_json(order: Order) -> dict[str, Any]:
    view = view_basket(order)
    return {
        "id": order.id,
        "order_number": str(order.number),
        "status": view.status,
        "channel": order.channel,
        "location_id": order.pos_location_id,
        "currency": order.currency,
        "lines": list(view.lines),
        "subtotal": view.subtotal,
        "discount": order.discount,
        "tax": order.tax,
        "total": view.total,
        "revision": order.revision,
        "payment_state": view.payment_state.value,
        "created": order.created_at,
        "updated": order.updated_at,
    }
