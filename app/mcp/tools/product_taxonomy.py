"""The tool of products' classification."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, WithJsonSchema

from app.domain.catalogue.queries import product_referred_to
from app.domain.taxonomy.choices import MOST_SHOWN, find_levels
from app.domain.taxonomy.products.classification import (
    ChangedProduct,
    Classification,
    ClassificationChange,
    check_level,
    preview_classification,
    set_classification,
)
from app.domain.taxonomy.products.panel import attribute_label, path_label, value_hint
from app.domain.taxonomy.products.worklist import PAGE_SIZE, WorkOrder, WorkRow, work_rows, work_summary
from app.domain.taxonomy.taxonomies import taxonomy_in_use
from app.domain.taxonomy.tree import Attribute, TaxonomyTree
from app.domain.taxonomy.values import DroppedValue
from app.mcp.arguments import Answer, DryRun, PageNumber, PagingShape, WriteArguments, paging_of
from app.mcp.registry import Call, reads, tool, writes
from app.web.permissions import Permission

MOST_CHOICES = 100  # Allowed values of one attribute that an answer lists.
MOST_ATTRIBUTES = 500
VALUE_SCHEMA = {
    "anyOf": [
        {"type": "string"},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "null"},
    ]
}
AttributeValue = Annotated[JsonValue, WithJsonSchema(VALUE_SCHEMA)]


class TaxonomyArguments(WriteArguments):
    action: Literal["get", "findLevels", "preview", "set", "listMissing"] = Field(
        description=(
            "get (needs product): the product's level, values, completeness, and every attribute that its level has; "
            "with levelId, the attributes that it would have there. "
            f"findLevels (takes words): up to {MOST_SHOWN} levels of the active taxonomy, with their ids. "
            "preview (needs product, takes levelId and attributes): what set would come to; nothing is written. "
            "set (needs product, takes levelId, attributes and revision): give the product a level and values. "
            "listMissing (takes product, or levelId and pageNumber): which mandatory attributes a product misses; "
            "without a product, the incomplete products of a level and those below it, or of the whole shop."
        )
    )
    product: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="The product: its SKU, its SEO name or its id. Example: “TENT-2”.",
    )
    level_id: str | None = Field(
        default=None,
        max_length=200,
        description=(
            "The id of a level of the active taxonomy, as findLevels answers it. Left out, the product keeps its "
            "level. An empty text takes the product's classification away."
        ),
    )
    attributes: dict[str, AttributeValue] | None = Field(
        default=None,
        max_length=MOST_ATTRIBUTES,
        description=(
            "Values by attribute id, as get answers them. STRING takes a text, NUMBER a number, BOOLEAN true or false, "
            "SINGLE_SELECT one of its allowed values, MULTI_SELECT a list of them. null takes a value away. Attributes "
            'that are left out keep what the product holds. Example: {"sleeps": 2, "colour": ["Moss"], "free": true}.'
        ),
    )
    revision: int | None = Field(
        default=None,
        ge=0,
        description="For set: the product's revision that you read. The call is refused if somebody saved since.",
    )
    words: str | None = Field(
        default=None, max_length=200, description="For findLevels: words of a level's name or of those above it."
    )
    page_number: PageNumber = Field(
        default=1, description=f"For listMissing without a product: the page, {PAGE_SIZE} products each, from 1."
    )


class LevelAnswer(Answer):
    level_id: str
    path: str = Field(description="The names from the root down, such as “Camping › Tents”.")


class AttributeAnswer(Answer):
    attribute_id: str
    name: str
    type: Literal["STRING", "NUMBER", "BOOLEAN", "SINGLE_SELECT", "MULTI_SELECT"]
    unit: str = Field(description="Of a number, such as kg; values are given without it. Empty for none.")
    mandatory: bool
    value: AttributeValue = Field(description="What the product holds, null for nothing.")
    allowed_values: list[str] = Field(description=f"The choices of a choice attribute, at most {MOST_CHOICES} of them.")
    more_allowed_values: int = Field(description="How many choices there are beyond those.")
    rules: str = Field(description="What a value must be, in words; empty where its type says all.")
    help_text: str


class DroppedAnswer(Answer):
    attribute_id: str
    name: str
    value: JsonValue
    code: str
    reason: str


class StateAnswer(Answer):
    level: LevelAnswer | None
    values: dict[str, JsonValue]
    completeness_score: int | None = Field(description="Per cent of the mandatory attributes that have a valid value.")
    missing: list[str] = Field(description="The ids of mandatory attributes without a valid value.")


class ProductAnswer(Answer):
    product_id: str
    sku: str
    name: str
    revision: int
    now: StateAnswer = Field(description="What holds; after set, what was saved; in a preview, what would be.")
    before: StateAnswer
    changed: bool
    dropped: list[DroppedAnswer] = Field(
        description="Values that broke a rule, or that the level has no attribute for. They are not kept; what the "
        "product held in their places stays, and the rest is saved."
    )
    attributes: list[AttributeAnswer] = Field(description="Every attribute of the level, inherited ones first.")


class IncompleteAnswer(Answer):
    product_id: str
    sku: str
    name: str
    level: str
    completeness_score: int | None
    missing: list[str]


class IncompletePage(Answer):
    items: list[IncompleteAnswer]
    paging: PagingShape
    unclassified: int = Field(description="Products of the shop without any level, which are not listed.")


class TaxonomyAnswer(Answer):
    taxonomy_id: str
    taxonomy_name: str
    product: ProductAnswer | None = Field(default=None, description="Null for findLevels and lists.")
    levels: list[LevelAnswer] = Field(default_factory=list, description="What findLevels found.")
    more_levels: int = Field(default=0, description="How many levels it found beyond those.")
    incomplete: IncompletePage | None = Field(default=None, description="The list of listMissing without a product.")
    dry_run: DryRun


@tool(
    "manageProductTaxonomy",
    "Level and attributes of a product",
    Permission.MANAGE_CATALOGUE,
    {
        "get": reads("product", takes=("levelId",)),
        "findLevels": reads(takes=("words",)),
        "preview": reads("product", takes=("levelId", "attributes")),
        "set": writes("product", takes=("levelId", "attributes", "revision")),
        "listMissing": reads(takes=("product", "levelId", "pageNumber")),
    },
    is_destructive=True,
)
def manage_product_taxonomy(call: Call, sent: TaxonomyArguments) -> TaxonomyAnswer:
    """Classify products: read and set which level of the active taxonomy a product belongs to and the values of its
    attributes, preview such a change, and list what is missing.

    The level must exist in the active taxonomy. Only attributes of the level and of those above it are kept. A value
    that breaks its rules is dropped and reported in `dropped`, what the product held in its place stays, and the rest
    is saved; so read `dropped` after each set.
    The completeness score is worked out anew. Find levels with findLevels, then get the product with that levelId to
    see which attributes it will have, then preview, then set."""
    if sent.action == "findLevels":
        return _levels(call, sent)
    if sent.action == "listMissing" and sent.product is None:
        return _incomplete(call, sent)
    product_id = product_referred_to(call.site_id, sent.product or "").id
    return _of_product(call, _outcome(call, sent, product_id))


def _outcome(call: Call, sent: TaxonomyArguments, product_id: int) -> ChangedProduct:
    change = ClassificationChange(sent.level_id, sent.attributes or {})
    if sent.action == "set":
        return set_classification(call.author, product_id, change, sent.revision)
    is_change = sent.action == "preview" or sent.level_id is not None
    return preview_classification(call.author.clock, call.site_id, product_id, change if is_change else None)


def _levels(call: Call, sent: TaxonomyArguments) -> TaxonomyAnswer:
    taxonomy = taxonomy_in_use(call.author.clock, call.site_id)
    found = find_levels(taxonomy.tree, sent.words or "")
    return TaxonomyAnswer(
        taxonomy_id=taxonomy.id,
        taxonomy_name=taxonomy.name,
        levels=[_level(taxonomy.tree, level.id) for level in found.levels],
        more_levels=found.more,
        dry_run=call.dry_run,
    )


def _incomplete(call: Call, sent: TaxonomyArguments) -> TaxonomyAnswer:
    taxonomy = taxonomy_in_use(call.author.clock, call.site_id)
    level_id = sent.level_id or ""
    if level_id:
        check_level(taxonomy.tree, level_id)
    page = work_rows(call.site_id, taxonomy.tree, level_id, WorkOrder.NAME, sent.page_number)
    listed = IncompletePage(
        items=[_incomplete_product(row) for row in page.items],
        paging=paging_of(page),
        unclassified=work_summary(call.site_id, taxonomy.tree, level_id).unclassified,
    )
    return TaxonomyAnswer(taxonomy_id=taxonomy.id, taxonomy_name=taxonomy.name, incomplete=listed, dry_run=call.dry_run)


def _incomplete_product(row: WorkRow) -> IncompleteAnswer:
    return IncompleteAnswer(
        product_id=str(row.id),
        sku=row.sku,
        name=row.name,
        level=row.level,
        completeness_score=row.score,
        missing=[one.attribute.id for one in row.inputs],
    )


def _of_product(call: Call, found: ChangedProduct) -> TaxonomyAnswer:
    tree, product = found.taxonomy.tree, found.product
    answer = ProductAnswer(
        product_id=str(product.id),
        sku=product.sku,
        name=product.name,
        revision=product.revision,
        now=_state(tree, found.after),
        before=_state(tree, found.before),
        changed=found.is_changed,
        dropped=[_dropped(tree, one) for one in found.after.dropped],
        attributes=_attributes(tree, found.after),
    )
    return TaxonomyAnswer(
        taxonomy_id=found.taxonomy.id, taxonomy_name=found.taxonomy.name, product=answer, dry_run=call.dry_run
    )


def _state(tree: TaxonomyTree, found: Classification) -> StateAnswer:
    return StateAnswer(
        level=_level(tree, found.level_id) if found.level_id else None,
        values=dict[str, Any](found.values),
        completeness_score=found.score,
        missing=[attribute.id for attribute in found.missing],
    )


def _level(tree: TaxonomyTree, level_id: str) -> LevelAnswer:
    return LevelAnswer(level_id=level_id, path=path_label(tree, level_id))


def _attributes(tree: TaxonomyTree, found: Classification) -> list[AttributeAnswer]:
    applicable = tree.applicable_attributes(found.level_id or "").values()
    return [_attribute(attribute, found.values.get(attribute.id)) for attribute in applicable]


def _attribute(attribute: Attribute, value: Any) -> AttributeAnswer:
    return AttributeAnswer(
        attribute_id=attribute.id,
        name=attribute.name,
        type=attribute.type.value,
        unit=attribute.unit or "",
        mandatory=attribute.mandatory,
        value=value,
        allowed_values=list(attribute.allowed_values[:MOST_CHOICES]),
        more_allowed_values=max(0, len(attribute.allowed_values) - MOST_CHOICES),
        rules=value_hint(attribute),
        help_text=attribute.help_text or "",
    )


def _dropped(tree: TaxonomyTree, one: DroppedValue) -> DroppedAnswer:
    name = attribute_label(tree, one.attribute_id)
    return DroppedAnswer(attribute_id=one.attribute_id, name=name, value=one.value, code=one.code, reason=one.reason)
