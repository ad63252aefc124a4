"""Orders: the list, the page of one, and the changes of its status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.product_pictures import pictures_of_lines
from app.blueprints.callers import current_author
from app.domain.delivery.deliveries import delivery_of
from app.domain.delivery.rates import format_weight
from app.domain.orders import lifecycle, queries, transfers
from app.domain.orders.lifecycle import StatusChange
from app.domain.orders.listing import OVERDUE_AFTER, OrderList
from app.domain.orders.mail_contents import OrderMailKind
from app.domain.orders.mails import BY_EMAIL, can_mail, mail_settings, mails_of
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST
from app.domain.pos.order_payments import (
    PaymentPart,
    location_names,
    payment_summaries,
    payments_of_order,
    submit_basket,
    summary_of,
    summary_of_order,
    words_of_tenders,
)
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict
from app.domain.sites.sites import time_zone_of
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

ORDER = "/orders/<order_id>"


@bp.get("/orders")
@requires(Permission.MANAGE_ORDERS)
def orders_list() -> Response:
    site_id, filters = current_user.site_id, OrderList.read(request.args)
    template = "admin/orders/_results.html" if wants_fragment() else "admin/orders/list.html"
    found = queries.orders(ports.clock(), site_id, filters)
    lines = queries.first_lines(found.items)
    pictures = pictures_of_lines(site_id, lines)
    context = {
        "found": found,
        "pictures": {line.order_id: pictures.get(line.id) for line in lines},
        "counts": queries.counts(ports.clock(), site_id),
        "filters": filters,
        "overdue_days": OVERDUE_AFTER.days,
        "delivers": bool(delivery_of(site_id).methods),
        "payments": payment_summaries(site_id, {row.id: row.total if row.is_paid else None for row in found.items}),
        "locations": location_names(site_id) if any(row.location_id for row in found.items) else {},
    }
    return make_response(render_template(template, **context))


@bp.get(ORDER)
@requires(Permission.MANAGE_ORDERS)
def order_page(order_id: str) -> str:
    site_id, clock = current_user.site_id, ports.clock()
    order = lifecycle.order_for_staff(site_id, order_id)
    payments = payments_of_order(site_id, order_id)
    context = {
        "order": order,
        "pictures": pictures_of_lines(site_id, order.lines),
        "payments": payments,
        "summary": summary_of(
            order.total if order.paid_at else None,
            [PaymentPart(one.tender_type, one.status, one.paid) for one in payments if not one.is_surplus],
        ),
        "kept": sum(payment.kept for payment in payments),
        "kept_how": words_of_tenders({payment.tender_type for payment in payments if payment.kept}),
        "paid": sum(payment.paid for payment in payments),
        "location": location_names(site_id).get(order.pos_location_id or "") if order.pos_location_id else None,
        "owner": queries.owner_of(order),
        "mails": mails_of(order),
        "reaches_people": ports.mailer().reaches_people,
        "by_email": BY_EMAIL,
        "can_mail_ready": can_mail(order, OrderMailKind.READY),
        "can_mail_cancelled": can_mail(order, OrderMailKind.CANCELLED),
        "mails_collected": mail_settings(site_id).collected and can_mail(order, OrderMailKind.COLLECTED),
        "happenings": queries.history(site_id, order_id),
        "time_zone": time_zone_of(site_id),
        "is_overdue": queries.is_overdue(clock, order),
        "weight": format_weight(order.delivery_weight),
        "can_reopen": lifecycle.can_reopen(order, clock),
        "days_kept": CONTACT_KEPT.days,
        "years_kept": CONTACT_KEPT_AT_MOST.days // 365,
    }
    return render_template("admin/orders/order.html", **context)


@bp.get(f"{ORDER}/packing-slip")
@requires(Permission.MANAGE_ORDERS)
def order_packing_slip(order_id: str) -> str:
    """Return the packing slip of an order, made to be printed."""
    site_id = current_user.site_id
    order = lifecycle.order_of(site_id, order_id)
    summary = summary_of_order(order)
    return render_template(
        "admin/orders/packing_slip.html",
        order=order,
        summary=summary,
        weight=format_weight(order.delivery_weight),
        time_zone=time_zone_of(site_id),
    )


@bp.post(f"{ORDER}/ready")
@requires(Permission.MANAGE_ORDERS)
def order_ready(order_id: str) -> Response:
    change = partial(lifecycle.mark_ready, by_email="by_email" in request.form)
    return _change(order_id, change, "is {ready}", "is {ready_briefly} already")


@bp.post(f"{ORDER}/not-ready")
@requires(Permission.MANAGE_ORDERS)
def order_not_ready(order_id: str) -> Response:
    return _change(order_id, lifecycle.mark_not_ready, "is not {ready_briefly} yet", "is not {ready_briefly} yet")


@bp.post(f"{ORDER}/collect")
@requires(Permission.MANAGE_ORDERS)
def order_collect(order_id: str) -> Response:
    return _change(order_id, lifecycle.collect, "is {done} and paid", "was {done} already")


@bp.post(f"{ORDER}/reopen")
@requires(Permission.MANAGE_ORDERS)
def order_reopen(order_id: str) -> Response:
    return _change(order_id, lifecycle.reopen, "is {reopened}", "is already {waiting}")


@bp.post(f"{ORDER}/paid")
@requires(Permission.MANAGE_ORDERS)
def order_paid(order_id: str) -> Response:
    """Record that the payment arrived by bank transfer."""
    return _change(order_id, transfers.note_transfer, "is paid", "is paid already")


@bp.post(f"{ORDER}/not-paid")
@requires(Permission.MANAGE_ORDERS)
def order_not_paid(order_id: str) -> Response:
    """Record that the payment did not arrive after all, or was transferred back."""
    return _change(order_id, transfers.revoke_transfer, "holds no bank transfer", "holds no bank transfer")


@bp.post(f"{ORDER}/cancel")
@requires(Permission.MANAGE_ORDERS)
def order_cancel(order_id: str) -> Response:
    change = partial(lifecycle.cancel, by_email="by_email" in request.form)
    return _change(order_id, change, "is cancelled", "was cancelled already")


@bp.post(f"{ORDER}/submit")
@requires(Permission.MANAGE_ORDERS)
def order_submit(order_id: str) -> Response:
    """Place the order of a basket that was paid and never became one."""
    try:
        with transaction():
            order = submit_basket(current_author(), order_id, accept_difference=True)
            flash(f"Order {order.number} is placed and {order.handover.waiting}.", "good")
    except Conflict as error:
        flash(error.message, "warn")
    return redirect(url_for("admin.order_page", order_id=order_id))


def _change(order_id: str, change: Callable[[Author, str], StatusChange], done: str, unchanged: str) -> Response:
    try:
        with transaction():
            made = change(current_author(), order_id)
    except Conflict as error:
        flash(error.message, "warn")
    else:
        if made.not_returned:
            names = ", ".join(made.not_returned)
            flash(
                f"Not counted back into stock: {names}. It is not in the catalogue any more, is not counted now, or is "
                "sold in variants now. What lies in the shop, please add to the stock where it belongs.",
                "warn",
            )
        words = (done if made.changed else unchanged).format_map(asdict(made.handover))
        flash(f"Order {made.number} {words}.", "good")
    return redirect(url_for("admin.order_page", order_id=order_id))
