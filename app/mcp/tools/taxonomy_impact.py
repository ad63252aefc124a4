"""The tool that says what a changed structure of a taxonomy would leave behind."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from app.domain.shared.problems import Conflict
from app.domain.taxonomy.impact import MOST_VALUES, impact
from app.domain.taxonomy.renames import ValueRename
from app.domain.taxonomy.saves import check_proposal
from app.domain.taxonomy.taxonomies import NO_TAXONOMY, active_id, is_active, taxonomy_of
from app.mcp.arguments import Answer, Arguments
from app.mcp.registry import Call, tool
from app.web.permissions import Permission

MOST_RENAMES = 1_000
LEVEL_SCHEMA = {"type": "object", "description": "A level; see rootLevels."}
RawLevel = Annotated[Any, WithJsonSchema(LEVEL_SCHEMA)]


class RenameArguments(Arguments):
    level_id: str = Field(description="The level that defines the attribute.")
    attribute_id: str
    value: str = Field(description="The allowed value as it is stored.")
    renamed: str = Field(
        description="What products get instead; rootLevels must offer it. A stored value takes the other in."
    )


class ImpactArguments(Arguments):
    taxonomy_id: str | None = Field(
        default=None, max_length=200, description="The taxonomy; left out, the active one of the site."
    )
    root_levels: list[RawLevel] | None = Field(
        default=None,
        description=(
            "The whole proposed tree, not only what changes: a level or attribute that is missing here counts as "
            "removed. Left out, the stored tree is answered, from which to start. A level has levelId (left out for a "
            "new one), name, otherNames (what else shoppers call it, such as SSD), description, attributes and "
            "children. An attribute has attributeId (left out for a new one), name, type (STRING, NUMBER, BOOLEAN, "
            "SINGLE_SELECT or MULTI_SELECT), allowedValues (of the two SELECT types alone), unit (of a NUMBER, such as "
            "kg), helpText, displayOnProductPage, displayLabel, and validation with mandatory, minLength, maxLength, "
            "minValue, maxValue, pattern and errorMessage. parentLevelId may be left out; one that is not the level "
            "above is refused. At most 8 levels deep and 2,000 levels. Example: "
            '[{"levelId": "camping", "name": "Camping", "children": [{"name": "Stoves", "attributes": [{"name": '
            '"Fuel", "type": "SINGLE_SELECT", "allowedValues": ["Gas", "Wood"]}]}]}].'
        ),
    )
    value_renames: list[RenameArguments] | None = Field(
        default=None,
        max_length=MOST_RENAMES,
        description="Allowed values that get another name or become another value, which products follow.",
    )


class LevelImpactAnswer(Answer):
    level_id: str
    name: str
    products: int


class AttributeImpactAnswer(Answer):
    level_id: str
    attribute_id: str
    name: str
    products: int


class InvalidValuesAnswer(AttributeImpactAnswer):
    type: str


class ValueImpactAnswer(Answer):
    attribute_id: str
    value: str
    products: int


class RenamedValueAnswer(ValueImpactAnswer):
    level_id: str
    renamed: str


class ImpactAnswer(Answer):
    taxonomy_id: str
    taxonomy_name: str
    revision: int
    active: bool = Field(description="Products have a classification in the active taxonomy alone.")
    root_levels: list[RawLevel] | None = Field(description="The stored tree where none was proposed, else null.")
    levels_removed: list[LevelImpactAnswer] = Field(description="With the products at each level.")
    levels_moved: list[LevelImpactAnswer] = Field(description="With the products at and below each level.")
    attributes_removed: list[AttributeImpactAnswer] = Field(description="With the products that lose a value.")
    values_removed: list[ValueImpactAnswer] = Field(description="Allowed values that products hold and would lose.")
    values_truncated: bool = Field(description=f"True where more than {MOST_VALUES} values are removed.")
    values_renamed: list[RenamedValueAnswer]
    attributes_lost: list[AttributeImpactAnswer] = Field(description="No longer inherited by a moved level.")
    values_invalid: list[InvalidValuesAnswer] = Field(
        alias="valuesUnfit", description="Values that the new type or rules do not allow."
    )
    attributes_required: list[AttributeImpactAnswer] = Field(description="Newly mandatory, with products without one.")


@tool("taxonomyImpact", "Impact of a changed taxonomy", Permission.MANAGE_TAXONOMY)
def taxonomy_impact(call: Call, sent: ImpactArguments) -> ImpactAnswer:
    """Say what a changed structure of a taxonomy would leave behind on products, before anybody saves it: levels,
    attributes and allowed values that products would lose, each with the number of products. Nothing is written; a
    person saves the structure in the taxonomy editor. A tree that could not be saved is answered with every problem,
    as the save would be. Call it without rootLevels first, to get the stored tree with its ids; change that; and send
    all of it."""
    taxonomy_id = sent.taxonomy_id or active_id(call.site_id)
    if taxonomy_id is None:
        raise Conflict(NO_TAXONOMY, "no_active_taxonomy")
    taxonomy = taxonomy_of(call.site_id, taxonomy_id)
    tree, renames = taxonomy.tree, list[ValueRename]()
    if sent.root_levels is not None:
        wanted = sent.value_renames or ()
        renames = [ValueRename(one.level_id, one.attribute_id, one.value, one.renamed) for one in wanted]
        proposal = check_proposal(taxonomy, sent.root_levels, renames, is_placed=True)
        tree, renames = proposal.tree, [*proposal.renames]
    return ImpactAnswer(
        taxonomy_id=taxonomy.id,
        taxonomy_name=taxonomy.name,
        revision=taxonomy.revision,
        active=is_active(taxonomy),
        root_levels=taxonomy.root_levels if sent.root_levels is None else None,
        **impact(call.site_id, taxonomy, tree, renames).as_json(),
    )
