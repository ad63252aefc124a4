"""Completeness of products: the share that is known of what must be known about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.taxonomy.levels.attribute import Attribute
from app.domain.taxonomy.levels.values import check_values


def completeness(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> int:
    """Per cent of the mandatory ones among the applicable attributes that have a valid value, rounded down;
    100 when none is mandatory. A product without a level has none: it is None, for the caller to say."""
    mandatory = [attribute for attribute in attributes.values() if attribute.mandatory]
    if not mandatory:
        return 100
    return 100 * (len(mandatory) - len(missing(attributes, values))) // len(mandatory)


def missing(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> list[Attribute]:
    """The mandatory attributes without a valid value, in the order of the level's form."""
    valid, _ = check_values(attributes, values)
    return [attribute for attribute in attributes.values() if attribute.mandatory and attribute.id not in valid]
