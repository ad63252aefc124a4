"""Small trees in the form in which people send them."""

from __future__ import annotations

from typing import Any

Sent = dict[str, Any]


def level(level_id: str, *children: Sent, attributes: list[Sent] | None = None, **more: Any) -> Sent:
    """Its name is the id with a capital."""
    name = level_id.replace("-", " ").capitalize()
    return {"levelId": level_id, "name": name, "attributes": attributes or [], "children": list(children)} | more


def choice(attribute_id: str, *values: str, kind: str = "SINGLE_SELECT", **more: Any) -> Sent:
    return text(attribute_id, type=kind, allowedValues=list(values)) | more


def text(attribute_id: str, **more: Any) -> Sent:
    return {"attributeId": attribute_id, "name": attribute_id.capitalize(), "type": "STRING"} | more


def number(attribute_id: str, **more: Any) -> Sent:
    return text(attribute_id, type="NUMBER") | more
