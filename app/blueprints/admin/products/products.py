"""Products: the list, and the editor's form with its Taxonomy part and the categories in which a product is placed by
hand."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import Difference, FieldErrors, sent_ids, sent_number
from app.blueprints.admin.products.form import ProductForm
from app.blueprints.admin.redirect_choice import sent_choice
from app.blueprints.admin.shell import flash_saved, flash_with_undo, undo_address_of
from app.blueprints.admin.taxonomy.products import TaxonomyForm, typed_texts
from app.blueprints.callers import current_author
from app.domain.catalogue import products, queries
from app.domain.catalogue.listing import LONGEST_WORDS, ProductList
from app.domain.catalogue.models import Product
from app.domain.catalogue.products import product_of
from app.domain.merchandising import categories
from app.domain.merchandising.product_pages import ProductEditor, product_editor
from app.domain.seo.redirects.moved_addresses import addresses_left_by
from app.domain.shared.problems import Conflict, Invalid, NotFound
from app.domain.sites.sites import currency_of
from app.domain.taxonomy.choices import find_levels
from app.domain.taxonomy.product_list import product_list
from app.domain.taxonomy.products.classification import SavedProduct, create_product, save_product, values_held
from app.domain.taxonomy.products.panel import product_panel
from app.domain.taxonomy.taxonomies import ActiveTaxonomy, active_with_tree
from app.transaction import transaction
from app.web.htmx import push_address, redirect_page, wants_fragment
from app.web.permissions import Permission, requires


@bp.get("/catalogue/product/taxonomy/fields")
@requires(Permission.MANAGE_CATALOGUE)
def product_taxonomy_fields() -> str:
    """Return the inputs for a level. The address may name a product, whose values fill them, and carry typed texts,
    which take precedence."""
    form = _stored_form(request.args.get("productId", ""))
    level_id = request.args.get("levelId", "")
    typed = TaxonomyForm(level_id=level_id, texts={**form.texts, **typed_texts(request.args)})
    taxonomy = active_with_tree(ports.clock(), current_user.site_id)
    if level_id and (taxonomy is None or level_id not in taxonomy.tree.levels):
        raise NotFound("The active taxonomy has no such level.")
    return render_template("admin/products/_taxonomy_fields.html", **panel_context_of(taxonomy, typed))


@bp.post("/catalogue/product/taxonomy/fields")
@requires(Permission.MANAGE_CATALOGUE)
def product_taxonomy_refill() -> str:
    """Return the Taxonomy part again, with all that was typed, after another level was chosen; nothing is saved."""
    form = TaxonomyForm.typed(request.form)
    context = panel_context_of(active_with_tree(ports.clock(), current_user.site_id), form)
    return render_template("admin/products/_taxonomy.html", editor=None, errors=FieldErrors(), changed=True, **context)


@bp.get("/catalogue/product/taxonomy/levels")
@requires(Permission.MANAGE_CATALOGUE)
def product_taxonomy_levels() -> str:
    """Return the levels whose names have the words, to choose one of them."""
    taxonomy = active_with_tree(ports.clock(), current_user.site_id)
    words = request.args.get("levelWords", "")[:LONGEST_WORDS]
    found = find_levels(taxonomy.tree, words) if taxonomy else None
    return render_template("admin/products/_level_choices.html", found=found, words=words.strip())


def panel_context(
    taxonomy: ActiveTaxonomy | None, form: ProductForm, product: Product | None = None
) -> dict[str, object]:
    """Return the taxonomy's part of the context of the form's template; `product` is None for a new one. Without
    JavaScript a level is chosen from a
    list, which is made only on request: a taxonomy may have 2,000 levels."""
    picking = request.form.get("intent") in ("pick-level", "show-level")
    return panel_context_of(taxonomy, form.taxonomy, picking, product)


def panel_context_of(
    taxonomy: ActiveTaxonomy | None, form: TaxonomyForm, picking: bool = False, product: Product | None = None
) -> dict[str, object]:
    panel = None
    if taxonomy:
        level_id, values = (product.taxonomy_level_id, product.taxonomy_attributes) if product else (None, {})
        stored = values_held(taxonomy.tree, level_id, values)
        panel = product_panel(taxonomy.tree, form.level_id, form.texts, stored)
    return {"taxonomy": taxonomy, "panel": panel, "picking": picking}


def _stored_form(product_id: str) -> TaxonomyForm:
    if not product_id:
        return TaxonomyForm()
    number = sent_number(product_id)
    if number is None:
        raise NotFound("There is no such product on this site.")
    return TaxonomyForm.of(product_of(current_user.site_id, number))


PRODUCT = "/catalogue/product/<int(max=2147483647):product_id>"
NOT_SAVED = FieldErrors()
MOST_IN_A_MESSAGE = 200
SAVED = "Saved. Search shows it in a few seconds."
NEW = ("admin/products/new.html", "admin/products/_new.html")  # The page, and the part of it that htmx swaps.
EDIT = ("admin/products/edit.html", "admin/products/_edit.html")
Answer = str | Response


@bp.get("/catalogue/products")
@requires(Permission.MANAGE_CATALOGUE)
def products_list() -> Answer:
    """Show the list of products. `choicesOf` names the level and the attribute for which the filters show choices.
    Where these differ from the chosen ones the filters are sent with the list; a value of another attribute is
    dropped."""
    filters = ProductList.read(request.args)
    level_id, _, attribute_id = request.args.get("choicesOf", f"{filters.level_id}|{filters.attribute}").rpartition("|")
    if attribute_id != filters.attribute:
        filters = replace(filters, value="")
    return _list(filters, renews=(level_id, attribute_id) != (filters.level_id, filters.attribute))


@bp.post("/catalogue/products/shown")
@requires(Permission.MANAGE_CATALOGUE)
def products_show() -> Answer:
    """Show the selected products in the shop or hide them, and return the list as it was."""
    enabled = request.form.get("action") == "enable"
    selected = sent_ids(request.form, "product")
    with transaction():
        changed = products.set_enabled(current_author(), selected, enabled)
    filters = ProductList.read(request.args)
    _flash_shown(changed, enabled, filters)
    if wants_fragment():
        return _list(filters, marked=selected)
    return redirect(f"{url_for('admin.products_list')}?{filters.query(page=filters.page)}")


def _flash_shown(changed: list[int], enabled: bool, filters: ProductList) -> None:
    """Flash how many products were shown or hidden, with the Undo of exactly those. The message may wait in a cookie,
    which holds the ids of a few pages of the list."""
    summary = _shown_summary(len(changed), enabled)
    if 0 < len(changed) <= MOST_IN_A_MESSAGE:
        address = f"{url_for('admin.products_show')}?{filters.query(page=filters.page)}"
        flash_with_undo(summary, address, action="disable" if enabled else "enable", product=changed)
    else:
        flash(summary, "good")


@bp.get("/catalogue/products/manufacturers")
@requires(Permission.MANAGE_CATALOGUE)
def products_manufacturers() -> Answer:
    words = request.args.get("manufacturer", "")[:LONGEST_WORDS]
    names = queries.manufacturers(current_user.site_id, words)
    return render_template("admin/products/_manufacturers.html", names=names)


@bp.get("/catalogue/product/new")
@requires(Permission.MANAGE_CATALOGUE)
def product_new() -> Answer:
    return _new_page(ProductForm.blank())


@bp.post("/catalogue/product/new")
@requires(Permission.MANAGE_CATALOGUE)
def product_create() -> Answer:
    form = ProductForm.typed(request.form)
    if intent := request.form.get("intent"):
        return _rows_or_page(form.after(intent), _new_page)
    form = form.without_blank_rows()
    try:
        draft = form.draft(currency_of(current_user.site_id))
        with transaction():
            made = create_product(current_author(), draft, form.terms, form.taxonomy.panel())
            product_id = made.saved.product.id
    except (Invalid, Conflict) as error:
        return _new_page(form, FieldErrors(error))
    address = url_for("admin.product_edit", product_id=product_id)
    if made.saved.refused_terms or made.dropped:
        return _page_in_place(_saved_editor(product_id, form, made, templates=(EDIT[0], EDIT[0])), address)
    flash("Added. Search shows it in a few seconds. Its pictures and categories can be added now.", "good")
    if made.not_applied:
        flash(made.not_applied, "warn")
    return redirect_page(f"{address}#images") if wants_fragment() else redirect(address)


def _page_in_place(page: Response, address: str) -> Response:
    """Make htmx show a whole page, at its address, in place of the one from which it was requested."""
    page.headers.update({"HX-Retarget": "#main", "HX-Reselect": "#main", "HX-Reswap": "outerHTML"})
    page.headers["HX-Push-Url"] = address
    return page


@bp.get(PRODUCT)
@requires(Permission.MANAGE_CATALOGUE)
def product_edit(product_id: int) -> Answer:
    return _editor(product_id)


@bp.post(PRODUCT)
@requires(Permission.MANAGE_CATALOGUE)
def product_save(product_id: int) -> Answer:
    form = ProductForm.typed(request.form)
    if intent := request.form.get("intent"):
        product = product_of(current_user.site_id, product_id)
        return _rows_or_page(form.after(intent), lambda changed: _editor(product_id, changed), product)
    form = form.without_blank_rows()
    try:
        draft = form.draft(currency_of(current_user.site_id))
        with addresses_left_by(sent_choice()), transaction():
            panel = form.taxonomy.panel()
            saved = save_product(current_author(), product_id, form.revision, draft, form.terms, panel)
    except (Invalid, Conflict) as error:
        return _editor(product_id, form, FieldErrors(error))
    return _after_save(product_id, form, saved)


@bp.post(f"{PRODUCT}/delete")
@requires(Permission.MANAGE_CATALOGUE)
def product_delete(product_id: int) -> Answer:
    with transaction():
        name = products.delete(current_author(), product_id)
    flash(f"Deleted {name}. Search forgets it in a few seconds.", "good")
    address = url_for("admin.products_list")
    return redirect_page(address) if wants_fragment() else redirect(address)


def _list(filters: ProductList, marked: Collection[int] = (), renews: bool = False) -> Answer:
    """Show the list. `marked` are rows that just changed; `renews` sends the filters by attribute along."""
    page = product_list(current_user.site_id, filters)
    template = "admin/products/_results.html" if wants_fragment() else "admin/products/list.html"
    context = {"page": page, "marked": marked, "fragment": wants_fragment(), "renews": renews}
    answer = make_response(render_template(template, **context))
    push_address(answer, f"{url_for('admin.products_list')}?{filters.query(page=filters.page)}".rstrip("?"))
    return answer


def _shown_summary(changed: int, enabled: bool) -> str:
    if changed == 0:
        return "Nothing to change: they are all " + ("in the shop already." if enabled else "hidden already.")
    products_named = "1 product" if changed == 1 else f"{changed:,} products"
    return f"{products_named} {'shown in' if enabled else 'hidden from'} the shop. Search follows in a few seconds."


def _new_page(form: ProductForm, errors: FieldErrors = NOT_SAVED) -> Answer:
    site_id = current_user.site_id
    context = {"form": form, "errors": errors, "images": (), "product": None, "currency": currency_of(site_id)}
    return _answer(
        NEW, context | panel_context(active_with_tree(ports.clock(), site_id), form), errors.status if errors else 200
    )


def _editor(product_id: int, form: ProductForm | None = None, errors: FieldErrors = NOT_SAVED) -> Answer:
    """The editor with what was typed, or with what is stored."""
    editor = product_editor(ports.clock(), current_user.site_id, product_id)
    return _editor_page(editor, form or ProductForm.of(editor.product, editor.currency), errors)


def _editor_page(
    editor: ProductEditor,
    form: ProductForm,
    errors: FieldErrors,
    made: SavedProduct | None = None,
    templates: tuple[str, str] = EDIT,
) -> Response:
    stored = ProductForm.of(editor.product, editor.currency)
    context = {
        "editor": editor,
        "product": editor.product,
        "images": editor.product.images,
        "currency": editor.currency,
        "form": form.on(stored.revision) if errors.is_stale else form,
        "differences": _differences(editor, form, stored) if errors.is_stale else [],
        "errors": errors,
        "saved": made.saved if made else None,
        "dropped": made.dropped if made else (),
        "not_applied": made.not_applied if made else None,
        "undo": undo_address_of("whole_product", editor.product.id) if made and made.saved.changed else None,
    }
    status = errors.status if errors and not made else 200
    return _answer(templates, context | panel_context(editor.taxonomy, form, editor.product), status)


def _differences(editor: ProductEditor, form: ProductForm, stored: ProductForm) -> list[Difference]:
    details = form.differences(stored)
    if editor.taxonomy is None:
        return details
    return details + form.taxonomy.differences(stored.taxonomy, editor.taxonomy.tree)


def _answer(templates: tuple[str, str], context: dict[str, object], status: int) -> Response:
    page, fragment = templates
    return make_response(render_template(fragment if wants_fragment() else page, **context), status)


def _rows_or_page(form: ProductForm, page: Callable[[ProductForm], Answer], product: Product | None = None) -> Answer:
    """Return the form after a button of the variants or, without JavaScript, of the level; nothing is saved."""
    if wants_fragment():
        removed = request.form["intent"].startswith("remove")
        images = product.images if product is not None else ()
        context = {"form": form, "errors": NOT_SAVED, "product": product, "images": images, "changed": True}
        context |= {"moved_focus": removed}
        return render_template("admin/products/_variants.html", **context)
    return page(form)


def _after_save(product_id: int, form: ProductForm, made: SavedProduct) -> Answer:
    """Show the editor as it is stored. What was refused, such as a list of search terms, stays where it was typed, to
    be fixed."""
    if wants_fragment() or made.dropped or made.saved.refused_terms:
        return _saved_editor(product_id, form, made)
    address = url_for("admin.product_edit", product_id=product_id)
    flash_saved(made.saved.changed, SAVED, "whole_product", product_id, address)
    if made.not_applied:
        flash(made.not_applied, "warn")
    return redirect(address)


def _saved_editor(
    product_id: int, form: ProductForm, made: SavedProduct, templates: tuple[str, str] = EDIT
) -> Response:
    editor = product_editor(ports.clock(), current_user.site_id, product_id)
    shown = _with_refused_input(ProductForm.of(editor.product, editor.currency), form, made)
    return _editor_page(editor, shown, FieldErrors(made.saved.refused_terms), made, templates)


def _with_refused_input(stored: ProductForm, form: ProductForm, made: SavedProduct) -> ProductForm:
    typed = form.taxonomy.texts
    values = {one.attribute_id: typed[one.attribute_id] for one in made.dropped if one.has_input}
    shown = stored.with_taxonomy(stored.taxonomy.with_texts(values))
    return shown.with_terms(form.texts["searchTerms"]) if made.saved.refused_terms else shown


CATEGORIES = "/catalogue/product/<int(max=2147483647):product_id>/categories"


@bp.post(CATEGORIES)
@requires(Permission.MANAGE_CATALOGUE)
def product_category_add(product_id: int) -> Answer:
    chosen = sent_number(request.form.get("category", ""))
    with transaction():
        categories.place_product(current_author(), product_id, chosen)
    return _categories_answer(product_id)


@bp.post(f"{CATEGORIES}/<int(max=2147483647):node_id>/remove")
@requires(Permission.MANAGE_CATALOGUE)
def product_category_remove(product_id: int, node_id: int) -> Answer:
    with transaction():
        categories.unplace_product(current_author(), product_id, node_id)
    return _categories_answer(product_id)


def _categories_answer(product_id: int) -> Answer:
    if wants_fragment():
        return render_template(
            "admin/products/_categories.html",
            editor=product_editor(ports.clock(), current_user.site_id, product_id),
            moved_focus=True,
        )
    return redirect(url_for("admin.product_edit", product_id=product_id, _anchor="categories"))
