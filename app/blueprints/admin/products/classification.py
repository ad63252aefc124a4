"""Giving many products a level or a value: those that were ticked in the list, or all that it is narrowed to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flask import flash, make_response, redirect, render_template, request, url_for
from flask_login import current_user
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from app import ports
from app.blueprints.admin.blueprint import bp
from app.blueprints.admin.forms import FieldErrors, sent_ids
from app.blueprints.callers import current_author
from app.domain.catalogue.listing import Completeness, ProductList, Shown, Stock
from app.domain.catalogue.products import MOST_AT_ONCE as MOST_TICKED
from app.domain.catalogue.queries import ProductRow, products_by_id
from app.domain.shared.problems import Conflict, Invalid
from app.domain.taxonomy.choices import attribute_choices, governing_definitions, level_paths, meant_level
from app.domain.taxonomy.models import TaxonomyTask
from app.domain.taxonomy.products.panel import AttributeInput
from app.domain.taxonomy.tasks.assignments import (
    LevelPreview,
    ValuePreview,
    Way,
    assign_level,
    assign_value,
    chosen_products,
    count_chosen,
    first_chosen,
    level_preview,
    levels_of,
    value_preview,
)
from app.domain.taxonomy.taxonomies import active_tree, active_with_tree
from app.domain.taxonomy.tree import NO_RULES, TaxonomyTree
from app.transaction import transaction
from app.web.htmx import redirect_page, wants_fragment
from app.web.permissions import Permission, requires

LONGEST_TEXT = 10_000
LONGEST_LEVEL = 1_000  # Of a path.
LEVEL, VALUE = "level", "value"


@dataclass(frozen=True, slots=True)
class ClassifyForm:
    """The form that classifies several products. `what` is LEVEL or VALUE. Without `product_ids` it is about all that
    `filters` is narrowed to."""

    filters: ProductList
    product_ids: Sequence[int] = ()
    what: str = LEVEL
    level_id: str = ""
    attribute_id: str = ""
    way: Way = Way.SET
    texts: Sequence[str] = field(default_factory=tuple)

    @classmethod
    def read(cls, filters: ProductList, ids: MultiDict[str, str], sent: MultiDict[str, str]) -> ClassifyForm:
        """Read the form. `ids` and `filters` come with the address, the rest with the form. Raises Invalid where ids
        were sent and none can be one: without any it would be about all products."""
        product_ids = sent_ids(ids, "product")[: MOST_TICKED + 1]
        if "product" in ids and not product_ids:
            raise Invalid.one("nothing_chosen", "Tick the products first.", "#/product")
        ways = {way.value: way for way in Way}
        return cls(
            filters=filters,
            product_ids=product_ids,
            what=VALUE if sent.get("what") == VALUE else LEVEL,
            level_id=sent.get("levelId", "").strip()[:LONGEST_LEVEL],
            attribute_id=sent.get("attributeId", "")[:200],
            way=ways.get(sent.get("way", ""), Way.SET),
            texts=tuple(text[:LONGEST_TEXT] for text in sent.getlist("given") if text.strip()),
        )

    def of_tree(self, tree: TaxonomyTree) -> ClassifyForm:
        """Return the form with the id of its level, which is typed as its id, its path or its name."""
        return replace(self, level_id=meant_level(tree, self.level_id) or self.level_id)

    @property
    def given(self) -> Any:
        """The value as it was sent: one text, or several as a list."""
        return list(self.texts) if len(self.texts) != 1 else self.texts[0]

    @property
    def is_complete(self) -> bool:
        if self.what == LEVEL:
            return bool(self.level_id)
        return bool(self.attribute_id) and (self.way is Way.CLEAR or bool(self.texts))

    def value_input(
        self, tree: TaxonomyTree, level_ids: Sequence[str], problems: Sequence[str]
    ) -> AttributeInput | None:
        """Return the input of the chosen attribute; where several definitions of it hold at the levels of the products,
        the first with the choices of all."""
        definitions = governing_definitions(tree, self.attribute_id, level_ids)
        if not definitions:
            return None
        values = dict.fromkeys(value for one in definitions for value in one.allowed_values)
        rules = replace(definitions[0].validation, mandatory=False) if len(definitions) == 1 else NO_RULES
        attribute = replace(definitions[0], allowed_values=tuple(values), validation=rules)
        return AttributeInput(attribute, tuple(self.texts), None, tuple(problems), is_missing=False)


Answer = str | Response
FIRST_SHOWN = 8  # Products of the preview that are shown with their pictures.
NO_ERRORS = FieldErrors()
MOST_PREVIEWED_AT_ONCE = 2_000  # Products whose preview takes a fraction of a second.


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
        return assign_level(author, chosen, form.of_tree(active_tree(author.site_id)).level_id)
    return assign_value(author, chosen, form.attribute_id, form.way, form.given)


def _page(form: ClassifyForm, errors: FieldErrors = NO_ERRORS) -> Answer:
    site_id = current_user.site_id
    taxonomy = active_with_tree(ports.clock(), site_id)
    tree = taxonomy.tree if taxonomy else TaxonomyTree()
    form = form.of_tree(tree)
    chosen = chosen_products(site_id, form.product_ids, form.filters)
    products = count_chosen(site_id, chosen, tree)
    level_ids = levels_of(site_id, tree, chosen) if form.what == VALUE else []
    preview, is_due = None, form.is_complete and not errors
    awaits_preview = is_due and products > MOST_PREVIEWED_AT_ONCE and request.form.get("intent") != "preview"
    if is_due and not awaits_preview:
        try:
            preview = _preview(form, tree, chosen)
        except Invalid as invalid:
            errors = FieldErrors(invalid)
    context = {
        "form": form,
        "here": _address(form.filters, form.product_ids),
        "products": products,
        "levels": level_paths(tree),
        "attributes": attribute_choices(tree, level_ids),
        "value_input": form.value_input(tree, level_ids, errors.within("given")),
        "words": list(describe_filters(form.filters, tree)),
        "preview": preview,
        "first_products": _first_products(form, tree, chosen) if preview is not None else (),
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


def _first_products(form: ClassifyForm, tree: TaxonomyTree, chosen: dict[str, object]) -> list[ProductRow]:
    """Return the first of the chosen products; of those that get a level, the first that are not there yet."""
    level_id = form.level_id if form.what == LEVEL else None
    return products_by_id(current_user.site_id, first_chosen(current_user.site_id, tree, chosen, FIRST_SHOWN, level_id))


def _address(filters: ProductList, product_ids: object) -> str:
    page = url_for("admin.products_classify", product=product_ids)
    query = filters.query()
    return f"{page}{'&' if '?' in page else '?'}{query}" if query else page


SHOWN_PHRASES = {Shown.ENABLED: "shown in the shop", Shown.DISABLED: "hidden"}
STOCK_PHRASES = {Stock.IN: "in stock", Stock.OUT: "out of stock", Stock.UNCOUNTED: "stock not counted"}
COMPLETENESS_PHRASES = {
    Completeness.COMPLETE: "complete",
    Completeness.INCOMPLETE: "not complete",
    Completeness.UNCLASSIFIED: "without a level",
    Completeness.GONE: "on a level that is gone",
}


def describe_filters(filters: ProductList, tree: TaxonomyTree) -> Iterator[str]:
    """Yield one phrase per filter that is set."""
    if filters.words:
        yield f"“{filters.words}”"
    for phrase in (
        SHOWN_PHRASES.get(filters.shown),
        STOCK_PHRASES.get(filters.stock),
        COMPLETENESS_PHRASES.get(filters.completeness),
    ):
        if phrase:
            yield phrase
    if filters.manufacturer:
        yield f"of {filters.manufacturer}"
    if filters.level_id:
        level = tree.levels.get(filters.level_id)
        yield f"on the level “{level.name if level else filters.level_id}” or below"
    if filters.missing:
        yield f"without a value of {_attribute_name(tree, filters.missing)}"
    if filters.attribute:
        value = f" “{filters.value}”" if filters.value else " any value"
        yield f"{_attribute_name(tree, filters.attribute)}:{value}"


def _attribute_name(tree: TaxonomyTree, attribute_id: str) -> str:
    definitions = tree.attributes_by_id().get(attribute_id)
    return definitions[0].name if definitions else f"“{attribute_id}”"
