"""Giving many products a level or a value: those that were ticked in the list, or all that it is narrowed to."""

from __future__ import annotations

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_ids
from app.blueprints.admin.products.classify_form import LEVEL, VALUE, ClassifyForm
from app.blueprints.admin.products.filter_summary import describe_filters
from app.blueprints.author import current_author
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.products import MOST_AT_ONCE as MOST_TICKED
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.product_list import level_choices
from app.domain.taxonomy.tasks.assignments import (
    LevelPreview,
    ValuePreview,
    assign_level,
    assign_value,
    chosen_products,
    count_chosen,
    level_preview,
    levels_of,
    value_preview,
)
from app.domain.taxonomy.taxonomies import active_with_tree
from app.domain.taxonomy.tree import TaxonomyTree, attribute_choices
from app.htmx import redirect_page, wants_fragment
from app.permissions import Permission, requires
from app.transaction import transaction

Answer = str | Response
NO_ERRORS = FieldErrors()
MOST_AT_ONCE = 2_000  # Products whose preview takes a fraction of a second.


@bp.post("/catalogue/products/choose")
@requires(Permission.MANAGE_CATALOGUE)
def products_choose() -> Answer:
    """Redirect from the ticks of the list to the page about those products."""
    chosen = sent_ids(request.form, "product")
    filters = ProductList.read(request.args)
    if not chosen:
        flash("Tick the products first.", "bad")
    elif len(chosen) > MOST_TICKED:  # The address would be longer than servers and browsers take.
        flash(f"At most {MOST_TICKED} products can be ticked at once; these are {len(chosen):,}.", "bad")
        chosen = []
    address = _address(filters, chosen) if chosen else f"{url_for('admin.products_list')}?{filters.query()}"
    return redirect_page(address) if wants_fragment() else redirect(address)


@bp.get("/catalogue/products/classify")
@requires(Permission.MANAGE_CATALOGUE)
def products_classify() -> Answer:
    return _page(ClassifyForm.read(ProductList.read(request.args), request.args, request.args))


@bp.post("/catalogue/products/classify")
@requires(Permission.MANAGE_CATALOGUE)
def products_classify_start() -> Answer:
    """Start a classification; without `intent=start` show the form with its preview. For very many products the form
    requests the preview by itself (`intent=preview`), so that choosing stays quick."""
    form = ClassifyForm.read(ProductList.read(request.args), request.args, request.form)
    if request.form.get("intent") != "start":
        return _page(form)
    try:
        with transaction():
            task_id = _start(form).id
    except (Invalid, Conflict) as error:
        return _page(form, FieldErrors(error))
    address = url_for("admin.taxonomy_task", task_id=task_id)
    return redirect_page(address) if wants_fragment() else redirect(address)


def _start(form: ClassifyForm) -> TaxonomyTask:
    author = current_author()
    chosen = chosen_products(author.site_id, form.product_ids, form.filters)
    if form.what == LEVEL:
        return assign_level(author, chosen, form.level_id)
    return assign_value(author, chosen, form.attribute_id, form.way, form.given)


def _page(form: ClassifyForm, errors: FieldErrors = NO_ERRORS) -> Answer:
    site_id = current_user.site_id
    taxonomy = active_with_tree(ports.clock(), site_id)
    tree = taxonomy.tree if taxonomy else TaxonomyTree()
    chosen = chosen_products(site_id, form.product_ids, form.filters)
    products = count_chosen(site_id, chosen, tree)
    level_ids = levels_of(site_id, tree, chosen) if form.what == VALUE else []
    preview, is_due = None, form.is_complete and not errors
    awaits_preview = is_due and products > MOST_AT_ONCE and request.form.get("intent") != "preview"
    if is_due and not awaits_preview:
        try:
            preview = _preview(form, tree, chosen)
        except Invalid as invalid:
            errors = FieldErrors(invalid)
    context = {
        "form": form,
        "here": _address(form.filters, form.product_ids),
        "products": products,
        "levels": level_choices(tree),
        "attributes": attribute_choices(tree, level_ids),
        "value_input": form.value_input(tree, level_ids, errors.within("given")),
        "words": list(describe_filters(form.filters, tree)),
        "preview": preview,
        "awaits_preview": awaits_preview,
        "errors": errors,
    }
    template = "admin/products/_classify.html" if wants_fragment() else "admin/products/classify.html"
    status = errors.status if errors else 200
    return make_response(render_template(template, **context), status)


def _preview(form: ClassifyForm, tree: TaxonomyTree, chosen: dict[str, object]) -> LevelPreview | ValuePreview:
    site_id = current_user.site_id
    if form.what == LEVEL:
        return level_preview(site_id, tree, chosen, form.level_id)
    return value_preview(site_id, tree, chosen, form.attribute_id, form.way, form.given)


def _address(filters: ProductList, product_ids: object) -> str:
    page = url_for("admin.products_classify", product=product_ids)
    query = filters.query()
    return f"{page}{'&' if '?' in page else '?'}{query}" if query else page
