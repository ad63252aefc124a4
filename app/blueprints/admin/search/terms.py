"""Search terms: words that find one product, edited product by product, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from flask import flash, jsonify, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_number
from app.blueprints.admin.search import trials
from app.blueprints.admin.shell import flash_undoable, undoable_entry
from app.blueprints.callers import current_author
from app.blueprints.json_body import json_body
from app.domain.catalogue import terms
from app.domain.catalogue import terms as term_list
from app.domain.catalogue.listing import LONGEST_WORDS, page_number
from app.domain.catalogue.product_rules import clean_terms, split_terms
from app.domain.catalogue.queries import ProductRow, products_by_id, referred_product
from app.domain.catalogue.terms import TermRow
from app.domain.relevance.no_results import no_results
from app.domain.relevance.proposals import TermsProposal
from app.domain.search.settings import stored_settings
from app.domain.shared.author import Author
from app.domain.shared.problems import Conflict, Invalid, Problem
from app.domain.shared.schema import Items, Record, Whole
from app.transaction import transaction
from app.web.htmx import wants_fragment
from app.web.permissions import Permission, requires

PRODUCT = "/search/terms/<int(max=2147483647):product_id>"
NO_ERRORS = FieldErrors()
Answer = str | Response
TERMS = Record(terms=Items(required=True), revision=Whole())
REST_PRODUCT = "/search/terms/rest/<int(max=2147483647):product_id>"


@dataclass(frozen=True, slots=True)
class AddedTerm:
    """A search term that was added. `is_new` is False where the product had the term already."""

    term: str
    row: TermRow
    is_new: bool

    @property
    def message(self) -> str:
        if not self.is_new:
            return f"{self.row.name} has “{self.term}” already."
        follows = "Search follows in a few seconds." if self.row.enabled else "It is hidden, so shoppers do not see it."
        return f"“{self.term}” now finds {self.row.name}. {follows}"


@dataclass(frozen=True, slots=True)
class NewTerm:
    """The form as typed. `product` is a SKU, an SEO name, an id, or words of a name that only one product has; `chosen`
    is the SKU of the one chosen where several had them."""

    term: str = ""
    product: str = ""
    chosen: str = ""

    @classmethod
    def read(cls, sent: Mapping[str, str]) -> NewTerm:
        return cls(*(sent.get(name, "").replace("\0", "")[:LONGEST_WORDS] for name in ("term", "product", "chosen")))

    def choices(self, site_id: int) -> list[TermRow]:
        """Return the products among which to choose; none where the product is clear."""
        if referred_product(site_id, self._reference) is not None:
            return []
        found = term_list.find_with_terms(site_id, self._reference)
        return found if len(found) > 1 else []

    def add(self, author: Author) -> AddedTerm:
        """Add the term. Raises Invalid with every problem of both fields."""
        row = self._check_product(author.site_id)
        had = [term.casefold() for term in row.terms]
        terms.add_terms(author, row.id, [self.term])
        added = term_list.product_with_terms(author.site_id, row.id)
        return AddedTerm(self.term.strip(), added, self.term.strip().casefold() not in had)

    def proposal(self, site_id: int) -> TermsProposal:
        """Return the proposal to preview. Raises Invalid with every problem of both fields."""
        return TermsProposal(self._check_product(site_id).id, (self.term.strip(),), add=True)

    @property
    def _reference(self) -> str:
        return self.chosen or self.product

    def _check_product(self, site_id: int) -> TermRow:
        problems: list[Problem] = []
        if not self.term.strip():
            problems.append(Problem("required", "Enter the word that shoppers use.", "#/term"))
        try:
            clean_terms([self.term])
        except Invalid as invalid:
            problems += [replace(problem, pointer="#/term") for problem in invalid.problems]
        row = self._find_product(site_id, problems)
        if problems or row is None:
            raise Invalid(problems)
        return row

    def _find_product(self, site_id: int, problems: list[Problem]) -> TermRow | None:
        """Return the product; an unknown or ambiguous one is added to the problems."""
        product = referred_product(site_id, self._reference)
        if product is not None:
            return term_list.product_with_terms(site_id, product.id)
        words = self._reference.strip()
        found = term_list.find_with_terms(site_id, self._reference)
        if len(found) == 1:
            return found[0]
        message = f"More than one product has “{words[:60]}”: choose one of these, or enter a SKU."
        if not found:
            message = f"No product has “{words[:60]}” in its name, SKU or SEO name."
        if not words:
            message = "Find the product by its name or SKU."
        problems.append(Problem("unknown_product", message, "#/product"))
        return None


@bp.get("/search/terms")
@requires(Permission.MANAGE_SEARCH)
def search_terms() -> Answer:
    """Show the products with search terms. `term` and `product` fill the form that adds; `edit` names the product whose
    row is open without JavaScript."""
    if wants_fragment():
        return render_template("admin/search/terms/_results.html", **_list_context())
    return _show_page(NewTerm.read(request.args))


@bp.post("/search/terms")
@requires(Permission.MANAGE_SEARCH)
def search_term_add() -> Answer:
    new = NewTerm.read(request.form)
    try:
        with transaction():
            added = new.add(current_author())
    except Invalid as invalid:
        return _show_adding(new, FieldErrors(invalid))
    if wants_fragment():
        return _show_adding(NewTerm(), added=added)
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
        return trials.show_preview(new.proposal(current_user.site_id))
    except Invalid as invalid:
        return _show_adding(new, FieldErrors(invalid))


@bp.get(PRODUCT)
@requires(Permission.MANAGE_SEARCH)
def search_terms_of(product_id: int) -> Answer:
    """Return a row, closed or, with `edit`, open."""
    row = term_list.product_with_terms(current_user.site_id, product_id)
    if not wants_fragment():
        return redirect(url_for("admin.search_terms", q=row.sku, edit=row.id if "edit" in request.args else None))
    return _show_row(row, is_open="edit" in request.args)


@bp.post(PRODUCT)
@requires(Permission.MANAGE_SEARCH)
def search_terms_save(product_id: int) -> Answer:
    site_id, typed = current_user.site_id, request.form.get("terms", "")
    before = term_list.product_with_terms(site_id, product_id).terms
    try:
        with transaction():
            terms.replace_terms(current_author(), product_id, split_terms(typed), _terms_at_opening())
    except (Invalid, Conflict) as error:
        row = term_list.product_with_terms(site_id, product_id)
        return _show_row(row, is_open=True, typed=typed, errors=FieldErrors(error))
    row = term_list.product_with_terms(site_id, product_id)
    changed = row.terms != before
    undo = undoable_entry("product", product_id) if changed else None
    if wants_fragment():
        return _show_row(row, saved=True, undo=undo)
    address = url_for("admin.search_terms", q=request.args.get("q") or None)
    message = f"Saved the search terms of {row.name}. Search follows in a few seconds."
    if changed:
        flash_undoable(message, "product", product_id, address)
    else:
        flash(message, "good")
    return redirect(address)


def _terms_at_opening() -> list[str] | None:
    """Return the terms that the form was opened with; None from a client that does not send them."""
    read = request.form.get("read")
    return None if read is None else [term.strip() for term in split_terms(read) if term.strip()]


def _show_adding(new: NewTerm, errors: FieldErrors = NO_ERRORS, added: AddedTerm | None = None) -> Answer:
    status = errors.status if errors else 200
    if not wants_fragment():
        return make_response(_show_page(new, errors), status)
    context: dict[str, Any] = {"new": new, "errors": errors, "added": added, "choices": _choices(new, errors)}
    if added is not None:
        context |= _list_context("", 1) | {"marked": added.row.id}
        context["undo"] = undoable_entry("product", added.row.id) if added.is_new else None
    return make_response(render_template("admin/search/terms/_added.html", **context), status)


def _choices(new: NewTerm, errors: FieldErrors) -> list[ProductRow]:
    site_id = current_user.site_id
    ids = [row.id for row in new.choices(site_id)] if errors.at("product") else []
    return products_by_id(site_id, ids) if ids else []


def _show_row(
    row: TermRow,
    is_open: bool = False,
    typed: str | None = None,
    errors: FieldErrors = NO_ERRORS,
    saved: bool = False,
    undo: int | None = None,
) -> Answer:
    status = errors.status if errors else 200
    opened = {"row": row, "typed": ", ".join(row.terms) if typed is None else typed, "errors": errors}
    if not wants_fragment():
        return make_response(_show_page(NewTerm(), opened=opened), status)
    template = "admin/search/terms/_row_open.html" if is_open else "admin/search/terms/_row_closed.html"
    return make_response(render_template(template, **opened, saved=saved, undo=undo), status)


def _show_page(new: NewTerm, errors: FieldErrors = NO_ERRORS, opened: dict[str, Any] | None = None) -> str:
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
        **_list_context(),
    )


def _list_context(words: str | None = None, number: int | None = None) -> dict[str, Any]:
    if words is None:
        words = " ".join(request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "").split())
    number = number or page_number(request.args.get("p"))
    found = term_list.products_with_terms(current_user.site_id, words, number)
    return {"found": found, "words": words, "marked": None}


@bp.get("/search/terms/rest/products")
@requires(Permission.MANAGE_SEARCH)
def search_terms_products() -> Response:
    words = request.args.get("q", "")[:LONGEST_WORDS].replace("\0", "")
    return jsonify({"products": [_row_json(row) for row in term_list.find_with_terms(current_user.site_id, words)]})


@bp.put(REST_PRODUCT)
@requires(Permission.MANAGE_SEARCH)
def search_terms_replace(product_id: int) -> Response:
    sent = _sent_terms(product_id)
    with transaction():
        terms.replace_terms(current_author(), product_id, sent["terms"], revision=sent.get("revision"))
    return _stored_terms(product_id)


@bp.post(f"{REST_PRODUCT}/add")
@requires(Permission.MANAGE_SEARCH)
def search_terms_more(product_id: int) -> Response:
    sent = _sent_terms(product_id)
    with transaction():
        terms.add_terms(current_author(), product_id, sent["terms"], sent.get("revision"))
    return _stored_terms(product_id)


def _sent_terms(product_id: int) -> dict[str, Any]:
    """Return the sent terms, and the product's revision where it is given. Raises NotFound, before the body is read,
    for an unknown product and for one of another site."""
    term_list.product_with_terms(current_user.site_id, product_id)
    return json_body(TERMS)


def _stored_terms(product_id: int) -> Response:
    row = term_list.product_with_terms(current_user.site_id, product_id)
    return jsonify({"productId": str(product_id), "terms": row.terms, "revision": row.revision})


def _row_json(row: TermRow) -> dict[str, object]:
    return {
        "id": str(row.id),
        "sku": row.sku,
        "name": row.name,
        "seoName": row.seo_name,
        "searchTerms": row.terms,
        "revision": row.revision,
    }
