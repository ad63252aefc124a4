"""The checkout: the contact of an order and how it is handed over, which says how it is paid; and the receipt of a
payment. An order that is delivered is shown with its total before it is placed; one that is collected costs what the
basket says, and is placed at once."""

from __future__ import annotations

import secrets
from typing import Any

from flask import redirect, request
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.callers import recipient_key
from app.blueprints.receipt_links import transaction_of_link
from app.blueprints.storefront.attribution import note_ordered
from app.blueprints.storefront.basket import (
    basket_context,
    basket_page,
    basket_token,
    private,
    set_order_cookies,
)
from app.blueprints.storefront.blueprint import bp, current_shop
from app.domain.delivery.addresses import Address
from app.domain.delivery.deliveries import delivery_of
from app.domain.delivery.rates import format_weight, quotes
from app.domain.orders import basket_contents
from app.domain.orders.basket import Contact
from app.domain.orders.checkout import BasketChanged, DeliveryNotSeen, place
from app.domain.orders.delivery_choice import (
    COLLECT,
    AgreedDelivery,
    DeliveryChoice,
    chosen_country,
    countries_by_choice,
    served_countries,
    unserved_country,
)
from app.domain.orders.models import OPEN
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST
from app.domain.pos.receipt_content import receipt_rows
from app.domain.pos.receipts import NO_RECEIPT, receipt_of
from app.domain.shared.problems import Invalid, NotFound, TooManyRequests
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import public

LONGEST_FIELD = 2_000
FIX = "/basket?notice=fix"
TOO_LATE = "Your basket changed. Check the marked items: your order has not been placed."


@bp.get("/checkout")
@public
def checkout() -> Response:
    site_id, token = current_shop().site_id, basket_token()
    held = basket_contents.basket_of(site_id, token)
    if held.can_be_ordered:
        return _form(Contact(), COLLECT)
    if held.lines:
        return redirect(FIX, 303)
    placed = basket_contents.order_by_token(site_id, token) if token else None
    was_ordered = placed is not None and placed.status != OPEN
    return redirect(f"/order/{token}" if was_ordered else "/basket", 303)


@bp.post("/checkout")
@public
def checkout_place() -> Response:
    """Place the order; or show it with its delivery first, or the form again to change what was typed."""
    contact, choice, seen = (
        Contact(*_texts("name", "email", "phone", "note")),
        _sent_choice(),
        request.form.get("seen", ""),
    )
    if request.form.get("step") == "change":
        return _form(contact, choice)
    site_id, token = current_shop().site_id, basket_token() or ""
    try:
        with transaction():
            address, form = request.remote_addr or "unknown", _secret_of_form()
            placed = place(ports.clock(), site_id, token, contact, seen, address, form, recipient_key(), choice)
            lines = placed.order.lines if placed.is_new else []
            sold = [(line.product_id, line.unit_price * line.quantity) for line in lines if line.product_id is not None]
    except Invalid as error:
        errors = {problem.pointer[2:]: problem.message for problem in error.problems}
        return _form(contact, choice, 400, errors=errors)
    except DeliveryNotSeen as error:
        return _review(contact, error.agreed)
    except BasketChanged as error:
        return _form(contact, choice, 409, refused=error.message)
    except TooManyRequests as error:
        answer = _form(contact, choice, 429, refused=error.message)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer
    except NotFound as error:
        return basket_page(error.message, "bad", 404)
    note_ordered(sold)
    answer = redirect(f"/order/{placed.token}", 303)
    set_order_cookies(answer, placed.token)
    return answer


def _texts(*names: str) -> list[str]:
    return [request.form.get(name, "")[:LONGEST_FIELD] for name in names]


def _sent_choice() -> DeliveryChoice:
    address = Address(*_texts("recipient", "line1", "line2", "city", "postcode", "country"))
    return DeliveryChoice(request.form.get("method", "")[:LONGEST_FIELD], address)


def _form(
    contact: Contact,
    choice: DeliveryChoice,
    status: int = 200,
    errors: dict[str, str] | None = None,
    refused: str = "",
) -> Response:
    """The form with the basket as it is now; a basket that cannot be ordered is shown itself, as a page of its own
    where only a field of the form was requested."""
    shop = current_shop()
    held = basket_contents.basket_of(shop.site_id, basket_token())
    if not held.can_be_ordered:
        return redirect_page(FIX) if wants_fragment() else basket_page(TOO_LATE, "bad", status)
    delivery = delivery_of(shop.site_id)
    parcel = held.parcel(delivery)
    offered = quotes(delivery, parcel, shop.currency)
    countries = served_countries(offered)
    of_choice, others = countries_by_choice(choice, delivery, countries)
    context: dict[str, Any] = {
        "contact": contact,
        "choice": choice,
        "delivery": delivery,
        "quotes": offered,
        "weight": format_weight(parcel.weight) if delivery.weighs else "",
        "countries": of_choice,
        "other_countries": others,
        "unserved": unserved_country(choice, delivery),
        "country": chosen_country(choice, delivery, countries),
        "errors": errors or {},
        "refused": refused,
        **_context_of_form(),
    }
    return private("storefront/checkout.html", status, **context, **basket_context(held))


def _review(contact: Contact, agreed: AgreedDelivery) -> Response:
    """The order with its delivery and total as it will be placed."""
    held = basket_contents.basket_of(current_shop().site_id, basket_token())
    context: dict[str, Any] = {
        "contact": contact,
        "agreed": agreed,
        "seen": agreed.seen(held),
        "total": held.total + agreed.price,
    }
    return private("storefront/checkout_review.html", **context, **_context_of_form(), **basket_context(held))


def _context_of_form() -> dict[str, Any]:
    return {
        "form": _secret_of_form() or secrets.token_urlsafe(),
        "days_kept": CONTACT_KEPT.days,
        "years_kept": CONTACT_KEPT_AT_MOST.days // 365,
    }


def _secret_of_form() -> str:
    """Return the secret that is made with the form, so that only its viewer knows which order came from it."""
    return request.form.get("form", "")[:LONGEST_FIELD]


@bp.get("/r/<token>")
@public
def receipt(token: str) -> Response:
    """The receipt of a payment, for every holder of its link."""
    site_id = current_shop().site_id
    transaction_id = transaction_of_link(site_id, token)
    if transaction_id is None:
        raise NotFound(NO_RECEIPT)
    issued = receipt_of(site_id, transaction_id)
    answer = private("storefront/receipt.html", receipt=issued, rows=receipt_rows(issued), items=0)
    answer.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    answer.headers["Referrer-Policy"] = "no-referrer"  # The link opens the receipt: no other site learns it.
    return answer
