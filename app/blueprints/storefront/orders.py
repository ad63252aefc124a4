"""Orders that were placed: the page of each, its collection as a calendar file, and looking one up."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from flask import make_response, redirect, request
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.storefront.basket import basket_token, pictures_of, private
from app.blueprints.storefront.blueprint import bp, current_shop
from app.blueprints.storefront.rate_limit import count_failed_look_up, seconds_until_look_up
from app.domain.orders import basket_contents, look_up, mails
from app.domain.orders.calendar_file import CollectionEntry, calendar_file
from app.domain.orders.mail_contents import collection_lines, payment_lines
from app.domain.orders.models import OPEN, SUBMITTED, Order
from app.domain.orders.shop_contact import shop_contact
from app.domain.pos.order_payments import summary_of_order
from app.domain.shared.problems import Invalid, NotFound, TooManyRequests
from app.domain.sites import throttle
from app.web.order_links import calendar_path, order_of_link, order_path
from app.web.permissions import public

LONGEST_FIELD = 300
# With no-referrer, browsers send a form with `Origin: null`, which is refused where they do not say Sec-Fetch-Site.
FORM_REFERRER = "same-origin"


@bp.get("/order/<token>")
@public
def order(token: str) -> Response:
    """The page of an order, for every holder of its token or of a signed link to it. What the shopper typed is shown
    to the holder of the token alone: a link is mailed to an address that a stranger may have named."""
    placed, is_orderer = _order_at(token)
    contact = shop_contact(placed.site_id)
    context: dict[str, Any] = {
        "order": placed,
        "calendar": _calendar_path(placed, token),
        "is_orderer": is_orderer,
        "payments": summary_of_order(placed),
        "pictures": pictures_of(placed.lines),
        "confirmation": mails.confirmation_of(placed, ports.mailer()).value,
        "contact": contact,
        "pay_lines": payment_lines(placed, current_shop().delivery.payment_instructions),
        "time_zone": current_shop().time_zone,
        "items": 0,
    }
    return _unlisted(private("storefront/order.html", **context))


@bp.get("/orders/<token>/collect.ics")
@public
def order_calendar(token: str) -> Response:
    """The collection of an order as a calendar file: on the next day, or today once it is ready. Raises NotFound, also
    for an order that is not to be collected any more. Calendars are shared, so it names the page by a signed link, and
    none where that would not hold: never by the token, with which one sees what the shopper typed."""
    placed, _ = _order_at(token)
    if placed.status != SUBMITTED or placed.is_delivered:
        raise NotFound("This order is not waiting to be collected any more.")
    shop, now = shop_contact(placed.site_id), ports.clock().now()
    today = now.astimezone(ZoneInfo(current_shop().time_zone)).date()
    path = order_path(placed.site_id, placed.id) if placed.contact_email else ""
    url = f"{shop.home.rstrip('/')}{path}" if path else ""
    entry = CollectionEntry(
        uid=f"order-{placed.id}@{current_shop().primary_host}",
        revision=placed.revision,
        stamp=now.astimezone(UTC),
        day=today if placed.is_ready else today + timedelta(days=1),
        summary=f"Collect order {placed.number} at {shop.name}",
        description="\n".join((*collection_lines(shop), *([f"Your order: {url}"] if url else []))),
        place=", ".join((shop.name, *shop.address)),
        url=url,
    )
    answer = make_response(calendar_file(entry))
    answer.headers["Content-Type"] = "text/calendar; charset=utf-8"
    answer.headers["Content-Disposition"] = f'attachment; filename="order-{placed.number}.ics"'
    answer.headers["Cache-Control"] = "no-store"
    return _unlisted(answer)


@bp.get("/orders/find")
@public
def order_find() -> Response:
    return _look_up_page()


@bp.post("/orders/find")
@public
def order_find_open() -> Response:
    """Redirect to the page of the order with this number and email address. A wrong address and an unknown number have
    one answer."""
    number, email = (request.form.get(name, "")[:LONGEST_FIELD] for name in ("number", "email"))
    site_id = current_shop().site_id
    try:
        query = look_up.read_query(number, email)
        if wait := seconds_until_look_up(site_id, query.number):
            raise TooManyRequests(f"Too many orders were looked up. Try again in {throttle.spoken(wait)}.", wait)
        order_id = _found(site_id, query)
    except Invalid as error:
        errors = {problem.pointer[2:]: problem.message for problem in error.problems}
        return _look_up_page(number, email, 400, errors=errors)
    except TooManyRequests as error:
        answer = _look_up_page(number, email, 429, refused=error.message)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer
    except NotFound as error:
        return _look_up_page(number, email, 404, refused=error.message)
    answer = redirect(order_path(site_id, order_id), 303)
    answer.headers["Cache-Control"] = "no-store"
    return answer


def _found(site_id: int, query: look_up.OrderQuery) -> str:
    """Return the id of the order that a query finds. Raises NotFound, which counts for the limit of its number."""
    try:
        return look_up.find_order(site_id, query)
    except NotFound:
        count_failed_look_up(site_id, query.number)
        raise


def _look_up_page(
    number: str = "", email: str = "", status: int = 200, refused: str = "", errors: dict[str, str] | None = None
) -> Response:
    items = basket_contents.basket_of(current_shop().site_id, basket_token()).items
    context: dict[str, Any] = {
        "number": number,
        "email": email,
        "refused": refused,
        "errors": errors or {},
        "items": items,
    }
    answer = private("storefront/order_find.html", status, **context)
    answer.headers["Referrer-Policy"] = FORM_REFERRER
    return answer


def _calendar_path(placed: Order, token: str) -> str:
    """Return the path of the calendar file: by a signed link, which ends with the contact's email address; an order
    without one has its token alone."""
    return calendar_path(placed.site_id, placed.id) if placed.contact_email else f"/orders/{token}/collect.ics"


def _order_at(token: str) -> tuple[Order, bool]:
    """Return the order of a token or a signed link, and whether it is the token, which only the browser that placed the
    order was given. Raises NotFound."""
    site_id = current_shop().site_id
    placed = basket_contents.order_by_token(site_id, token)
    if placed is not None and placed.status != OPEN:
        return placed, True
    order_id = order_of_link(site_id, token)
    linked = look_up.linked_order(site_id, order_id) if order_id else None
    if linked is None:
        raise NotFound("This order does not exist, or it was collected long ago.")
    return linked, False


def _unlisted(answer: Response) -> Response:
    """Keep a page out of search engines, and its address, which opens an order, from other sites."""
    answer.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer
