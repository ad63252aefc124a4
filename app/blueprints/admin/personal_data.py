"""Personal data: what the shop keeps about a person, as a download, and its erasure. The person is named in posted
forms, never in an address: addresses stay in histories and logs."""

from __future__ import annotations

import json
from datetime import datetime

from flask import Response, current_app, flash, redirect, render_template, request, stream_with_context, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as Answer

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.display import exact_time
from app.blueprints.admin.forms import FieldErrors
from app.blueprints.callers import current_author
from app.config import Config
from app.domain.bundles.archive import BundleFolder
from app.domain.orders.purge import CONTACT_KEPT, CONTACT_KEPT_AT_MOST, UNTOUCHED
from app.domain.personal_data import export
from app.domain.personal_data.erasure import OutsideStores, check_may_erase, erase, obstacles
from app.domain.personal_data.erasure_list import KEY
from app.domain.personal_data.people import Person, find_person
from app.domain.pos.purge import ADDRESSES_KEPT
from app.domain.shared.problems import Conflict, Forbidden, Invalid, NotFound, Problem
from app.transaction import transaction
from app.web.permissions import Permission, requires

Page = str | tuple[str, int]
NOT_CONFIRMED = "Nothing was erased. Type the text exactly as shown."


@bp.app_template_filter("personal_value")
def personal_value(value: object) -> str:
    if isinstance(value, datetime):
        return exact_time(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


@bp.get("/personal-data")
@requires(Permission.MANAGE_PERSONAL_DATA)
def personal_data() -> str:
    return _find_page("", FieldErrors())


@bp.post("/personal-data")
@requires(Permission.MANAGE_PERSONAL_DATA)
def personal_data_find() -> Page:
    try:
        person = _person()
    except (Invalid, NotFound) as refused:
        return _not_found(refused)
    return _person_page(person, FieldErrors())


@bp.post("/personal-data/export")
@requires(Permission.MANAGE_PERSONAL_DATA)
def personal_data_export() -> Response | Page:
    """Stream what is kept about a person as JSON, so that a long history neither fills memory nor leaves a file
    behind."""
    try:
        with transaction():
            person = _person()
            export.note_export(current_author(), person)
    except (Invalid, NotFound) as refused:
        return _not_found(refused)
    now = ports.clock().now()
    answer = Response(stream_with_context(export.export(person, now)), mimetype="application/json")
    answer.headers["Content-Disposition"] = f'attachment; filename="personal-data-{now:%Y-%m-%d}.json"'
    return answer


@bp.post("/personal-data/erase")
@requires(Permission.MANAGE_PERSONAL_DATA)
def personal_data_erase() -> Answer | Page:
    try:
        person = _person()
    except (Invalid, NotFound) as refused:
        return _not_found(refused)
    if request.form.get("confirmation", "").strip().casefold() != _to_type(person).casefold():
        return _person_page(person, FieldErrors(Invalid.one("not_confirmed", NOT_CONFIRMED, "#/confirmation"))), 400
    try:
        check_may_erase(current_user, person)
        erasure = erase(transaction, current_author(), person, _stores())
    except Invalid as refused:
        return _person_page(person, FieldErrors(refused)), 409
    except (Conflict, Forbidden) as refused:
        return _person_page(person, FieldErrors(Invalid([Problem(refused.code, refused.message)]))), 409
    flash(f"Erased permanently. {erasure.summary}.", "bad" if erasure.failure else "good")
    return redirect(url_for("admin.personal_data"))


def _person() -> Person:
    """Return the person whom the form names. Raises Invalid and NotFound."""
    return find_person(ports.clock(), current_user.site_id, request.form.get("who", ""))


def _to_type(person: Person) -> str:
    return person.email or request.form.get("who", "").strip()


def _not_found(refused: Invalid | NotFound) -> tuple[str, int]:
    invalid = refused if isinstance(refused, Invalid) else Invalid.one(refused.code, refused.message, "#/who")
    status = 400 if refused is invalid else 404
    who = request.form.get("who", "")
    return _find_page(who, FieldErrors(invalid)), status


def _find_page(who: str, errors: FieldErrors) -> str:
    days = {
        "contact": CONTACT_KEPT.days,
        "contact_at_most": CONTACT_KEPT_AT_MOST.days,
        "baskets": UNTOUCHED.days,
        "addresses": ADDRESSES_KEPT.days,
    }
    return render_template("admin/personal_data/find.html", who=who, errors=errors, days=days)


def _person_page(person: Person, errors: FieldErrors) -> str:
    return render_template(
        "admin/personal_data/person.html",
        person=person,
        who=_to_type(person),
        kept=export.kept_about(person),
        done=export.count_done(person),
        obstacles=obstacles(person),
        refusal=_refusal(person),
        shown=export.SHOWN,
        errors=errors,
    )


def _refusal(person: Person) -> str | None:
    try:
        check_may_erase(current_user, person)
    except Forbidden as refused:
        return refused.message
    return None


def _stores() -> OutsideStores:
    config: Config = current_app.config["SHOP"]
    return OutsideStores(config.key_for(KEY), ports.erasures(), ports.mailer(), BundleFolder(config.bundle_folder))
