"""The settings of Mobile POS: the switch, limits, cash, tips, quick unlock and the processor’s ids; and the places
where the shop takes payments."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, changes_since, sent_number, sent_revision, shown_settings
from app.blueprints.admin.pos.agents import read_limit
from app.blueprints.admin.shell import flash_saved
from app.blueprints.callers import current_author, is_superadmin
from app.domain.pos import locations, printing, settings
from app.domain.pos.models import PosLocation
from app.domain.pos.processor import Address, ProcessorError
from app.domain.pos.receipt_printer import PrinterTimedOut, PrinterUnavailable
from app.domain.pos.rules import LocationFields
from app.domain.pos.settings import LARGEST, PAGE, ROUNDING, PosSettings
from app.domain.shared.money import decimal_text, format_money
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.sites.setting_keys import SETTINGS
from app.domain.sites.sites import currency_of
from app.transaction import transaction
from app.web.permissions import Permission, requires

LOCATION = "/pos/locations/<location_id>"
NEW_LOCATION = LocationFields("", Address(country="GB"))
Answer = str | Response | tuple[str, int]


@bp.get("/pos/settings")
@requires(Permission.MANAGE_POS)
def pos_settings() -> str:
    stored = settings.stored_settings(current_user.site_id)
    largest = decimal_text(stored.largest or 0, currency_of(current_user.site_id))
    return _settings_page(stored, largest, shown_settings(PAGE.stored_form(stored)), FieldErrors())


@bp.post("/pos/settings")
@requires(Permission.MANAGE_POS)
def pos_settings_save() -> str | Response | tuple[str, int]:
    problems: list[Problem] = []
    wanted, shown = _typed_settings(request.form, problems), request.form.get("shown", "")
    try:
        if problems:
            raise Invalid(problems)
        with transaction():
            changes = changes_since(shown, PAGE.stored_form(wanted))
            changed = settings.change(current_author(), changes, may_share=is_superadmin())
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _settings_page(wanted, request.form.get(LARGEST, ""), shown, errors), errors.status
    address = url_for("admin.pos_settings")
    flash_saved(changed, f"Saved: {', '.join(changed)}.", "settings_pos", "pos", address)
    return redirect(address)


def _typed_settings(sent: MultiDict[str, str], problems: list[Problem]) -> PosSettings:
    currency = currency_of(current_user.site_id)
    return PosSettings(
        is_enabled="posEnabled" in sent,
        location_id=sent.get("posProcessorLocationId", "").strip(),
        account_id=sent.get("posProcessorAccountId", "").strip(),
        allows_quick_payments="posAllowQuickPayments" in sent,
        largest=read_limit(problems, sent, LARGEST, currency, required=True),
        allows_cash="posAllowCash" in sent,
        cash_rounding=_read_rounding(sent),
        allows_tips="posTipsEnabled" in sent,
        requires_unlock="posUnlockRequired" in sent,
    )


def _read_rounding(sent: MultiDict[str, str]) -> int:
    """Return the step to which cash is rounded; -1, which the settings refuse, for a text that is no number."""
    number = sent_number(sent.get(ROUNDING, "0"))
    return -1 if number is None else number


def _settings_page(form: PosSettings, largest: str, shown: str, errors: FieldErrors) -> str:
    site_id = current_user.site_id
    currency = currency_of(site_id)
    return render_template(
        "admin/pos/settings/page.html",
        form=form,
        largest=largest,
        shown=shown,
        errors=errors,
        places=locations.list_locations(site_id),
        currency=currency,
        rounding_options=[(step, _describe_rounding(step, currency)) for step in SETTINGS[ROUNDING].numbers],
        processor=ports.payment_processor().name,
    )


def _describe_rounding(step: int, currency: str) -> str:
    return f"To the nearest {format_money(step, currency)}" if step else "Exact amount"


@bp.get("/pos/locations/new")
@requires(Permission.MANAGE_POS)
def pos_location_new() -> str:
    return _new_location_page(NEW_LOCATION, "", FieldErrors())


@bp.post("/pos/locations/new")
@requires(Permission.MANAGE_POS)
def pos_location_add() -> Answer:
    fields, location_id = _typed_location(request.form), request.form.get("id", "").strip()
    author, processor = current_author(), ports.payment_processor()
    try:
        locations.add(author, transaction, processor, fields, location_id or None, is_superadmin())
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _new_location_page(fields, location_id, errors), errors.status
    except ProcessorError as error:
        return _new_location_page(fields, location_id, FieldErrors(Conflict(error.message))), 502
    flash(f"Added {fields.display_name.strip()}. Choose which agents work there.", "good")
    return redirect(url_for("admin.pos_settings"))


@bp.get(LOCATION)
@requires(Permission.MANAGE_POS)
def pos_location(location_id: str) -> str:
    place = locations.location_at(current_user.site_id, location_id)
    return _location_page(place, place.fields, place.enabled, FieldErrors())


@bp.post(LOCATION)
@requires(Permission.MANAGE_POS)
def pos_location_save(location_id: str) -> Answer:
    fields, enabled = _typed_location(request.form), "enabled" in request.form
    try:
        with transaction():
            revision, author = sent_revision(request.form), current_author()
            changed = locations.edit(author, location_id, revision, fields, enabled, is_superadmin())
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        place = locations.location_at(current_user.site_id, location_id)
        return _location_page(place, fields, enabled, errors), errors.status
    address = url_for("admin.pos_settings")
    flash_saved(changed, f"Saved {fields.display_name.strip()}.", "pos_location", location_id, address)
    return redirect(address)


@bp.post(f"{LOCATION}/printer")
@requires(Permission.MANAGE_POS)
def pos_printer_save(location_id: str) -> Answer:
    typed = request.form.get("printerAddress", "")
    try:
        with transaction():
            changed = printing.change_printer(current_author(), location_id, sent_revision(request.form), typed)
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        place = locations.location_at(current_user.site_id, location_id)
        return _location_page(place, place.fields, place.enabled, errors, typed), errors.status
    address = url_for("admin.pos_location", location_id=location_id)
    flash_saved(changed, "Saved the printer.", "pos_location", location_id, address)
    return redirect(address)


@bp.post(f"{LOCATION}/printer/test")
@requires(Permission.MANAGE_POS)
def pos_printer_test(location_id: str) -> Response:
    try:
        printing.print_test_page(ports.receipt_printer(), current_user.site_id, location_id)
    except (Conflict, PrinterUnavailable, PrinterTimedOut) as error:
        flash(error.message, "bad")
    else:
        flash("The printer took a test page. It prints now.", "good")
    return redirect(url_for("admin.pos_location", location_id=location_id))


def _typed_location(sent: MultiDict[str, str]) -> LocationFields:
    address = Address(
        line1=sent.get("line1", ""),
        line2=sent.get("line2", ""),
        city=sent.get("city", ""),
        state=sent.get("state", ""),
        postal_code=sent.get("postalCode", ""),
        country=sent.get("country", ""),
    )
    return LocationFields(sent.get("displayName", ""), address, sent.get("processorAccountId"))


def _new_location_page(fields: LocationFields, location_id: str, errors: FieldErrors) -> str:
    return render_template(
        "admin/pos/settings/new_location.html", fields=fields, location_id=location_id, errors=errors
    )


def _location_page(
    place: PosLocation, fields: LocationFields, enabled: bool, errors: FieldErrors, printer: str | None = None
) -> str:
    return render_template(
        "admin/pos/settings/location.html",
        location=place,
        fields=fields,
        enabled=enabled,
        errors=errors,
        printer=place.printer_address if printer is None else printer,
    )
