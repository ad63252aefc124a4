"""Orders: who collects what, and what became of it."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.domain.orders import queries, settling
from app.domain.orders.listing import OVERDUE_AFTER, OrderList
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST
from app.domain.orders.settling import Settled
from app.domain.shared.problems import Conflict
from app.domain.sites.time_zone import time_zone_of
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

ORDER = "/orders/<order_id>"


@bp.get("/orders")
@requires(Permission.MANAGE_ORDERS)
def orders_list() -> Response:
    site_id, asked = current_user.site_id, OrderList.read(request.args)
    template = "admin/orders/_results.html" if wants_fragment() else "admin/orders/list.html"
    found, counts = queries.orders(ports.clock(), site_id, asked), queries.counts(ports.clock(), site_id)
    context = {"found": found, "counts": counts, "asked": asked, "overdue_days": OVERDUE_AFTER.days}
    return make_response(render_template(template, **context))


@bp.get(ORDER)
@requires(Permission.MANAGE_ORDERS)
def order_page(order_id: str) -> str:
    site_id, clock = current_user.site_id, ports.clock()
    order = settling.order_of(site_id, order_id)
    context = {
        "order": order,
        "happenings": queries.history(site_id, order_id),
        "time_zone": time_zone_of(site_id),
        "is_overdue": queries.is_overdue(clock, order),
        "can_reopen": settling.can_reopen(order, clock),
        "days_kept": CONTACT_KEPT.days,
        "years_kept": CONTACT_KEPT_AT_MOST.days // 365,
    }
    return render_template("admin/orders/order.html", **context)


@bp.post(f"{ORDER}/collect")
@requires(Permission.MANAGE_ORDERS)
def order_collect(order_id: str) -> Response:
    try:
        with transaction():
            settled = settling.collect(ports.clock(), current_user.site_id, order_id, current_user.display_name)
    except Conflict as error:
        return _back(order_id, error.message, "warn")
    return _back(order_id, _told(settled, "is collected and paid", "was collected already"), "good")


@bp.post(f"{ORDER}/reopen")
@requires(Permission.MANAGE_ORDERS)
def order_reopen(order_id: str) -> Response:
    try:
        with transaction():
            settled = settling.reopen(ports.clock(), current_user.site_id, order_id, current_user.display_name)
    except Conflict as error:
        return _back(order_id, error.message, "warn")
    return _back(order_id, _told(settled, "is to hand over again", "is to hand over already"), "good")


@bp.post(f"{ORDER}/cancel")
@requires(Permission.MANAGE_ORDERS)
def order_cancel(order_id: str) -> Response:
    try:
        with transaction():
            settled = settling.cancel(ports.clock(), current_user.site_id, order_id, current_user.display_name)
    except Conflict as error:
        return _back(order_id, error.message, "warn")
    if settled.not_returned:
        names = ", ".join(settled.not_returned)
        flash(
            f"Not counted back into stock: {names}. It is not in the catalogue any more, is not counted now, or is "
            "sold in variants now. What lies in the shop, please add to the stock where it belongs.",
            "warn",
        )
    return _back(order_id, _told(settled, "is cancelled", "was cancelled already"), "good")


def _told(settled: Settled, done: str, before: str) -> str:
    return f"Order {settled.number} {done if settled.changed else before}."


def _back(order_id: str, told: str, kind: str) -> Response:
    flash(told, kind)
    return redirect(url_for("admin.order_page", order_id=order_id))
