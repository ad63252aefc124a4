"""The places where the shop takes cards."""

from __future__ import annotations

from flask import flash, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_revision
from app.blueprints.author import current_author, is_superadmin
from app.domain.pos import locations
from app.domain.pos.models import PosLocation
from app.domain.pos.processor import Address, ProcessorError
from app.domain.pos.rules import LocationFields
from app.domain.shared.problems import Conflict, Invalid
from app.permissions import Permission, requires
from app.transaction import transaction

LOCATION = "/pos/locations/<location_id>"
NEW = LocationFields("", Address(country="GB"))
Answer = str | Response | tuple[str, int]


@bp.get("/pos/locations/new")
@requires(Permission.MANAGE_POS)
def pos_location_new() -> str:
    return _new_page(NEW, "", FieldErrors())


@bp.post("/pos/locations/new")
@requires(Permission.MANAGE_POS)
def pos_location_add() -> Answer:
    fields, location_id = _typed(request.form), request.form.get("id", "").strip()
    author, processor = current_author(), ports.payment_processor()
    try:
        locations.add(author, transaction, processor, fields, location_id or None, is_superadmin())
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        return _new_page(fields, location_id, errors), errors.status
    except ProcessorError as error:
        return _new_page(fields, location_id, FieldErrors(Conflict(error.message))), 502
    flash(f"Added {fields.display_name.strip()}. Choose which agents work there.", "good")
    return redirect(url_for("admin.pos_settings"))


@bp.get(LOCATION)
@requires(Permission.MANAGE_POS)
def pos_location(location_id: str) -> str:
    place = locations.location_at(current_user.site_id, location_id)
    return _edit_page(place, place.fields, place.enabled, FieldErrors())


@bp.post(LOCATION)
@requires(Permission.MANAGE_POS)
def pos_location_save(location_id: str) -> Answer:
    fields, enabled = _typed(request.form), "enabled" in request.form
    try:
        with transaction():
            revision, author = sent_revision(request.form), current_author()
            changed = locations.edit(author, location_id, revision, fields, enabled, is_superadmin())
    except (Invalid, Conflict) as error:
        errors = FieldErrors(error)
        place = locations.location_at(current_user.site_id, location_id)
        return _edit_page(place, fields, enabled, errors), errors.status
    flash(f"Saved {fields.display_name.strip()}." if changed else "No changes to save.", "good")
    return redirect(url_for("admin.pos_settings"))


def _typed(sent: MultiDict[str, str]) -> LocationFields:
    address = Address(
        line1=sent.get("line1", ""),
        line2=sent.get("line2", ""),
        city=sent.get("city", ""),
        state=sent.get("state", ""),
        postal_code=sent.get("postalCode", ""),
        country=sent.get("country", ""),
    )
    return LocationFields(sent.get("displayName", ""), address, sent.get("processorAccountId"))


def _new_page(fields: LocationFields, location_id: str, errors: FieldErrors) -> str:
    return render_template("admin/pos/locations/new.html", fields=fields, location_id=location_id, errors=errors)


def _edit_page(place: PosLocation, fields: LocationFields, enabled: bool, errors: FieldErrors) -> str:
    return render_template(
        "admin/pos/locations/edit.html", location=place, fields=fields, enabled=enabled, errors=errors
    )
