"""The form that gives many products a level or a value: what was chosen in it, and which products it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from werkzeug.datastructures import MultiDict

from app.blueprints.admin.form_numbers import sent_ids
from app.domain.catalogue.listing import ProductList
from app.domain.catalogue.products import MOST_AT_ONCE
from app.domain.shared.problems import Invalid
from app.domain.taxonomy.products.panel import AttributeInput
from app.domain.taxonomy.tasks.assignments import Way
from app.domain.taxonomy.tree import NO_RULES, TaxonomyTree, governing_definitions

LONGEST_TEXT = 10_000
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
        product_ids = sent_ids(ids, "product")[: MOST_AT_ONCE + 1]
        if "product" in ids and not product_ids:
            raise Invalid.one("nothing_chosen", "Tick the products first.", "#/product")
        ways = {way.value: way for way in Way}
        return cls(
            filters=filters,
            product_ids=product_ids,
            what=VALUE if sent.get("what") == VALUE else LEVEL,
            level_id=sent.get("levelId", "")[:200],
            attribute_id=sent.get("attributeId", "")[:200],
            way=ways.get(sent.get("way", ""), Way.SET),
            texts=tuple(text[:LONGEST_TEXT] for text in sent.getlist("given") if text.strip()),
        )

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
