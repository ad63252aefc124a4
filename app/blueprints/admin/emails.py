"""The emails about orders as customers get them: each with made-up contents, which of them are sent, and a test."""

from __future__ import annotations

import uuid
from dataclasses import replace

from flask import Response, flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as Answer

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.shell import flash_saved, shell
from app.blueprints.callers import current_author
from app.domain.delivery.deliveries import delivery_of
from app.domain.merchandising.line_pictures import line_pictures
from app.domain.orders.mail_contents import OrderMailKind
from app.domain.orders.mail_samples import note_test, sample_mail
from app.domain.orders.mails import OrderMailSettings, change_mail_settings, mail_settings
from app.domain.orders.shop_contact import shop_contact
from app.domain.shared.problems import NotFound
from app.domain.work.context import read_afresh
from app.domain.work.mailing import Mail, MailNotSent
from app.operations.work_context import work_context
from app.transaction import transaction
from app.web.guards import POLICY
from app.web.permissions import Permission, requires

PATH = "/settings/emails"
LABELS = {
    OrderMailKind.RECEIVED: ("Order received", "At once, to every shopper who gave an address."),
    OrderMailKind.READY: ("Ready to collect", "When you mark an order as ready and leave the box ticked."),
    OrderMailKind.COLLECTED: ("Collected", "When you mark an order as collected."),
    OrderMailKind.CANCELLED: ("Cancelled", "When you cancel an order and leave the box ticked."),
    OrderMailKind.REFUNDED: ("Refund", "When a payment of an order is given back, once for each refund."),
}
LABELS_OF_DELIVERY = {
    OrderMailKind.READY: ("Ready to collect, or sent", LABELS[OrderMailKind.READY][1]),
    OrderMailKind.COLLECTED: ("Collected, or delivered", LABELS[OrderMailKind.COLLECTED][1]),
}
# The preview is a document of its own, in a frame of the page: nothing in it may run, load or be sent but pictures.
PREVIEW_POLICY = (
    "default-src 'none'; img-src https: http: data:; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'"
)


@bp.get(PATH)
@requires(Permission.MANAGE_SETTINGS)
def emails() -> Response:
    kind = _kind(request.args.get("show", OrderMailKind.RECEIVED.value))
    context = {
        "kinds": LABELS | LABELS_OF_DELIVERY if delivery_of(current_user.site_id).methods else LABELS,
        "kind": kind,
        "mail": _sample(kind, "preview", shell().shop_url),
        "settings": mail_settings(current_user.site_id),
        "reaches_people": ports.mailer().reaches_people,
    }
    answer = make_response(render_template("admin/emails.html", **context))
    answer.headers["Content-Security-Policy"] = f"{POLICY}; frame-src 'self'"
    return answer


@bp.post(PATH)
@requires(Permission.MANAGE_SETTINGS)
def emails_save() -> Answer:
    wanted = OrderMailSettings(collected="collected" in request.form, refunded="refunded" in request.form)
    with transaction():
        changed = change_mail_settings(current_author(), wanted)
    address = url_for("admin.emails")
    flash_saved(changed, "Saved.", "settings_order_mails", "order-mails", address)
    return redirect(address)


@bp.get(f"{PATH}/<mail_kind>/preview")
@requires(Permission.MANAGE_SETTINGS)
def email_preview(mail_kind: str) -> Response:
    """Return the HTML of a mail as a document of its own."""
    answer = make_response(_sample(_kind(mail_kind), "preview", shell().shop_url).html)
    answer.headers["Content-Security-Policy"] = PREVIEW_POLICY
    return answer


@bp.post(f"{PATH}/<mail_kind>/test")
@requires(Permission.MANAGE_SETTINGS)
def email_test(mail_kind: str) -> Answer:
    """Send a mail to the user who requests it."""
    chosen = _kind(mail_kind)
    mail = _sample(chosen, f"test-{uuid.uuid4()}")
    with transaction():
        note_test(current_author(), chosen)
    to, mailer = mail.to, ports.mailer()
    read_afresh()  # No connection of the database is held while the mail server answers.
    try:
        mailer.send(mail)
    except MailNotSent as error:
        flash(f"The test was not sent. {error}", "bad")
    else:
        flash(
            f"Sent to {to}." if mailer.reaches_people else "Written as a file: no mail server is set up.",
            "good" if mailer.reaches_people else "warn",
        )
    return redirect(url_for("admin.emails", show=chosen.value))


def _sample(kind: OrderMailKind, key: str, home: str = "") -> Mail:
    """Return a mail of a kind to the user. `home` is the address of the home page where the mail is only shown."""
    site_id, to = current_user.site_id, current_user.email
    shop = shop_contact(site_id, work_context().address_of)
    return sample_mail(ports.clock(), site_id, kind, to, key, line_pictures, replace(shop, home=home or shop.home))


def _kind(name: str) -> OrderMailKind:
    """Return the kind of a name. Raises NotFound."""
    try:
        return OrderMailKind(name)
    except ValueError:
        raise NotFound("There is no such email.") from None
