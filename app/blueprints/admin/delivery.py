"""How the shop delivers: a form whose buttons change only the form until it is saved."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user
from werkzeug.wrappers import Response

from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.delivery_form import GROUP, DeliveryForm
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.admin.site_value_pages import answer_save, answer_undo
from app.blueprints.callers import current_author
from app.domain.delivery.countries import GROUPS, NAMES
from app.domain.delivery.declaration import MOST_METHODS, PAYMENT_LABELS, RATE_LABELS, WeightUnit
from app.domain.delivery.deliveries import DELIVERIES, save_delivery, saved_delivery
from app.domain.shared.money import SYMBOLS
from app.domain.shared.problems import Conflict, Invalid
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.taxonomies import active_tree
from app.domain.taxonomy.tree import AttributeType
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

PAGE = "/settings/delivery"
Answer = str | Response | tuple[str, int]


@bp.get(PAGE)
@requires(Permission.MANAGE_SETTINGS)
def delivery() -> Answer:
    site_id = current_user.site_id
    return _page(DeliveryForm.of(saved_delivery(site_id), currency_of(site_id)), FieldErrors())


@bp.post(PAGE)
@requires(Permission.MANAGE_SETTINGS)
def delivery_save() -> Answer:
    form, site_id = DeliveryForm.read(request.form), current_user.site_id
    try:
        wanted = form.checked(currency_of(site_id))
        with transaction():
            changed = save_delivery(current_author(), form.revision, wanted)
    except (Invalid, Conflict) as refused:
        errors = FieldErrors(refused)
        if errors.is_stale:  # To save again overwrites the other save, of which the page says so.
            form.revision = saved_delivery(site_id).revision
        return _page(form, errors), errors.status
    return answer_save(DELIVERIES, "admin.delivery", changed)


@bp.post(f"{PAGE}/arrange")
@requires(Permission.MANAGE_SETTINGS)
def delivery_arrange() -> Answer:
    """Return the form with a method moved, added or removed, or with a further step or country; nothing is saved."""
    form, intent = DeliveryForm.read(request.form), request.form.get("intent", "")
    form.arrange(intent)
    template = "admin/delivery/_form.html" if wants_fragment() else "admin/delivery/page.html"
    return render_template(template, **_context(form, FieldErrors()), has_added=intent == "add")


@bp.post(f"{PAGE}/undo")
@requires(Permission.MANAGE_SETTINGS)
def delivery_undo() -> Response:
    return answer_undo(DELIVERIES, "admin.delivery")


def _page(form: DeliveryForm, errors: FieldErrors) -> str:
    return render_template("admin/delivery/page.html", **_context(form, errors))


def _context(form: DeliveryForm, errors: FieldErrors) -> dict[str, object]:
    site_id = current_user.site_id
    currency = currency_of(site_id)
    return {
        "form": form,
        "values": form.values,
        "errors": errors,
        "saved": saved_delivery(site_id),
        "rates": [(rate.value, label) for rate, label in RATE_LABELS.items()],
        "payments": [(payment.value, label) for payment, label in PAYMENT_LABELS.items()],
        "country_names": NAMES,
        "groups": [(f"{GROUP}{name}", name) for name in GROUPS],
        "units": [(unit.value, unit.value) for unit in WeightUnit],
        "attributes": _weight_attributes(site_id, form.values["weightAttribute"]),
        "money_unit": SYMBOLS.get(currency, currency.upper()),
        "most_methods": MOST_METHODS,
    }


def _weight_attributes(site_id: int, chosen: str) -> list[tuple[str, str]]:
    """Return the attributes that are numbers, as choices; the chosen one stays when the taxonomy has it no more."""
    known = {
        id: f"{found[0].name}{f' ({found[0].unit})' if found[0].unit else ''}"
        for id, found in active_tree(site_id).attributes_by_id().items()
        if found[0].type is AttributeType.NUMBER
    }
    gone = {chosen: f"{chosen} (no longer there)"} if chosen and chosen not in known else {}
    return [("", "None: each counts the weight below"), *(gone | known).items()]
