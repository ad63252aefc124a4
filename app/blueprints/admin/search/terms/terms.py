"""Search terms: words that find one product, edited product by product."""

from __future__ import annotations

from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response as AnyResponse

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.admin.search import trials
from app.blueprints.admin.search.terms.form import AddedTerm, NewTerm
from app.blueprints.admin.shell import flash_undoable, undoable_entry
from app.blueprints.callers import current_author
from app.domain.catalogue import terms
from app.domain.catalogue import terms as term_list
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.catalogue.product_rules import split_terms
from app.domain.catalogue.queries import ProductRow, products_by_id
from app.domain.relevance.no_results import no_results
from app.domain.search.settings import stored_settings
from app.domain.shared.problems import Conflict, Invalid
from app.htmx import wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

PRODUCT = "/search/terms/<int(max=2147483647):product_id>"
NO_ERRORS = FieldErrors()
Answer = str | AnyResponse


@bp.get("/search/terms")
@requires(Permission.MANAGE_SEARCH)
def search_terms() -> Answer:
    """Show the products with search terms. `term` and `product` fill the form that adds; `edit` names the product whose
    row is open without JavaScript."""
    if wants_fragment():
        return render_template("admin/search/terms/_results.html", **_list())
    return _page(NewTerm.read(request.args))


@bp.post("/search/terms")
@requires(Permission.MANAGE_SEARCH)
def search_term_add() -> Answer:
    new = NewTerm.read(request.form)
    try:
        with transaction():
            added = new.add(current_author())
    except Invalid as invalid:
        return _adding(new, FieldErrors(invalid))
    if wants_fragment():
        return _adding(NewTerm(), added=added)
    address = url_for("admin.search_terms", q=added.row.sku)
    if added.is_new:
        flash_undoable(added.message, "product", added.row.id, address)
    else:
        flash(added.message, "good")
    return redirect(address)


@bp.post("/search/terms/try")
@requires(Permission.MANAGE_SEARCH)
def search_term_try() -> Answer:
    """Preview what adding the term would change; nothing is saved."""
    new = NewTerm.read(request.form)
    try:
        return trials.answer(new.proposal(current_user.site_id))
    except Invalid as invalid:
        return _adding(new, FieldErrors(invalid))


@bp.get(PRODUCT)
@requires(Permission.MANAGE_SEARCH)
def search_terms_of(product_id: int) -> Answer:
    """Return a row, closed or, with `edit`, open."""
    row = term_list.product_with_terms(current_user.site_id, product_id)
    if not wants_fragment():
        return redirect(url_for("admin.search_terms", q=row.sku, edit=row.id if "edit" in request.args else None))
    return _row(row, is_open="edit" in request.args)


@bp.post(PRODUCT)
@requires(Permission.MANAGE_SEARCH)
def search_terms_save(product_id: int) -> Answer:
    site_id, typed = current_user.site_id, request.form.get("terms", "")
    before = term_list.product_with_terms(site_id, product_id).terms
    try:
        with transaction():
            terms.replace_terms(current_author(), product_id, split_terms(typed), _read_before())
    except (Invalid, Conflict) as error:
        row = term_list.product_with_terms(site_id, product_id)
        return _row(row, is_open=True, typed=typed, errors=FieldErrors(error))
    row = term_list.product_with_terms(site_id, product_id)
    changed = row.terms != before
    undo = undoable_entry("product", product_id) if changed else None
    if wants_fragment():
        return _row(row, saved=True, undo=undo)
    address = url_for("admin.search_terms", q=request.args.get("q") or None)
    message = f"Saved the search terms of {row.name}. Search follows in a few seconds."
    if changed:
        flash_undoable(message, "product", product_id, address)
    else:
        flash(message, "good")
    return redirect(address)


def _read_before() -> list[str] | None:
    """Return the terms that the form was opened with; None from a client that does not send them."""
    read = request.form.get("read")
    return None if read is None else [term.strip() for term in split_terms(read) if term.strip()]


def _adding(new: NewTerm, errors: FieldErrors = NO_ERRORS, added: AddedTerm | None = None) -> Answer:
    status = errors.status if errors else 200
    if not wants_fragment():
        return make_response(_page(new, errors), status)
    context: dict[str, Any] = {"new": new, "errors": errors, "added": added, "choices": _choices(new, errors)}
    if added is not None:
        context |= _list("", 1) | {"marked": added.row.id}
        context["undo"] = undoable_entry("product", added.row.id) if added.is_new else None
    return make_response(render_template("admin/search/terms/_added.html", **context), status)


def _choices(new: NewTerm, errors: FieldErrors) -> list[ProductRow]:
    site_id = current_user.site_id
    ids = [row.id for row in new.choices(site_id)] if errors.at("product") else []
    return products_by_id(site_id, ids) if ids else []


def _row(
    row: term_list.TermRow,
    is_open: bool = False,
    typed: str | None = None,
    errors: FieldErrors = NO_ERRORS,
    saved: bool = False,
    undo: int | None = None,
) -> Answer:
    status = errors.status if errors else 200
    opened = {"row": row, "typed": ", ".join(row.terms) if typed is None else typed, "errors": errors}
    if not wants_fragment():
        return make_response(_page(NewTerm(), opened=opened), status)
    template = "admin/search/terms/_row_open.html" if is_open else "admin/search/terms/_row_closed.html"
    return make_response(render_template(template, **opened, saved=saved, undo=undo), status)


def _page(new: NewTerm, errors: FieldErrors = NO_ERRORS, opened: dict[str, Any] | None = None) -> str:
    site_id = current_user.site_id
    if opened is None and (edited := sent_number(request.args.get("edit", ""))) is not None:
        row = term_list.product_with_terms(site_id, edited)
        opened = {"row": row, "typed": ", ".join(row.terms), "errors": NO_ERRORS}
    return render_template(
        "admin/search/terms/page.html",
        new=new,
        errors=errors,
        added=None,
        choices=_choices(new, errors),
        opened=opened,
        tracking=stored_settings(site_id).tracking,
        no_results=no_results(ports.clock(), ports.search_engine(), site_id),
        **_list(),
    )


def _list(words: str | None = None, number: int | None = None) -> dict[str, Any]:
    if words is None:
        words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "").split())
    number = number or page_number(request.args.get("p"))
    found = term_list.products_with_terms(current_user.site_id, words, number)
    return {"found": found, "words": words, "marked": None}
