"""Completeness of products: the share of mandatory attributes that have a valid value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.domain.taxonomy.levels.attribute import Attribute
from app.domain.taxonomy.levels.values import check_values


def completeness(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> int:
    """Return how many per cent of the mandatory ones among the applicable attributes have a valid value, rounded down;
    100 when none is mandatory. Products without a level have no completeness: the caller stores None for them."""
    mandatory = [attribute for attribute in attributes.values() if attribute.mandatory]
    if not mandatory:
        return 100
    return 100 * (len(mandatory) - len(missing(attributes, values))) // len(mandatory)


def missing(attributes: Mapping[str, Attribute], values: Mapping[str, Any]) -> list[Attribute]:
    """The mandatory attributes without a valid value, in the order of the level's form."""
    valid, _ = check_values(attributes, values)
    return [attribute for attribute in attributes.values() if attribute.mandatory and attribute.id not in valid]
