"""The Taxonomy part of the product form: its inputs for a level, and finding a level."""

from __future__ import annotations

from flask import render_template, request
from flask_login import current_user

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.field_errors import FieldErrors
from app.blueprints.admin.form_numbers import sent_number
from app.blueprints.admin.products.form import ProductForm
from app.blueprints.admin.taxonomy.products import TaxonomyForm, typed_texts
from app.domain.catalogue.models import Product
from app.domain.catalogue.products import product_of
from app.domain.shared.problems import NotFound
from app.domain.taxonomy.products.classification import values_held
from app.domain.taxonomy.products.panel import product_panel
from app.domain.taxonomy.taxonomies import ActiveTaxonomy, active_with_tree
from app.domain.taxonomy.tree import find_levels
from app.permissions import Permission, requires

LONGEST_WORDS = 200


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
